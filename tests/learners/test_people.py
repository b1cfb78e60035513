"""Of the first rounds of a person is learned, and of no other, whatever is told."""

import pathlib
from typing import Any

import pytest

from discreet import BanditLearner, load
from discreet.errors import InvalidArgument, InvalidType, StaleState
from every_learner import LEARNERS, N, is_bandit, some_functions


def told(learner: Any, decision: Any, t: int) -> None:
    function = some_functions()[t % 6]
    learner.tell(decision, function(decision.subset) if is_bandit(learner) else function)


@pytest.mark.parametrize("name", LEARNERS)
def test_further_rounds_change_nothing(name: str) -> None:
    """Seed 1: asked and told about a person without rounds left, or not, a learner goes on alike.

    Told about somebody else instead, it does not.
    """
    learner, alone, other = (LEARNERS[name](1) for _ in range(3))
    for t in range(40):
        for each in (learner, alone, other):
            told(each, each.ask(person=t), t)
        spent = learner.ask(person=0)
        assert (spent.id, spent.round, spent.probability, spent.subset) == (0, 0, 1.0, learner.best)
        told(learner, spent, t + 1)
        learner.tell_many([(learner.ask(person="0"), 0.9 if is_bandit(learner) else some_functions()[0])])
        told(other, other.ask(person=f"somebody else {t}"), t + 1)
    assert learner._asked == alone._asked < other._asked
    assert learner.ask(50) == alone.ask(50) != other.ask(50)


def test_people_have_as_many_rounds_as_declared() -> None:
    """Three each, in one call or in several; without a person all rounds count."""
    learner = BanditLearner(N, 1.0, (0, 1), mode="local", rounds_per_person=3)
    assert [d.id > 0 for d in learner.ask(5, person="ann")] == [True] * 3 + [False] * 2
    assert [learner.ask(person=7).id > 0 for _ in range(4)] == [True] * 3 + [False]
    assert learner.ask(person="7").id == 0
    assert all(d.id > 0 for d in learner.ask(9))
    assert learner.ask(person="ann", available=[0]).subset <= {0}
    with pytest.raises(InvalidArgument, match="make no bit"):
        learner.tell(learner.ask(person="ann"), released=1)
    for wrong in (1.5, b"ann", True):
        with pytest.raises(InvalidType, match="'person' given to BanditLearner") as refused:
            learner.ask(person=wrong)  # type: ignore[call-overload]
        assert "ann" not in str(refused.value)


@pytest.mark.parametrize("mode", ["central", "local"])
def test_counts_go_on_with_the_learner(tmp_path: pathlib.Path, mode: Any) -> None:
    """They are in its file, without ids. Two copies would count apart, so there is one of it."""
    learner = BanditLearner(N, 1.0, (0, 1), mode=mode, rounds_per_person=2)
    assert learner.ask(person="ann of Aberdeen").id
    learner.save(tmp_path / "shop")
    assert b"Aberdeen" not in (tmp_path / "shop").read_bytes()
    with pytest.raises(StaleState, match="handed over"):
        learner.ask()
    again = load(tmp_path / "shop")
    with pytest.raises(StaleState):
        load(tmp_path / "shop")
    assert [again.ask(person="ann of Aberdeen").id > 0 for _ in range(2)] == [True, False]
    assert again.fresh(None).ask(person="ann of Aberdeen").id
