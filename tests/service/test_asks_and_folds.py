"""What an ask waits for, and from which point its sets are drawn."""

import pathlib
from typing import Any

import pytest
from desk_helpers import bandit, functions, opened, told

from discreet.learners.detached import Detached, detached
from discreet.randomness import BitSource
from discreet.service.batch import Ask, Tell, Told
from discreet.service.desk import Desk
from discreet.service.kept import Kept
from discreet.set_functions import Modular


def twin_of(kept: Kept, seed: int) -> Detached:
    """A learner at the point that is shown, which draws what the shown one will draw next."""
    twin = detached(kept.record.settings, source=BitSource(seed))
    twin.restore(kept.shown.state())
    twin._last = kept.shown._last.copy()
    kept.shown._learner._source = BitSource(seed)
    return twin


def draws(desk: Desk, ids: list[str]) -> list[bytes]:
    with desk._store.reading() as reading:
        known = reading.decisions(map(bytes.fromhex, ids))
    return [known[bytes.fromhex(each)].draw for each in ids]


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_an_ask_is_drawn_from_the_shown_point(
    backend: str, tmp_path: pathlib.Path, request: pytest.FixtureRequest, key: None
) -> None:
    """Not from one in the making: tells of the same transaction, and before it in line, play no part."""
    where = tmp_path / "desk.db" if backend == "sqlite" else request.getfixturevalue("postgres")
    with opened(where) as desk:
        bandit(desk, items=range(12))
        earlier = desk.ask("shop", 200)
        kept = desk._registry.named("shop")
        expected = [drawn.draw for drawn in twin_of(kept, 5).draw(30)]
        tell = Tell(kept, [Told(bytes.fromhex(choice.id), b"\1", None) for choice in earlier])
        _, drawn = desk._committer._perform([tell, Ask(kept, 30, None, None)])
        assert [each.draw for each in drawn] == expected
        desk.housekeeping.fold()
        assert desk.learner("shop").summary.rounds == 200
        assert [drawn.draw for drawn in twin_of(kept, 5).draw(30)] != expected


@pytest.mark.parametrize(
    ("make", "feedback"), [(bandit, {"released": 1}), (functions, {"function": Modular([0.5, 0, 0])})]
)
def test_an_ask_does_not_wait_for_a_fold(
    postgres: str, key: None, make: Any, feedback: dict[str, Any]
) -> None:
    """On PostgreSQL: a transaction that folds, here or elsewhere, takes its time, and asks are answered."""
    with opened(postgres) as desk:
        make(desk, "slow")
        told(desk, "slow", desk.ask("slow", 50), **feedback)
        kept = desk._registry.named("slow")
        with desk._store.writing() as writing:
            fold = writing.fold(kept.id)
            assert fold is not None
            kept.fold_waiting(writing, fold, 0)
            expected = [drawn.draw for drawn in twin_of(kept, 6).draw(30)]
            chosen = desk.submit_ask("slow", 30).result(20)  # the fold is not committed yet
            assert draws(desk, [choice.id for choice in chosen]) == expected
        desk.housekeeping.refresh()
        assert desk.learner("slow").summary.rounds == 50
