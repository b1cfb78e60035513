"""Learners with segments: what every learner keeps to, with a segment in each ask, and what they are for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import baselines, load, simulate
from discreet.errors import InvalidArgument, InvalidType
from discreet.evaluation.policies import current_plan
from discreet.learners import BanditLearner, FullInformationLearner, PolicyLearner, Session
from discreet.learners.arguments import MOST_SEGMENTS
from discreet.learners.host import Host
from discreet.policies import Uniform
from discreet.policies.memory import KEEP
from every_learner import state_of

N, NAMES = 4, ["young", "old"]
WEIGHTS = np.array([-0.3, 0.2, -0.1, 0.25])
#: The items that are best where costs are these, and where they are the opposite.
GOOD, REST = frozenset([0, 2]), frozenset([1, 3])
#: With some options of the model each: for what all of them keep to.
LEARNERS: dict[str, dict[str, Any]] = {
    "central": {},
    "local": {"mode": "local", "expire_after": 20},
    "constrained": {"at_most": 2},
    "forgets": {"forget": 500},
    "holdout": {"holdout": ({0}, 0.2)},
    "prior": {"prior": [({0, 1}, -0.2, 20), ({2}, 0.1, 10)]},
}
each = pytest.mark.parametrize("name", LEARNERS)


def made(name: str = "central", seed: int | None = 5, **options: Any) -> BanditLearner:
    given = {"epsilon": 8.0, "cost_range": (-1, 1), "segments": NAMES, "seed": seed}
    return BanditLearner(N, **(given | LEARNERS[name] | options))


def cost(subset: Any, sign: float = 1.0) -> float:
    return sign * float(sum(WEIGHTS[item] for item in subset if isinstance(item, int)))


def transcript(learner: Session, rounds: int, late: Any = ()) -> list[Any]:
    """What can be seen of some rounds, where the old come every third time; opposite costs."""
    waiting, seen = list(late), []
    for t in range(rounds):
        segment = NAMES[t % 3 == 0]
        decision = learner.ask(segment=segment)
        learner.tell(decision, cost(decision.subset, 1.0 if segment == "young" else -1.0))
        if waiting:
            learner.tell(waiting.pop(), 0.25)
        seen.append([decision.id, sorted(decision.subset), decision.probability, learner.rounds])
        seen.append([sorted(learner.best), learner.point.tolist(), *(learner.best_for(s) for s in NAMES)])
    return [*seen, learner.pending, repr(learner), str(learner.guarantee)]


def used(name: str) -> BanditLearner:
    """In the middle of a phase of each segment, with the decisions 21, 22 and 23 open."""
    learner = made(name)
    transcript(learner, 20)
    learner.ask(2, segment="young")
    learner.ask(segment="old")
    return learner


# What every learner keeps to


@each
def test_a_file_goes_on_exactly(name: str, tmp_path: Path) -> None:
    """Saved in the middle of two phases, with open decisions: what follows is the same."""
    learner = used(name)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    assert loaded.segments == ("young", "old")
    assert state_of(loaded) == state_of(learner)
    late = [21, 23] if learner.expire_after else []
    assert transcript(loaded, 90, late) == transcript(learner, 90, late)
    assert state_of(loaded) == state_of(learner)


@each
def test_who_has_told_is_not_shown(name: str) -> None:
    """In central mode what is shown depends on what was told only through what was released."""
    told, silent = made(name), made(name)
    for learner in (told, silent):
        decisions = learner.ask(3, segment="young") + learner.ask(2, segment="old")
        if learner is told:
            learner.tell_many((decision, 0.0) for decision in decisions)
    if told.mode == "central":
        assert told.pending == silent.pending
        assert told.generation == silent.generation
    assert told.rounds == silent.rounds == 0


# Refusals


def test_a_segment_must_be_said() -> None:
    """One of the declared ones, by its name; the message lists them."""
    learner = made()
    with pytest.raises(InvalidArgument, match="say which with 'segment': 'young', 'old'"):
        learner.ask()
    for wrong in ("Young", 0, True, ["young"], np.nan):
        with pytest.raises(InvalidArgument, match="'segment' of BanditLearner must be one of 'young', 'old'"):
            learner.ask(segment=wrong)  # type: ignore[call-overload]
        with pytest.raises(InvalidArgument, match="'young', 'old'"):
            learner.best_for(wrong)  # type: ignore[arg-type]
    assert learner.ask(segment="old").id == 1
    numbered = made(segments=[1, 0, "1"])
    numbered.ask(segment=1)
    numbered.ask(segment="1")
    assert [current >= 0 for current in numbered._current] == [True, False, True]
    with pytest.raises(InvalidArgument, match="segment"):
        numbered.ask(segment=True)


@pytest.mark.parametrize(
    "learner",
    [
        BanditLearner(N, 1.0, (-1, 1)),
        BanditLearner(N, 1.0, (-1, 1), method="worst-case"),
        FullInformationLearner(N, 1.0, (-1, 1)),
        PolicyLearner(N, Uniform, 1.0, (-1, 1)),
        baselines.ProductSampling(N, 1.0, (-1, 1)),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_others_have_no_segments(learner: Any) -> None:
    """And say who has, and what to do."""
    for asked in (learner.ask, learner.best_for):
        with pytest.raises(InvalidArgument, match=r"no segments: leave 'segment' out.*declared beforehand"):
            asked(segment="young")
    assert learner.ask().id == 1


@pytest.mark.parametrize("wrong", [[], ["a"], ["a", "a"], "ab", 3, [1, 1.5], [True, False], range(65)])
def test_wrong_segments_are_refused(wrong: Any) -> None:
    """They are two or more names, all different."""
    with pytest.raises(InvalidArgument, match=f"'segments'.*2 to {MOST_SEGMENTS}"):
        made(segments=wrong)
    with pytest.raises(InvalidType, match="order"):
        made(segments={"young", "old"})
    assert made(segments=np.arange(3)).segments == (0, 1, 2)


def test_what_does_not_go_with_segments_is_refused() -> None:
    """In plain words."""
    with pytest.raises(InvalidArgument, match="'segments' of BanditLearner is for method='model'"):
        made(method="worst-case")
    with pytest.raises(InvalidArgument, match="no 'item_total' yet: make one learner for each"):
        made(item_total=1.0)
    with pytest.raises(InvalidArgument, match=f"1 to {KEEP // 2} sets"):
        made(prior=[({0}, 0.1, 1)] * (KEEP // 2 + 1))
    arguments = {"epsilon": 1.0, "cost_range": [-1, 1], "segments": NAMES}
    with pytest.raises(InvalidArgument, match="no 'segments' yet: make one learner for each"):
        Host({"kind": "bandit", "items": [0, 1], "arguments": arguments})
    for environment in ("modular", [lambda subset: 0.0] * 5):
        with pytest.raises(InvalidArgument, match="cannot be simulated"):
            simulate(environment, made(), rounds=5, seeds=1)


# What they are for


@pytest.mark.parametrize("mode", ["central", "local"])
def test_opposite_segments_have_opposite_best_sets(mode: Any) -> None:
    """Each its own; the one for all is that of the segment with more rounds."""
    learner = made(mode=mode)
    transcript(learner, 2500 if mode == "central" else 8000)
    assert learner.best_for("young") == learner.best == GOOD
    assert learner.best_for("old") == REST
    assert np.flatnonzero(learner.point).tolist() == sorted(GOOD)


def test_constraints_hold_in_all_segments() -> None:
    """Of every set that is shown, and of every best one."""
    learner = made("constrained", required=[1], at_most=2)
    for t in range(600):
        decision = learner.ask(segment=NAMES[t % 2])
        assert 1 in decision.subset
        assert len(decision.subset) <= 2
        learner.tell(decision, cost(decision.subset, 1.0 if t % 2 else -1.0))
    for found in (learner.best, *map(learner.best_for, NAMES)):
        assert 1 in found
        assert len(found) <= 2


def test_items_come_and_go() -> None:
    """What was learned of each segment stays; open decisions of both can still be told about."""
    learner = made()
    transcript(learner, 1500)
    open_ones = [learner.ask(segment=segment) for segment in NAMES]
    learner.change_items(add=["new"], retire=[1])
    assert (learner.best_for("young"), learner.best_for("old")) == (GOOD, {3})
    for decision in open_ones:
        if learner.expire_after:
            learner.tell(decision, 0.1)
    rounds = learner.rounds
    for t in range(3000):
        decision = learner.ask(segment=NAMES[t % 2])
        assert 1 not in decision.subset
        own = -0.3 if t % 2 and "new" in decision.subset else 0.3 * ("new" in decision.subset)
        learner.tell(decision, own + cost(decision.subset, -1.0 if t % 2 else 1.0))
    assert learner.rounds > rounds
    assert (learner.best_for("young"), learner.best_for("old")) == (GOOD, {3, "new"})


def test_people_beyond_their_rounds_get_the_best_set_of_their_segment() -> None:
    """Nothing is learned from these rounds."""
    learner = made(epsilon=16.0, rounds_per_person=2)
    transcript(learner, 2500)
    for segment, wanted in zip(NAMES, (GOOD, REST), strict=True):
        assert all(decision.id for decision in learner.ask(2, segment=segment, person=segment))
        last = learner.ask(segment=segment, person=segment)
        assert (last.id, last.subset) == (0, wanted)


def test_rounds_are_held_out_in_all_segments() -> None:
    """The set of the holdout is shown to both, and what is learned earns something."""
    learner, shown = made("holdout"), dict.fromkeys(NAMES, 0)
    for t in range(3000):
        segment = NAMES[t % 2]
        decision = learner.ask(segment=segment)
        shown[segment] += decision.subset == {0}
        learner.tell(decision, cost(decision.subset, 1.0 if segment == "young" else -1.0))
    assert min(shown.values()) > 0.15 * 1500
    held = learner.held
    assert held is not None
    assert held.uplift is not None
    assert held.uplift > 0.2


def test_what_is_shown_of_them() -> None:
    """The names, in a notebook; and the present phase of one."""
    learner = made(segments=["<young>", 7])
    assert '<th scope="row" style="text-align:left">segments</th>' in learner._repr_html_()
    assert "&lt;young&gt;, 7" in learner._repr_html_()
    assert "segments" not in BanditLearner(N, 1.0, (-1, 1))._repr_html_()
    decision = learner.ask(segment=7)
    assert decision.subset in current_plan(learner, 7)
    with pytest.raises(InvalidArgument, match="ask it first"):
        current_plan(learner, "<young>")
