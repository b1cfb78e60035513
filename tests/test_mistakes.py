"""Mistakes people make (docs/mistakes.md): each is found out, without anything private being told."""

import numpy as np
import pytest

import discreet
from discreet.errors import AlreadyTold, Expired, InvalidArgument, InvalidType
from discreet.set_functions import FromCallable, is_submodular


@pytest.mark.parametrize(("cost", "end"), [(17.0, 1.0), (-3.0, 0.0)])
def test_a_wrong_range_shows_in_the_released_mean(cost: float, end: float) -> None:
    """Seed 1, 20,000 rounds: the mean lies at the end of the range, within five standard errors (0.03).

    Costs within the range do not look like that.
    """
    learner = discreet.BanditLearner(3, epsilon=1.0, cost_range=(0, 1), seed=1)
    for _ in range(20_000):
        learner.tell(learner.ask(), cost)
    assert learner.mean_cost == pytest.approx(end, abs=0.04)
    honest = discreet.BanditLearner(3, epsilon=1.0, cost_range=(0, 1), seed=1)
    for _ in range(20_000):
        honest.tell(honest.ask(), 0.7)
    assert honest.mean_cost == pytest.approx(0.7, abs=0.04)


def test_nothing_is_raised_counted_or_printed_for_a_clipped_cost(capsys: pytest.CaptureFixture[str]) -> None:
    """A learner that was told nonsense looks like any other."""
    plain, clipped = (discreet.BanditLearner(3, epsilon=1.0, cost_range=(0, 1), seed=2) for _ in range(2))
    for learner, cost in ((plain, 0.5), (clipped, "a million")):
        for _ in range(10):
            learner.tell(learner.ask(), cost)
    assert repr(plain) == repr(clipped)
    assert capsys.readouterr() == ("", "")


def test_plan_warns_of_an_epsilon_that_is_too_small() -> None:
    """And names one that would do; with that there is no warning."""
    poor = discreet.plan(n=8, epsilon=0.05, rounds=20_000, cost_range=(0, 1))
    assert "WARNING" in str(poor)
    assert poor.epsilon_needed is not None
    assert "WARNING" not in str(
        discreet.plan(n=8, epsilon=poor.epsilon_needed, rounds=20_000, cost_range=(0, 1))
    )


def test_costs_that_are_not_submodular_have_a_witness() -> None:
    """The answer names two sets and what they violate."""
    answer = is_submodular(FromCallable(lambda chosen: float(chosen == {0, 1}), 2))
    assert not answer
    assert answer.witness is not None


def test_telling_twice_or_too_late() -> None:
    """Named errors, and nothing changes."""
    learner = discreet.BanditLearner(2, epsilon=1.0, cost_range=(0, 1), expire_after=3)
    decision, forgotten = learner.ask(2)
    learner.tell(decision, 0.1)
    before = learner.point
    with pytest.raises(AlreadyTold):
        learner.tell(decision, 0.9)
    assert np.array_equal(learner.point, before)
    learner.ask(3)
    with pytest.raises(Expired):
        learner.tell(forgotten, 0.9)


def test_items_are_fixed_but_can_be_switched_off() -> None:
    """A stranger is refused by name; a set stays among what is there; a new learner takes old levels."""
    learner = discreet.BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
    with pytest.raises(InvalidArgument, match="oats"):
        learner.ask(available=["tea", "oats"])
    assert learner.ask(available=["milk"]).subset <= {"milk"}
    wider = discreet.BanditLearner(
        ["tea", "milk", "oats"], epsilon=1.0, cost_range=(0, 1), start=[*learner.point, 0.5]
    )
    assert wider.point[:2].tolist() == learner.point.tolist()


def test_items_in_a_set_are_refused() -> None:
    """A list of them is not, and keeps its order."""
    with pytest.raises(InvalidType, match="need an order"):
        discreet.BanditLearner({"tea", "milk"}, epsilon=1.0, cost_range=(0, 1))
    learner = discreet.BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
    assert learner.items == ("tea", "milk")


def test_a_seed_voids_the_guarantee() -> None:
    """In words and as a flag."""
    learner = discreet.BanditLearner(2, epsilon=1.0, cost_range=(0, 1), seed=7)
    assert not learner.guarantee.private
    assert str(learner.guarantee).startswith("NOT PRIVATE")
