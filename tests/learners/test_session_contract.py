"""What every learner that ships keeps to."""

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import load
from discreet.errors import AlreadyTold, HorizonReached, InvalidArgument, InvalidType, UnknownDecision
from discreet.learners import BanditLearner, FullInformationLearner, Session
from discreet.learners.arguments import named_items, restored_argument
from discreet.randomness import BitSource
from every_learner import LEARNERS, OURS, N, feedback, is_bandit, some_functions, state_of, transcript, used

each = pytest.mark.parametrize("name", LEARNERS)
some = pytest.mark.parametrize("name", OURS)
#: Which choose whole sets.
NEVER_RESTRICTED = ("ExponentialWeights", "RandomSet")
#: Which play a set for several rounds.
IN_BLOCKS = (
    *("BanditLearner worst case", "ProductSampling central"),
    *("PolicyLearner", "PolicyLearner local", "PolicyLearner exact"),
)


@each
def test_a_seed_repeats_a_run(name: str) -> None:
    """To the last digit, and another seed does not; without one nothing repeats and promises stand."""
    assert transcript(LEARNERS[name](5), 40) == transcript(LEARNERS[name](5), 40)
    assert transcript(LEARNERS[name](5), 40) != transcript(LEARNERS[name](6), 40)
    seeded = LEARNERS[name](5).guarantee
    assert not seeded.private or seeded.epsilon == 0
    fresh = LEARNERS[name](5).fresh(seed=9)
    assert transcript(fresh, 9) == transcript(LEARNERS[name](9), 9)


@some
def test_decisions_count_up_and_stay_within_the_items(name: str) -> None:
    """One by one or many at a time; probabilities are probabilities."""
    learner = LEARNERS[name](1)
    decisions = [learner.ask(), *learner.ask(count=5), learner.ask()]
    assert (
        [decision.id for decision in decisions]
        == [decision.round for decision in decisions]
        == list(range(1, 8))
    )
    assert all(decision.subset <= set(range(N)) for decision in decisions)
    assert all(0 < decision.probability <= 1 for decision in decisions)
    assert learner.ask(count=0) == []
    assert learner.point.shape == (N,)
    assert learner.best <= set(range(N))
    learner.point[...] = 7.0  # a copy
    assert ((learner.point >= 0) & (learner.point <= 1)).all()
    for count in (-1, 1.5, True, 10**6):
        with pytest.raises(InvalidArgument, match="count"):
            learner.ask(count=count)  # type: ignore[call-overload]


@some
def test_unknown_decisions_are_refused(name: str) -> None:
    """By name, without quoting anything, and nothing is changed."""
    learner = LEARNERS[name](1)
    learner.ask(count=3)
    before = state_of(learner)
    wrong: Any
    for wrong in (0, 4, -1, "1", None, 1.0, 10**30):
        with pytest.raises(UnknownDecision) as refused:
            learner.tell(wrong, 0.7319 if is_bandit(learner) else some_functions()[0])
        assert not any(digit in str(refused.value) for digit in "0123456789")
    assert state_of(learner) == before


@some
def test_a_decision_of_another_learner_is_refused(name: str, tmp_path: Path) -> None:
    """Also of one that is made alike; a learner that was loaded takes those of the one that was saved."""
    learner, twin = LEARNERS[name](1), LEARNERS[name](1)
    decision, other = learner.ask(), twin.ask()
    told = feedback(learner, decision, some_functions()[0])
    assert decision == other
    with pytest.raises(UnknownDecision, match="another learner"):
        twin.tell(decision, told)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    with pytest.raises(UnknownDecision, match="another learner"):
        loaded.tell(other, told)
    loaded.tell(decision, told)
    with pytest.raises(AlreadyTold):
        loaded.tell(decision, told)


@each
def test_a_file_goes_on_exactly(name: str, tmp_path: Path) -> None:
    """Saved in the middle of phases and of batches, with open decisions: what follows is the same."""
    learner = used(name)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    assert type(loaded) is type(learner)
    assert (loaded.lineage, loaded.generation) == (learner.lineage, learner.generation + 1)
    assert state_of(loaded) == state_of(learner)
    late = [9, 10] if learner.expire_after else []
    assert transcript(loaded, 30, late) == transcript(learner, 30, late)
    assert state_of(loaded) == state_of(learner)


@some
def test_telling_many_is_telling_one_by_one(name: str) -> None:
    """In one call or in several."""
    one, many = LEARNERS[name](4), LEARNERS[name](4)
    functions = some_functions()
    for _ in range(3):
        pairs = [
            (decision, feedback(one, decision, functions[k])) for k, decision in enumerate(one.ask(count=6))
        ]
        for decision, told in pairs:
            one.tell(decision, told)
        many.ask(count=6)
        many.tell_many((decision.id, told) for decision, told in pairs)
    assert state_of(one) == state_of(many)


