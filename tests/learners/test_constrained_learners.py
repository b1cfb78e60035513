"""Learners with constraints: every set keeps to them, whatever happens; the others refuse them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import BanditLearner, FullInformationLearner
from discreet.constraints import Constraints
from discreet.errors import InvalidArgument
from discreet.learners import Session
from discreet.policies.choose import PLACE, SLOTS
from discreet.set_functions import Coverage, Modular

N = 8
WORTH = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.5, -1.0, -2.0]) / 20
GIVEN: dict[str, dict[str, Any]] = {
    "at most": {"at_most": 3},
    "exactly": {"at_most": 2, "at_least": 2},
    "required": {"required": [7], "at_most": 4},
    "forbidden": {"forbidden": [0, 3]},
    "groups": {"groups": [[0, 1, 2], [3, 4]]},
    "all": {"at_most": 4, "at_least": 2, "required": [6], "forbidden": [1], "groups": [[0, 2], [3, 6]]},
}
#: Of the best allowed set.
BEST = {
    "at most": {0, 1, 2},
    "exactly": {0, 1},
    "required": {0, 1, 2, 7},
    "forbidden": {1, 2, 4, 5},
    "groups": {0, 3, 5},
    "all": {0, 4, 5, 6},
}
LEARNERS: dict[str, Callable[..., Session]] = {
    "central": lambda **given: BanditLearner(N, 8.0, (-1, 1), **given),
    "local": lambda **given: BanditLearner(N, 8.0, (-1, 1), mode="local", **given),
    "choose": lambda **given: FullInformationLearner(N, 8.0, (-1, 1), **given),
}


def feedback(learner: Session, subset: frozenset[Any]) -> Any:
    if isinstance(learner, FullInformationLearner):
        return Modular(WORTH)
    return WORTH[list(subset)].sum()


def allows(given: dict[str, Any], subset: frozenset[Any]) -> bool:
    constraints = Constraints.of("test", range(N), **given)
    assert constraints is not None
    return bool(constraints.allows(np.isin(np.arange(N), list(subset))[None])[0])


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in LEARNERS for name in GIVEN if kind in ("central", "choose") or name == "all"],
)
def test_every_set_is_allowed_and_the_best_allowed_one_is_found(kind: str, name: str) -> None:
    """From the first round on, exploration included; the known optimum is the best one at the end."""
    given = GIVEN[name]
    learner = LEARNERS[kind](maximize=True, seed=3, **given)
    assert allows(given, learner.best)
    rounds = 3000 if kind == "local" else 1500
    for _ in range(rounds // 50):
        for decision in learner.ask(50):
            assert allows(given, decision.subset)
            learner.tell(decision, feedback(learner, decision.subset))
    assert allows(given, learner.best)
    worth = WORTH[list(learner.best)].sum()
    assert worth >= WORTH[list(BEST[name])].sum() - 0.08


def test_choose_chooses_again_when_the_world_has_changed() -> None:
    """Soon after the change it holds the set that is best now, with the short phases of a new start."""
    learner = FullInformationLearner(N, 8.0, (-1, 1), seed=6, at_most=2)
    for turn, best in ((1, {0, 1}), (-1, {6, 7})):
        for _ in range(4000 if turn == 1 else 1200):
            learner.tell(learner.ask(), Modular(-turn * WORTH))
        assert learner.best == best
    assert learner._state.counts[SLOTS] > 10
    assert learner.learner.listed is not None
    assert np.flatnonzero(learner.learner.listed[learner._state.counts[PLACE]]).tolist() == [6, 7]


def test_many_items_can_be_compared_where_few_sets_are_allowed() -> None:
    """Of 40 items at most two: 821 sets. A Python function is asked for these only."""
    learner = FullInformationLearner(40, 4.0, (0, 1), at_most=2, maximize=True, seed=7)
    assert (learner.method, learner.learner.dimension) == ("choose", 821)
    asked = []

    def worth(chosen: frozenset[int]) -> float:
        asked.append(len(chosen))
        return 0.5 * (3 in chosen) + 0.4 * (31 in chosen)

    for _ in range(30):
        for decision in learner.ask(10):
            learner.tell(decision, worth)
    assert learner.best == {3, 31}
    assert (len(asked), max(asked)) == (300 * 821, 2)


def test_few_listed_sets_and_many_have_the_same_costs() -> None:
    """One by one, or taken from all."""
    rng = np.random.default_rng(8)
    covers = Coverage([rng.permutation(20)[:6].tolist() for _ in range(10)], np.ones(20))
    for given in ({"at_most": 1}, {"at_least": 1}):
        constraints = Constraints.of("test", range(10), **given)
        assert constraints is not None
        listed = constraints.listed()
        costs = discreet.learners.feedback.costs_along(covers, None, listed)
        np.testing.assert_allclose(costs, [covers(row) for row in listed], atol=1e-12)


def test_what_is_left_of_a_held_set_must_be_allowed() -> None:
    learner = FullInformationLearner(3, 8.0, (-1, 1), seed=10, at_least=1)
    with pytest.raises(InvalidArgument, match="what is left"):
        learner.ask(available=[1])
    with pytest.raises(InvalidArgument, match="nothing to choose"):
        learner.ask(available=[])
    assert learner.ask(available=[0, 2]).subset == {0}


@pytest.mark.parametrize("method", ["blocks", "leader"])
def test_methods_of_chains_refuse_constraints(method: Any) -> None:
    with pytest.raises(InvalidArgument, match=f"{method}' takes no constraints: it draws prefixes"):
        FullInformationLearner(N, 1.0, (-1, 1), method=method, at_most=3)


def test_the_worst_case_refuses_constraints() -> None:
    with pytest.raises(InvalidArgument, match="worst-case' takes no constraints: it draws prefixes"):
        BanditLearner(N, 1.0, (-1, 1), method="worst-case", groups=[[0, 1]])
    with pytest.raises(InvalidArgument, match=r"takes constraints with at most 64 items. Got 65 items"):
        BanditLearner(65, 1.0, (-1, 1), at_most=3)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="2\\^20 sets"):
        FullInformationLearner(40, 1.0, (-1, 1), at_most=10)
    with pytest.raises(InvalidArgument, match="holdout"):
        BanditLearner(N, 1.0, (-1, 1), at_most=1, holdout=({0, 1}, 0.1))
    with pytest.raises(InvalidArgument, match="no regret bound"):
        FullInformationLearner(N, 1.0, (-1, 1), at_most=1).regret_bound(100)
