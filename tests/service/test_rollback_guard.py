"""The contract of rollback guards: what one knows, in an SQLite file and in a table of PostgreSQL."""

import functools
import pathlib
import threading
from collections.abc import Callable, Iterator

import pytest

from discreet.service.postgres_guard import PostgresGuard
from discreet.service.rollback_guard import ENDED, RollbackGuard
from discreet.service.sqlite_guard import SqliteGuard
from discreet.storage.postgres_engine import postgres_url

A, B, C, D = "a" * 32, "b" * 32, "c" * 32, "d" * 32

Opened = Callable[..., RollbackGuard]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Opened]:
    """Opens a guard at the same place again and again; closes what is open at the end."""
    make: Callable[..., RollbackGuard] = functools.partial(SqliteGuard, tmp_path / "deep" / "guard")
    if request.param == "postgres":
        make = functools.partial(PostgresGuard, postgres_url(request.getfixturevalue("postgres")))
    guards = []

    def new(look_only: bool = False) -> RollbackGuard:
        guards.append(make("store", look_only=look_only))
        return guards[-1]

    yield new
    for guard in guards:
        guard.close()


def test_a_guard_is_fresh_until_it_begins(opened: Opened) -> None:
    """Looking at it does not make it."""
    assert opened(look_only=True).fresh
    first = opened()
    assert (first.fresh, first.lineages) == (True, frozenset())
    first.begin()
    first.begin()
    assert not opened().fresh


def test_records_survive(opened: Opened) -> None:
    """The greatest number counts; processes share the guard."""
    one, two = opened(), opened()
    one.begin()
    two.begin()
    one.record(A, 3, durable=True)
    one.record(A, 2, durable=False)
    two.record(B, 1, durable=False)
    two.record(A, 5, durable=False)
    one.record(A, 4, durable=False)  # later, and less than another process has shown
    one.record(C, 0, durable=False)
    one.close()
    two.close()
    two.close()
    again = opened()
    assert not again.fresh
    assert again.lineages == {A, B, C}
    behind = [again.is_behind(*state) for state in ((A, 4), (A, 5), (B, 0), (C, 0))]
    assert behind == [True, False, True, False]


def test_what_must_be_durable_is_seen_by_others_at_once(opened: Opened) -> None:
    """New learners too; the rest once it was flushed."""
    one, two = opened(), opened()
    one.begin()
    two.begin()
    one.record(A, 3, durable=True)
    one.record(B, 0, durable=False)
    assert opened().lineages == {A, B}
    two.record(B, 0, durable=False)
    one.record(B, 8, durable=False)
    one.sync()
    one.sync()
    assert [two.is_behind(B, 7), two.is_behind(B, 7, look=True), two.is_behind(B, 8, look=True)] == [
        False,
        True,
        False,
    ]


def test_unknown_learners(opened: Opened) -> None:
    """Each is recorded by the process that creates it, so one that has released before is an old backup."""
    guard = opened()
    guard.begin()
    assert (guard.is_behind(A, 0), guard.is_behind(A, 1)) == (False, True)


def test_looking_changes_nothing(opened: Opened) -> None:
    """Not even what it knows."""
    looking = opened(look_only=True)
    looking.record(A, 3, durable=True)
    looking.close()
    assert opened().fresh


def test_settling(opened: Opened) -> None:
    """As adopting a store does: no number gets lower, and what is not there any more has ended."""
    opened().settle({A: 4, B: 0})
    running = opened()
    running.record(D, 1, durable=True)
    opened(look_only=True).settle({A: 3, C: 2, D: 1})
    again = opened()
    assert (again.fresh, again.lineages) == (False, {A, C, D})
    assert (again.is_behind(A, 3), again.is_behind(A, 4)) == (True, False)
    assert again.is_behind(B, 10**9)
    running.record(A, 9, durable=True)
    running.record(B, 9, durable=True)
    running.record(A, ENDED, durable=True)
    assert opened().is_behind(A, 10**9)
    assert opened().is_behind(B, 10**9)


def test_threads_and_processes_record_at_once(opened: Opened) -> None:
    """No number is lost or lowered, and nobody waits for ever."""
    lineages = [f"{number:032x}" for number in range(20)]
    guards = [opened() for _ in range(4)]

    def record(guard: RollbackGuard) -> None:
        guard.begin()
        for count in range(5):
            for lineage in lineages if guards.index(guard) % 2 else reversed(lineages):
                guard.record(lineage, count, durable=count == 4)

    threads = [threading.Thread(target=record, args=(guard,)) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = opened()
    assert again.lineages == set(lineages)
    assert all(again.is_behind(lineage, 3) and not again.is_behind(lineage, 4) for lineage in lineages)