@some
def test_memory_does_not_grow(name: str) -> None:
    """Closed phases and decisions leave nothing behind, told about or not."""
    learner = LEARNERS[name](1)
    learner.expire_after = 5
    for t in range(100):
        decision = learner.ask()
        if t % 3:
            learner.tell(decision, feedback(learner, decision, some_functions()[0]))
    longest = max((phase.total for phase in learner._phases.values()), default=0)
    assert len(learner._tickets) <= 5 + 2 * longest
    assert len(learner._phases) <= 6


@each
def test_items_can_be_switched_off_or_it_says_so(name: str) -> None:
    """A set stays among the available items; whoever plays sets for several rounds refuses."""
    learner = LEARNERS[name](3)
    if name in (*IN_BLOCKS, *NEVER_RESTRICTED):
        with pytest.raises(InvalidArgument, match="cannot switch items off"):
            learner.ask(available=[0, 2])
        assert (learner.pending, learner.ask().id) == (0, 1)
    else:
        decisions = learner.ask(count=20, available=[0, 2])
        assert all(decision.subset <= {0, 2} for decision in decisions)
        learner.tell(decisions[0], feedback(learner, decisions[0], some_functions()[0]))
        assert learner.ask(available=[]).subset == frozenset()
    for wrong in ("x", 3, [7]):
        with pytest.raises(InvalidArgument, match="available"):
            learner.ask(available=wrong)  # type: ignore[arg-type]


@each
def test_no_decision_is_lost_at_the_horizon(name: str) -> None:
    """A learner made for so many rounds deals no part of a batch that goes beyond."""
    learner = LEARNERS[name](1)
    if learner.horizon > 10**6:
        assert learner.horizon == 1 << 32
        return
    learner.ask(count=learner.horizon - 1)
    with pytest.raises(HorizonReached):
        learner.ask(count=2)
    assert learner.ask().id == learner.horizon
    with pytest.raises(HorizonReached):
        learner.ask()


@some
def test_threads_share_a_learner(name: str) -> None:
    """Each decision has its own id, and every tell is counted once."""
    learner = LEARNERS[name](None)
    learner.expire_after = 1000
    gate, functions = threading.Barrier(4), some_functions()

    def work(_: int) -> list[int]:
        gate.wait()
        ids = []
        for _ in range(25):
            decision = learner.ask()
            learner.tell(decision, feedback(learner, decision, functions[0]))
            ids.append(decision.id)
        return ids

    with ThreadPoolExecutor(4) as pool:
        ids = [each for found in pool.map(work, range(4)) for each in found]
    assert sorted(ids) == list(range(1, 101))
    assert not learner._tickets


@each
def test_a_source_is_for_noise_alone(name: str, tmp_path: Path) -> None:
    """A seeded source voids the promise; coins stay unpredictable, and the file goes on."""
    kind = type(LEARNERS[name](1))
    if "source" not in inspect.signature(kind).parameters:
        return
    model = LEARNERS[name](1)
    first = next(iter(inspect.signature(kind).parameters))
    arguments = {key: restored_argument(value) for key, value in model._arguments.items()}
    learner = kind(**{first: N}, **arguments, source=BitSource(3))
    assert not learner.guarantee.private
    transcript(learner, 8)
    learner.save(tmp_path / "learner")
    loaded = load(tmp_path / "learner")
    assert loaded._source.saved() == learner._source.saved()
    assert not loaded.guarantee.private
    with pytest.raises(InvalidType, match="BitSource"):
        kind(**{first: N}, **arguments, source=7)


# Arguments


@pytest.mark.parametrize("kind", [BanditLearner, FullInformationLearner])
@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -1},
        {"epsilon": 2000.0},
        {"epsilon": 2.0**-150, "rounds_per_person": 2**60},
        {"cost_range": (1, 0)},
        {"cost_range": (0, float("nan"))},
        {"cost_range": 3},
        {"items": 0},
        {"items": ["a", "a"]},
        {"items": {"a"}},
        {"items": "ab"},
        {"rounds_per_person": 0},
        {"expire_after": -1},
        {"seed": -1},
        {"mod": "local"},
        {"mode": "lokal", "method": "none"},
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_in_the_name_of_the_class(
    kind: type[Session], wrong: dict[str, Any]
) -> None:
    """Not in that of a budget, a source of bits or a bound inside it."""
    wrong = {key: value for key, value in wrong.items() if key not in ("mode", "method")} | {
        key: wrong[key]
        for key in ("mode", "method")
        if key in wrong and key in inspect.signature(kind).parameters
    }
    with pytest.raises((InvalidArgument, InvalidType), match=kind.__name__):
        kind(**{"items": 3, "epsilon": 1.0, "cost_range": (0, 1)} | wrong)


def test_items_in_any_order_that_is_fixed() -> None:
    """Lists, tuples, iterators, mappings and arrays have one."""
    names = {"tea": 1, "milk": 2, "sugar": 3}
    for ordered in (list(names), tuple(names), iter(names), names, names.keys(), np.array(list(names))):
        assert named_items("this test", ordered) == ("tea", "milk", "sugar")
