"""Whatever the constraints, the feedback and the available items: every set that is dealt keeps to them."""

import itertools
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import discreet
from discreet import BanditLearner, FullInformationLearner
from discreet.constraints import Constraints
from discreet.errors import InvalidArgument
from discreet.learners import Session
from discreet.set_functions import Modular

MOST = 6
EPSILON = 40.0  # phases are short


def holding_out(n: int, **more: Any) -> Session:
    """With the first allowed set as the default one."""
    names = ("at_most", "at_least", "required", "forbidden", "groups")
    given = {name: more[name] for name in names if name in more}
    found = Constraints.of("test", range(n), **given) or Constraints(n, n)
    default = np.flatnonzero(found.listed()[0]).tolist()
    return BanditLearner(n, EPSILON, (-1, 1), holdout=(default, 0.3), **more)


LEARNERS: dict[str, Callable[..., Session]] = {
    "central": lambda n, **more: BanditLearner(n, EPSILON, (-1, 1), **more),
    "local": lambda n, **more: BanditLearner(n, EPSILON, (-1, 1), mode="local", **more),
    "prior": lambda n, **more: BanditLearner(
        n, EPSILON, (-1, 1), prior=[([], 0.5, 5), (list(range(n)), -0.9, 50)], **more
    ),
    "forget": lambda n, **more: BanditLearner(n, EPSILON, (-1, 1), forget=40, **more),
    "holdout": holding_out,
    "choose": lambda n, **more: FullInformationLearner(n, EPSILON, (-1, 1), **more),
}


@st.composite
def constraints(draw: st.DrawFn) -> tuple[int, dict[str, Any]]:
    """A number of items, and constraints that some set keeps to."""
    n = draw(st.integers(1, MOST))
    place = st.integers(0, 3)  # nowhere, or in one of three groups
    placed = [draw(place) for _ in range(n)]
    given = {
        "at_most": draw(st.none() | st.integers(0, n)),
        "at_least": draw(st.none() | st.integers(0, n)),
        "required": draw(st.sets(st.integers(0, n - 1), max_size=2)),
        "forbidden": draw(st.sets(st.integers(0, n - 1), max_size=2)),
        "groups": [[i for i in range(n) if placed[i] == k] for k in (1, 2, 3)],
    }
    try:
        made = Constraints.of("test", range(n), **given)
    except InvalidArgument:
        made = None
    assume(made is not None)
    return n, given


def keeps_to(given: dict[str, Any], n: int, subset: frozenset[Any]) -> bool:
    """By the definition."""
    most, least = (given.get(name) for name in ("at_most", "at_least"))
    return (
        (0 if least is None else least) <= len(subset) <= (n if most is None else most)
        and set(given.get("required", ())) <= subset <= set(range(n)) - set(given.get("forbidden", ()))
        and all(len(subset & set(group)) <= 1 for group in given.get("groups", ()))
    )


def play(learner: Session, given: dict[str, Any], rounds: int, seed: int) -> None:
    """Costs that change their mind; now and then items are switched off, or all is saved and loaded."""
    n, rng = len(learner.items), np.random.default_rng(seed)
    folder = tempfile.TemporaryDirectory()
    for turn in range(rounds // 10):
        assert keeps_to(given, n, learner.best)
        worth = rng.uniform(-1, 1, n) / n * (-1) ** (turn // 4)
        available = None
        if rng.random() < 0.3:
            available = np.flatnonzero(rng.random(n) < 0.7).tolist()
        person = "somebody" if rng.random() < 0.1 else None
        try:
            decisions = learner.ask(10, available=available, person=person)
        except InvalidArgument:
            assert available is not None
            decisions = learner.ask(10)
            available = None
        for decision in decisions:
            assert keeps_to(given, n, decision.subset), decision
            assert 0 < decision.probability <= 1
            assert available is None or decision.subset <= set(available)
            if decision.id and rng.random() < 0.95:
                whole = isinstance(learner, FullInformationLearner)
                told: Any = Modular(worth) if whole else worth[list(decision.subset)].sum()
                learner.tell(decision, told)
        if rng.random() < 0.1:
            learner.save(pathlib.Path(folder.name, "learner"))
            learner = discreet.load(pathlib.Path(folder.name, "learner"))
    folder.cleanup()


@pytest.mark.parametrize("kind", LEARNERS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(constraints(), st.booleans(), st.integers(0, 2**32))
@example((1, {"at_least": 1}), False, 0)  # one set
@example((1, {"forbidden": [0]}), False, 0)
@example((4, {"at_least": 4}), True, 1)
@example((4, {"at_most": 0}), False, 2)
@example((5, {"groups": [[0, 1, 2, 3, 4]]}), True, 3)
@example((5, {"groups": [[0, 1, 2, 3, 4]], "at_least": 1}), True, 4)
@example((6, {"required": [0, 1, 2, 3, 4, 5]}), False, 5)
@example((6, {"groups": [[0, 1, 2], [3, 4, 5]], "at_least": 2, "required": [4]}), False, 6)
def test_every_set_keeps_to_any_constraints(
    kind: str, found: tuple[int, dict[str, Any]], maximize: bool, seed: int
) -> None:
    n, given = found
    play(LEARNERS[kind](n, maximize=maximize, seed=seed, **given), given, 150, seed)


@pytest.mark.parametrize("kind", ["central", "local"])
def test_many_items_and_exactly_three_of_them(kind: str) -> None:
    """Of 64 items, in groups of eight; later some are sold out."""
    given = {
        "at_most": 3,
        "at_least": 3,
        "required": {5},
        "forbidden": {6, 63},
        "groups": [list(range(first, first + 8)) for first in range(0, 64, 8)],
    }
    learner = LEARNERS[kind](64, seed=7, **given)
    rng = np.random.default_rng(8)
    for turn in range(12):
        available = None if turn % 3 else {5, *rng.permutation(64)[:20].tolist()}
        for decision in learner.ask(10, available=available):
            assert keeps_to(given, 64, decision.subset)
            assert available is None or decision.subset <= available
            learner.tell(decision, float(rng.uniform(-1, 1)))


def test_who_has_used_up_their_rounds_gets_an_allowed_set_of_what_is_there() -> None:
    """Where the best set is sold out in part, others come in."""
    learner = BanditLearner(4, EPSILON, (-1, 1), at_least=2, at_most=2, groups=[[2, 3]], seed=9)
    learner.ask(person="somebody")
    for left in itertools.combinations(range(4), 3):
        decision = learner.ask(person="somebody", available=left)
        assert decision.id == 0
        assert len(decision.subset) == 2
        assert decision.subset <= set(left)
        assert decision.subset != {2, 3}
    with pytest.raises(InvalidArgument, match="nothing to choose"):
        learner.ask(person="somebody", available=[2, 3])
