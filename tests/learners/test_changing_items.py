"""Items that come and go: what was learned stays, retired items are not shown, a slot is released once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import BanditLearner, FullInformationLearner
from discreet.errors import Expired, InvalidArgument, InvalidType
from every_learner import LEARNERS as EVERY_LEARNER

WORTH = {"tea": 0.3, "milk": -0.2, "gin": 0.1, "soy": 0.4, "rum": -0.3}
ITEMS = ["tea", "milk", "gin"]
Make = Callable[..., Any]


def bandit(items: Any = ITEMS, **given: Any) -> BanditLearner:
    return BanditLearner(items, **({"epsilon": 8.0, "cost_range": (-1, 1), "maximize": True} | given))


def choose(items: Any = ITEMS, **given: Any) -> FullInformationLearner:
    wanted = {"epsilon": 8.0, "cost_range": (-1, 1), "maximize": True, "method": "choose"}
    return FullInformationLearner(items, **(wanted | given))


LEARNERS: dict[str, Make] = {
    "central": bandit,
    "local": lambda *args, **given: bandit(*args, mode="local", **given),
    "forgetting": lambda *args, **given: bandit(*args, forget=500.0, **given),
    "with a holdout": lambda *args, **given: bandit(*args, holdout=({"gin"}, 0.2), **given),
    "with constraints": lambda *args, **given: bandit(*args, at_most=2, groups=[["tea", "gin"]], **given),
    "late feedback": lambda *args, **given: bandit(*args, expire_after=40, **given),
    "choose": choose,
    "choose with constraints": lambda *args, **given: choose(*args, at_most=2, forbidden=["milk"], **given),
}
each = pytest.mark.parametrize("kind", LEARNERS)
#: Of all learners, those that take a change.
CHANGEABLE = (
    *("BanditLearner", "BanditLearner local", "BanditLearner items", "FullInformationLearner"),
    *("BanditLearner exact", "BanditLearner exact local", "FullInformationLearner exact"),
)


def worth(chosen: Any) -> float:
    return sum(WORTH[item] for item in chosen)


def play(learner: Any, rounds: int, batch: int = 10) -> set[Any]:
    """Rounds with these worths; the items that were shown."""
    whole, shown = isinstance(learner, FullInformationLearner), set()
    for _ in range(rounds // batch):
        for decision in learner.ask(batch):
            shown |= decision.subset
            learner.tell(decision, worth if whole else worth(decision.subset))
    return shown


@each
def test_a_good_new_item_is_found_and_a_retired_one_vanishes(kind: str) -> None:
    """From the next decision on; the retired one was in the best set before, as nothing else was."""
    learner = LEARNERS[kind](seed=1)
    play(learner, 1500)
    assert "tea" in learner.best
    told = learner.rounds
    learner.change_items(add=["soy", "rum"], retire=["tea"])
    assert learner.items == ("tea", "milk", "gin", "soy", "rum")
    assert learner.retired == ("tea",)
    assert learner.point.shape == (5,)
    assert "tea" not in learner.best
    assert learner.rounds >= told
    shown = play(learner, 1500)
    assert "tea" not in shown
    assert "rum" in shown or isinstance(learner, FullInformationLearner)  # which sees the costs of all sets
    assert "soy" in learner.best
    assert learner.best.isdisjoint({"rum", "tea"})


@each
def test_a_retired_item_comes_back(kind: str) -> None:
    """What was learned of it is still known."""
    learner = LEARNERS[kind](seed=2)
    play(learner, 1500)
    best = learner.best
    learner.change_items(retire=["tea"])
    assert "tea" not in play(learner, 300)
    learner.change_items(add=["tea"])
    assert (learner.items, learner.retired) == (tuple(ITEMS), ())
    play(learner, 600)
    assert learner.best == best


@each
def test_a_changed_learner_is_saved_and_loaded(kind: str, tmp_path: Path) -> None:
    """With open decisions of before and after; it goes on as the one that was saved would have."""
    runs = []
    for name in (None, "learner"):
        learner = LEARNERS[kind](seed=3)
        play(learner, 500)
        learner.ask(7)
        learner.change_items(add=["soy"], retire=["gin"] if kind != "with a holdout" else ["tea"])
        late = learner.ask(3)
        if name is not None:
            learner.save(tmp_path / name)
            learner = discreet.load(tmp_path / name)
        for decision in late:
            learner.tell(decision, worth if "choose" in kind else worth(decision.subset))
        play(learner, 300)
        learner.change_items(add=["gin" if kind != "with a holdout" else "tea"])
        runs.append((learner.items, learner.retired, learner.best, learner.point.tolist(), learner.pending))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("kind", ["central", "local"])
@pytest.mark.parametrize("holdout", [None, ({"gin"}, 0.3)])
def test_open_decisions_count_after_the_change(kind: str, holdout: Any) -> None:
    """Those told about with what they cost, the others as the middle of the range, each once."""
    learner = LEARNERS[kind](seed=4, expire_after=30, epsilon=1000.0, maximize=False, holdout=holdout)
    decisions = learner.ask(11)
    learner.change_items(add=["soy"], retire=["milk"])
    for decision in decisions[:6]:
        learner.tell(decision, 1.0)
    learner.ask(29)
    assert learner.rounds == 0
    learner.ask()
    assert learner.rounds == 0
    learner.ask()
    assert learner.rounds == 11
    if holdout is None:
        fair_bits = 0.0 if kind == "central" else 5.0
        assert abs(learner.mean_cost * 11 - 6) <= fair_bits + 0.05
    else:
        held = learner.held
        assert held.rounds + held.learned_rounds == 11
    with pytest.raises(Expired, match="other items"):
        learner.tell(decisions[7], 1.0)


@pytest.mark.parametrize("kind", ["central", "with a holdout"])
def test_a_phase_that_is_cut_short_has_the_rounds_that_were_dealt(kind: str) -> None:
    """Whoever has told: its slots, and when they are released, depend on the number of decisions alone."""
    runs = []
    for tells in (True, False):
        learner = LEARNERS[kind](seed=5, expire_after=20)
        learner.ask(100)
        decisions = learner.ask(13)
        current = learner._phases[learner._current[0]]
        dealt = np.bincount(current.deck[: current.dealt], minlength=len(current.sums))
        planned = current.total
        for decision in decisions if tells else []:
            learner.tell(decision, -1.0)
        learner.change_items(add=["soy"])
        phase = learner._phases[learner._current[0]]
        assert phase.phase.rounds.tolist() == dealt[dealt > 0].tolist()
        assert phase.total == phase.dealt == dealt.sum() < planned
        rounds = []
        for _ in range(60):
            learner.ask()
            rounds.append(learner.rounds)
        runs.append(rounds)
    assert runs[0] == runs[1]
    assert runs[0][0] < runs[0][-1]


def test_no_sum_is_released_twice_or_dropped() -> None:
    """What the model learned from is every round that was asked for, through several changes."""
    learner = bandit(seed=6, epsilon=1000.0, maximize=False)
    told = 0.0
    for k, change in enumerate([{"add": ["soy"]}, {"retire": ["tea", "gin"]}, {"add": ["gin", "rum"]}]):
        for decision in learner.ask(37 + k):
            told += 0.1 * k
            learner.tell(decision, 0.1 * k)
        learner.change_items(**change)
    learner.ask()
    assert learner.rounds == learner._asked - 1 == 37 + 38 + 39
    assert learner.mean_cost * learner.rounds == pytest.approx(told, abs=0.05)


def test_choose_gives_up_the_totals_of_its_open_phase() -> None:
    """They are of other sets. What was held is played on, without what was retired, for a first phase."""
    learner = choose(seed=7)
    play(learner, 400)
    decision = learner.ask()
    best = learner.best
    learner.change_items(add=["soy"], retire=["gin"])
    assert learner.best == best - {"gin"}
    assert learner._mechanism.totals.tolist() == [0] * 8
    with pytest.raises(Expired):
        learner.tell(decision, worth)
    assert learner.pending == 0
    assert {decision.subset for decision in learner.ask(10)} == {best - {"gin"}}


def test_the_same_number_of_other_sets_is_not_the_same() -> None:
    """One item retired and another back again: the totals have as many places, for other sets."""
    learner = choose(seed=8)
    learner.change_items(retire=["tea"])
    decisions = learner.ask(3)
    learner.change_items(retire=["milk"], add=["tea"])
    with pytest.raises(Expired):
        learner.tell(decisions[0], worth)


def test_the_rounds_of_a_person_count_on() -> None:
    """A person who had the declared rounds before the change has none after it."""
    learner = bandit(seed=9, rounds_per_person=2)
    assert [decision.id for decision in learner.ask(2, person="ann")] == [1, 2]
    guarantee = learner.guarantee
    learner.change_items(add=["soy"], retire=["tea"])
    assert learner.guarantee == guarantee
    last = learner.ask(person="ann")
    assert last.id == 0
    assert "tea" not in last.subset


def test_what_names_items_goes_on_with_them() -> None:
    """A fresh learner offers what the changed one does."""
    learner = bandit(seed=11, prior=[({"tea"}, 0.3, 50)], forbidden=["milk"])
    learner.change_items(add=["soy"], retire=["tea"])
    assert learner.point.shape == (4,)
    assert "tea" not in learner.best
    fresh = learner.fresh(seed=1)
    assert (fresh.items, fresh.retired, fresh.rounds) == (learner.items, learner.retired, 0)
    assert play(fresh, 300) == {"gin", "soy"}
    learner.change_items(add=["tea"])
    assert play(learner, 300) == {"tea", "gin", "soy"}


def full(**given: Any) -> BanditLearner:
    """A bandit with as many items as it can have: most are retired, those of small numbers first."""
    learner = bandit(64, epsilon=20.0, groups=[[0, 3, 63]], prior=[({0}, 0.9, 40.0)], **given)
    learner.change_items(retire=range(60))
    return learner


def test_a_new_item_takes_the_place_of_the_one_retired_longest_ago() -> None:
    """Nothing that was known of that one is taken for knowledge of the new one."""
    learner = full(seed=15)
    assert learner._state.seen.rounds.max() == 40.0
    learner.change_items(add=["soy", 1])
    assert learner.items == ("soy", *range(1, 64))
    assert learner.retired == tuple(range(2, 60))
    assert learner._state.seen.rounds.max() == 0.0
    assert learner._arguments["groups"] == [[3, 63]]
    worth = {"soy": 0.5, 1: -0.2, 60: 0.2, 61: -0.1, 62: -0.1, 63: -0.1}
    for _ in range(20):
        for decision in learner.ask(50):
            learner.tell(decision, sum(worth[item] for item in decision.subset))
    assert "soy" in learner.best
    assert learner.fresh(seed=1).items == learner.items


def test_places_in_open_decisions_are_kept() -> None:
    """Their feedback is of the item that was shown; once it is released the place is free."""
    learner = bandit(64, seed=16, expire_after=3)
    shown = next(iter(learner.ask().subset))
    learner.change_items(retire=[shown])
    with pytest.raises(InvalidArgument, match="still in open decisions"):
        learner.change_items(add=["soy"])
    for _ in range(200):
        learner.ask()
    learner.change_items(add=["soy"])
    assert learner.items[shown] == "soy"


@pytest.mark.parametrize("name", [name for name in EVERY_LEARNER if name not in CHANGEABLE])
def test_the_others_refuse(name: str) -> None:
    learner = EVERY_LEARNER[name](1)
    with pytest.raises(InvalidArgument, match=f"{type(learner).__name__}.* cannot change its items"):
        learner.change_items(add=["soy"])
    learner.ask()


@each
def test_a_change_that_makes_no_sense_is_refused_and_changes_nothing(kind: str) -> None:
    learner = LEARNERS[kind](seed=12)
    learner.ask(5)
    before = learner._arrays()
    wrong: Any
    for wrong in ({"add": ["tea"]}, {"add": ["soy", "soy"]}, {"add": "soy"}, {"add": 3}, {"retire": ["soy"]}):
        with pytest.raises(InvalidArgument, match=f"'{next(iter(wrong))}'"):
            learner.change_items(**wrong)
    with pytest.raises(InvalidType, match="order"):
        learner.change_items(add={"soy"})
    with pytest.raises(InvalidArgument, match="needs an item"):
        learner.change_items(retire=ITEMS)
    assert (learner.items, learner.retired) == (tuple(ITEMS), ())
    assert all(np.array_equal(array, before[name]) for name, array in learner._arrays().items())


def test_what_other_arguments_need_is_refused() -> None:
    """With the reason: the constraints cannot be kept to, or there are too many items."""
    with pytest.raises(InvalidArgument, match="holdout"):
        bandit(holdout=({"gin"}, 0.2)).change_items(retire=["gin"])
    with pytest.raises(InvalidArgument, match="nothing to choose"):
        bandit(required=["gin"]).change_items(retire=["gin"])
    with pytest.raises(InvalidArgument, match="at most 64 items"):
        bandit(64).change_items(add=["soy"])
