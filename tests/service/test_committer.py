"""The committer: what waits is taken together, within bounds, and what cannot be done fails alone."""

import collections
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from discreet.errors import Busy, CannotKeep, Conflict, InvalidArgument, StoreError
from discreet.service import committer
from discreet.service.committer import Committer


class Store:
    """Performs operations, which are numbers, once it is let; remembers transactions that were kept.

    Attributes:
        fails: Numbers that cannot be performed, and how.
        tried: The transactions that were begun.
        kept: Those that were not undone.
    """

    def __init__(self) -> None:
        self.fails: dict[int, Callable[[], BaseException]] = {}
        self.tried: list[list[int]] = []
        self.kept: list[list[int]] = []
        self.open = threading.Event()
        self.begun = threading.Event()

    def perform(self, operations: Sequence[int]) -> list[Any]:
        self.begun.set()
        assert self.open.wait(30)
        self.tried.append(list(operations))
        for number in operations:
            if number in self.fails:
                raise self.fails[number]()
        self.kept.append(list(operations))
        return [10 * number for number in operations]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def made(store: Store) -> Iterator[Committer[int]]:
    """One whose operations weigh what they are called, and which holds a first one back."""
    found = Committer(store.perform, lambda number: number)
    first = found.submit(0)
    assert store.begun.wait(30)
    yield found
    store.open.set()
    assert first.result(30) == 0
    found.close()


def results(futures: list[Future[Any]]) -> list[Any]:
    """What each was answered: a value, or the kind of its exception."""
    found = []
    for future in futures:
        error = future.exception(30)
        found.append(future.result() if error is None else type(error))
    return found


def test_queued_operations_share_a_transaction(store: Store, made: Committer[int]) -> None:
    """In the order in which it came."""
    futures = [made.submit(number) for number in range(1, 100)]
    store.open.set()
    assert results(futures) == [10 * number for number in range(1, 100)]
    assert store.kept == [[0], list(range(1, 100))]


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, InvalidArgument, CannotKeep])
def test_an_operation_that_cannot_be_done_fails_alone(
    store: Store, made: Committer[int], error: type[Exception]
) -> None:
    """All others are done, each in one transaction that is kept."""
    store.fails = {7: error, 60: error}
    futures = [made.submit(number) for number in range(1, 100)]
    store.open.set()
    assert results(futures) == [error if n in (7, 60) else 10 * n for n in range(1, 100)]
    kept = collections.Counter(number for transaction in store.kept for number in transaction)
    assert kept == dict.fromkeys(set(range(100)) - {7, 60}, 1)
    assert len(store.tried) < 40  # halves of halves, and not one after the other


@pytest.mark.parametrize("error", [StoreError, Busy, KeyboardInterrupt])
def test_an_unreachable_store_is_tried_once(
    store: Store, made: Committer[int], error: type[BaseException]
) -> None:
    """It is not the fault of an operation, and halves would fare no better."""
    store.fails = {7: error}
    futures = [made.submit(number) for number in range(1, 100)]
    store.open.set()
    assert results(futures) == [error] * 99
    assert len(store.tried) == 2


def test_conflicts_are_retried_together(store: Store, made: Committer[int]) -> None:
    """As long as others are in the way, and then no more."""
    others = iter(range(2))

    def in_the_way() -> BaseException:
        if next(others, None) is None:
            del store.fails[1]
        return Conflict("Somebody was first.")

    store.fails = {1: in_the_way}
    futures = [made.submit(number) for number in (1, 2)]
    store.open.set()
    assert results(futures) == [10, 20]
    assert store.tried == [[0], *[[1, 2]] * 4]


def test_large_operations_do_not_share_a_transaction(
    store: Store, made: Committer[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as weigh no more than is allowed; one that is heavier by itself."""
    monkeypatch.setattr(committer, "_LARGEST_TRANSACTION", 100)
    numbers = [60, 40, 1, 99, 500, 1, 2]
    futures = [made.submit(number) for number in numbers]
    store.open.set()
    assert results(futures) == [10 * number for number in numbers]
    assert store.kept == [[0], [60, 40], [1, 99], [500], [1, 2]]


def test_a_full_queue_is_refused(store: Store, made: Committer[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """By weight, until what waited has been written."""
    monkeypatch.setattr(committer, "_LARGEST_QUEUE", 100)
    futures = [made.submit(60), made.submit(60)]
    with pytest.raises(Busy):
        made.submit(1)
    store.open.set()
    assert results(futures) == [600, 600]
    assert made.submit(1).result(30) == 10
