"""What is told: in the right order, to the right learner, and quietly where it is private."""

import pickle
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from discreet import FullInformationLearner, PolicyLearner
from discreet.errors import InvalidArgument, InvalidType
from discreet.policies import Uniform
from discreet.randomizers import Bit, OneBit
from discreet.randomness import BitSource
from discreet.set_functions import Cut, Modular, SetFunction
from every_learner import LEARNERS, is_bandit, state_of, worst_case_bandit

BANDITS = [name for name in LEARNERS if is_bandit(LEARNERS[name](1))]


# Swapped arguments


@pytest.mark.parametrize("name", BANDITS)
def test_a_decision_in_place_of_the_cost_is_refused(name):
    """Whatever is in the place of the decision: an open id, a cost, a float. Nothing is quoted or changed."""
    learner = LEARNERS[name](1)
    decisions = learner.ask(count=9)
    before = state_of(learner)
    for first in (7, 17, 0.7319, decisions[1]):
        with pytest.raises(TypeError) as refused:
            learner.tell(first, decisions[0])
        assert not re.search(r"\d", str(refused.value))
        with pytest.raises(InvalidType):
            learner.tell_many([(decisions[2], 0.1), (first, decisions[0])])
    assert state_of(learner) == before


# Numbers of any kind


class Hostile(float):
    """A number that cannot be converted."""

    def __float__(self):
        raise RuntimeError("0.7319")


class Lazy:
    """A number that fails as soon as anything is asked of it."""

    @property
    def __class__(self):  # type: ignore[override]
        raise RuntimeError("0.7319")


class Warning_(float):
    """A number whose conversion warns."""

    def __float__(self):
        warnings.warn("0.7319", stacklevel=1)
        return 0.7319


@pytest.mark.parametrize("value", [Hostile(0.7319), Warning_(0.7319), 10**400, np.float32(0.5), Lazy])
def test_no_number_gets_through_with_an_error_or_a_warning(value):
    """Subclasses of float run somebody's code: what it raises or warns of is not passed on."""
    if value is Lazy:  # not before: pytest would ask it something
        value = Lazy()
    learner = worst_case_bandit(3, 1.0, (0, 1))
    learner.tell(learner.ask(), value)
    learner.tell_many([(learner.ask(), value)])
    OneBit(1.0, (0, 1)).release(value)
    assert learner.rounds == 2


@pytest.mark.filterwarnings("error")
def test_sums_of_huge_bits_wrap_around_in_silence():
    """With a tiny epsilon a bit stands for a huge number, and thirty of them for more than 64 bits hold."""

    class ThirtyRounds(Uniform):
        def plan(self, state, coins, available=None):
            phase = super().plan(state, coins, available)
            phase.rounds[:] = 30
            return phase

    learner = PolicyLearner(2, ThirtyRounds, 1e-12, (0, 1), mode="local")
    for _ in range(60):
        learner.tell(learner.ask(), 1.0)


def test_warnings_stay_off_until_the_last_thread_has_left():
    """And come back then: filters belong to the process, and threads may overlap in any way."""
    learner, before = full(), list(warnings.filters)
    first, second = learner.ask(count=2)
    inside, left = threading.Event(), threading.Event()

    def overlapping():
        inside.set()
        assert left.wait(60)
        warnings.warn("0.25", stacklevel=1)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        noted = list(warnings.filters)
        with ThreadPoolExecutor(1) as pool:

            def begun():
                running = pool.submit(learner.tell, second, factory=overlapping)
                assert inside.wait(60)
                return running

            running = []
            learner.tell(first, factory=lambda: running.append(begun()))
            left.set()
            running[0].result(60)
        assert (seen, list(warnings.filters)) == ([], noted)
    assert list(warnings.filters) == before


# Functions that are made from private numbers


def full(**options):
    return FullInformationLearner(2, 1.0, (-1, 1), method="blocks", expire_after=9, seed=5, **options)


@pytest.mark.parametrize("maximize", [False, True])
def test_descriptions_and_factories_are_told_like_functions(maximize):
    """All give the same state, digit for digit."""
    function = Cut([[0, 0.25], [0.5, 0]])
    learners = [full(maximize=maximize) for _ in range(4)]
    whole, described, made, made_description = learners
    whole.tell(whole.ask(), function)
    described.tell(described.ask(), function.to_dict())
    made.tell(made.ask(), factory=lambda: function)
    made_description.tell(made_description.ask(), factory=function.to_dict)
    assert len({str(state_of(learner)) for learner in learners}) == 1


