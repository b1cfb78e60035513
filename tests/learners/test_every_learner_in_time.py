"""Every learner over time: decisions that are never told about are closed, and memory does not grow."""

import numpy as np
import pytest

from discreet import FullInformationLearner
from discreet.environments import Pool
from discreet.errors import Expired
from discreet.learners.base import Learner
from discreet.learners.pending import arrays_of
from discreet.paper import BanditSubmodPFTAL, SubmodPFTAL
from discreet.set_functions import Modular
from discreet.simulation.loop import play
from every_learner import LEARNERS, N, feedback, is_bandit, some_functions, state_of, transcript

each = pytest.mark.parametrize("name", LEARNERS)


def expiring(name: str, seed: int | None, after: int) -> Learner:
    """A learner that closes decisions after so many more; not all constructors have the argument."""
    learner = LEARNERS[name](seed)
    learner.expire_after = after
    return learner


@each
def test_an_expired_decision_counts_as_the_middle_of_the_range(name: str) -> None:
    """To the learner a deadline that passes is the same as being told the middle at that moment."""
    expires, told = expiring(name, 4, 3), LEARNERS[name](4)
    middle = 0.0 if is_bandit(told) else Modular([0.0] * N)
    ids = [decision.id for decision in expires.ask(count=3)]
    told.ask(count=3)
    for expired in range(1, 40):
        if expired == 2:  # told in time: nothing is learnt from it a second time
            expires.tell(ids[1], middle)
        told.tell(expired, middle)
        assert expires.ask() == told.ask()
        np.testing.assert_array_equal(expires.point, told.point)
    assert expires.pending == told.pending == 3
    assert state_of(expires)["arrays"] == state_of(told)["arrays"]


@each
def test_an_expired_decision_cannot_be_told(name: str) -> None:
    """A cost that comes after its deadline is refused by name, and changes nothing; in time it is taken."""
    learner = expiring(name, 4, 3)
    first, second, *_ = [learner.ask() for _ in range(4)]
    assert (learner.pending, learner.rounds) == (3, 1)
    before = state_of(learner)
    with pytest.raises(Expired, match="is closed"):
        learner.tell(first, feedback(learner, first, some_functions()[0]))
    assert state_of(learner) == before
    learner.tell(second, feedback(learner, second, some_functions()[0]))
    assert (learner.pending, learner.rounds) == (2, 2)


@each
def test_deadlines_hold_after_loading(name: str) -> None:
    """A restored learner closes the decisions that the original would have closed."""
    learner = expiring(name, 4, 5)
    [learner.ask() for _ in range(5)]
    restored = type(learner).from_bytes(learner._whole(), generation=learner.generation)
    restored.expire_after = 5
    for _ in range(12):
        assert restored.ask() == learner.ask()
        assert restored.pending == learner.pending == 5
    assert state_of(restored) == state_of(learner)


@pytest.fixture(scope="module")
def million() -> Pool:
    """A stream of a million rounds."""
    return Pool(some_functions(), rounds=1_000_000, seed=1)


def sizes(learner: Learner) -> tuple[int, int]:
    """Bytes in arrays, and bytes in the file."""
    return sum(array.nbytes for array in arrays_of(learner._core).values()), len(learner._whole())


#: Counts of rounds and decisions take a few more digits in a file.
DIGITS = 40


@each
def test_memory_does_not_grow_with_rounds(name: str, million: Pool) -> None:
    """After 10^6 rounds, or as many as there are, arrays and file are as large as after the first ones."""
    learner = LEARNERS[name](None)
    transcript(learner, 3)
    before = sizes(learner)
    rounds = min(million.rounds, learner.horizon - 3)
    play(learner, million, rounds)
    assert learner.rounds == 3 + rounds
    after = sizes(learner)
    assert after[0] == before[0]
    assert after[1] <= before[1] + DIGITS


@pytest.mark.parametrize(
    "make",
    [
        lambda T: SubmodPFTAL(N, T, 1.0),
        lambda T: BanditSubmodPFTAL(N, T, 1.0, noise="spherical"),
        lambda T: FullInformationLearner(N, 1.0, (-1, 1), method="tree", horizon=T),
    ],
    ids=["binary", "spherical", "k-ary"],
)
def test_trees_of_a_million_rounds_do_not_grow(make, million: Pool) -> None:  # type: ignore[no-untyped-def]
    """Those with a horizon, made for the whole stream: full at its end, and no larger than at the start."""
    learner = make(million.rounds)
    before = sizes(learner)
    play(learner, million)
    assert learner.rounds == learner.horizon == million.rounds
    after = sizes(learner)
    assert after[0] == before[0]
    assert after[1] <= before[1] + DIGITS
    assert before[1] < 20_000


@each
def test_decisions_that_are_never_told_do_not_pile_up(name: str) -> None:
    """10^4 of them, past the horizon where there is one: what is kept stays within the deadline."""
    learner = expiring(name, None, 10)
    [learner.ask() for _ in range(50)]
    before = sizes(learner)
    for _ in range(100):
        [learner.ask() for _ in range(100)]
        assert learner.pending == 10
    assert learner.rounds == min(10_040, learner.horizon)
    assert abs(sizes(learner)[1] - before[1]) < 500