def endless():
    description = {"kind": "Complement"}
    description["function"] = description
    return description


@pytest.mark.parametrize(
    "told",
    [
        {"factory": lambda: Cut([[0, -0.25], [0.5, 0]])},
        {"factory": lambda: 1 / 0},
        {"factory": lambda: Modular([0.1, 0.2, 0.3])},
        {"factory": lambda: warnings.warn("0.25", stacklevel=1)},
        {"factory": lambda: lambda chosen: 1 / 0},
        {"function": {"kind": "Cut", "weights": [[0, -0.25], [0.5, 0]]}},
        {"function": {"kind": "Modular", "weights": [0.5, "x"]}},
        {"function": {"kind": "Iwata", "n": 10**12}},
        {"function": {}},
        {"function": endless()},
    ],
)
def test_what_cannot_be_made_counts_as_a_constant(told):
    """Nothing is raised or warned of, and the state is that after a constant function."""
    learner, constant = full(), full()
    learner.tell(learner.ask(), **told)
    constant.tell(constant.ask(), Modular([0.0, 0.0]))
    assert state_of(learner) == state_of(constant)


def test_what_a_function_warns_of_is_not_passed_on():
    """Neither in tell nor in tell_many: the text may have the value. The value itself counts."""
    learner, silent = full(), full()

    def cost(chosen):
        if chosen:
            warnings.warn("0.25", stacklevel=1)
        return 0.25 * len(chosen)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        learner.tell(learner.ask(), cost)
        learner.tell_many([(learner.ask(), cost)])
    silent.tell_many([(silent.ask(), Modular([0.25, 0.25])) for _ in range(2)])
    assert seen == []
    assert state_of(learner) == state_of(silent)


def test_a_function_or_a_factory():
    """Not both, and not neither; what a Python function raises is the caller's own."""
    learner = full()
    for wrong in ({}, {"function": Modular([0, 0]), "factory": dict}):
        with pytest.raises(TypeError, match="'function' or a 'factory'"):
            learner.tell(learner.ask(), **wrong)
    with pytest.raises(ZeroDivisionError):
        learner.tell(1, lambda chosen: 1 / 0)
    with pytest.raises(InvalidType, match="must be a set function"):
        learner.tell(1, 3.5)
    with pytest.raises(InvalidArgument, match="must have 2 items"):
        learner.tell(1, Modular([0, 0, 0]))
    learner.tell_many([(1, Modular([0, 0]).to_dict()), (2, SetFunction.from_dict(Modular([0, 0]).to_dict()))])
    assert not learner._tickets


# Bits


@pytest.mark.parametrize(
    "other",
    [OneBit(1.0, (0, 1)), OneBit(0.1, (0, 1)), OneBit(0.2, (0, 2)), OneBit(0.2, (0, 1), units=100)],
    ids=["more", "less", "range", "grid"],
)
def test_a_bit_that_was_made_otherwise_is_refused(other):
    """Another epsilon, range or grid: the loss or the estimate would be wrong. The decision stays open."""
    learner = worst_case_bandit(3, 1.0, (0, 1), rounds_per_person=5)
    decision = learner.ask()
    with pytest.raises(InvalidArgument, match=r"takes those of OneBit\(epsilon=0.2"):
        learner.tell(decision, released=other.release(0.3))
    assert (learner.pending, learner.rounds) == (1, 0)
    learner.tell(decision, released=learner.randomizer().release(0.3))
    right = OneBit(0.2, (0, 1)).release(0.3)
    for bit in (right, pickle.loads(pickle.dumps(right))):
        learner.tell(learner.ask(), released=bit)
    for plain in (0, 1, np.int64(1), Bit(1)):  # nothing is known of these
        learner.tell(learner.ask(), released=plain)
    wrong = pickle.loads(pickle.dumps(other.release(0.3)))
    with pytest.raises(InvalidArgument, match="made by OneBit"):
        learner.tell(learner.ask(), released=wrong)


def test_a_bit_that_was_made_with_a_seed_is_for_seeded_learners():
    """Whoever knows the seed knows the cost: no guarantee may cover that."""
    for seed in (None, 1):
        learner = worst_case_bandit(3, 1.0, (0, 1), seed=seed)
        bit = learner.randomizer(source=BitSource(seed=2)).release(0.3)
        assert not bit.private
        if seed is None:
            with pytest.raises(InvalidArgument, match="made with a seed"):
                learner.tell(learner.ask(), released=bit)
        else:
            learner.tell(learner.ask(), released=bit)
        assert learner.rounds == (0 if seed is None else 1)
