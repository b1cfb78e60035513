"""BanditLearner for the worst case: bits made by clients, the mean cost, its bound, arguments."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidArgument
from discreet.learners import BanditLearner
from discreet.privacy.grid import DEFAULT_UNITS
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from every_learner import state_of, worst_case_bandit


def bits(*values: int) -> BitSource:
    """A source that gives these bits and then zeros."""
    queue = iter(values)
    return BitSource(
        fresh=lambda: lambda count: np.array([next(queue, 0) for _ in range(count)], dtype=np.uint64)
    )


def learned(learner: BanditLearner[Any]) -> list[Any]:
    return [part.tolist() for part in learner._learned_state()]


@settings(max_examples=60)
@given(st.floats(-0.5, 2.5), st.integers(0, 2**64 - 1), st.sampled_from([0.3, 1.0, 5.0]))
def test_a_clients_bit_is_the_bit_the_learner_would_make(cost: float, random: int, epsilon: float) -> None:
    """From the same random bits, telling the cost and telling its bit release the same number."""
    told, sent = (worst_case_bandit(3, epsilon, (0, 2), source=bits(random)) for _ in range(2))
    told.tell(told.ask(), cost)
    sent.tell(sent.ask(), released=OneBit(epsilon, (0, 2), source=bits(random)).release(cost))
    assert learned(told)[2] == learned(sent)[2]


@settings(max_examples=60)
@given(st.integers(-DEFAULT_UNITS, DEFAULT_UNITS), st.integers(0, 2**63 - 1))
def test_a_clients_bit_about_a_reward_has_the_same_law(units: int, uniform: int) -> None:
    """Of the 2^63 uniform integers u, the client's u and the learner's 2^63 - 1 - u release the same."""
    reward = units / DEFAULT_UNITS  # on the grid, so that its negative is too
    told = worst_case_bandit(3, 1.0, (-1, 1), maximize=True, source=bits(2 * (2**63 - 1 - uniform)))
    sent = worst_case_bandit(3, 1.0, (-1, 1), maximize=True)
    told.tell(told.ask(), reward)
    sent.tell(sent.ask(), released=OneBit(1.0, source=bits(2 * uniform)).release(reward))
    assert learned(told)[2] == learned(sent)[2]


@pytest.mark.parametrize("mode", ["local", "central"])
@pytest.mark.parametrize(
    "feedback",
    [{"released": wrong} for wrong in (2, -1, True, 0.5, "1")] + [{"released": 1, "cost": 0.123456789}],
    ids=str,
)
def test_bad_bits_change_nothing(mode: Any, feedback: Any) -> None:
    """Neither does a good one in central mode; the message never quotes a cost."""
    learner = worst_case_bandit(3, 1.0, (-1, 1), mode=mode, seed=1)
    decision = learner.ask()
    before = state_of(learner)
    with pytest.raises(InvalidArgument, match="'released'") as caught:
        learner.tell(decision, **feedback)
    if mode == "central":
        with pytest.raises(InvalidArgument, match="'released' bit is told to a local"):
            learner.tell(decision, released=1)
    assert "123456789" not in str(caught.value)
    assert state_of(learner) == before


def test_nothing_of_a_raw_cost_is_kept_in_local_mode() -> None:
    """Costs that gave the same bits leave the same state; in central mode an open block tells them apart."""

    def kept(mode: Any, cost: float) -> str:
        learner = worst_case_bandit(3, 3.0, (-1, 1), mode=mode, seed=8)
        for decision in learner.ask(count=3):
            learner.tell(decision, cost)
        return str(state_of(learner))

    found = {kept("local", cost) for cost in [0.123456789, *np.linspace(-1, 1, 81)]}
    assert 1 < len(found) <= 8
    assert kept("central", 0.123456789) != kept("central", 0.1234)


@pytest.mark.parametrize("maximize", [False, True])
def test_the_mean_cost_is_the_mean_of_what_bits_stand_for(maximize: bool) -> None:
    """The mean of the client's estimates; None before the first."""
    learner = worst_case_bandit(3, 0.8, (2, 5), maximize=maximize, seed=1)
    randomizer, estimates = OneBit(0.8, (2, 5)), []
    assert learner.mean_cost is None
    for bit in np.random.default_rng(1).integers(2, size=25):
        learner.tell(learner.ask(), released=bit)
        estimates.append(randomizer.estimate(bit))
        assert learner.mean_cost == pytest.approx(np.mean(estimates), rel=1e-6)


def test_a_bound_grows_with_what_makes_learning_hard() -> None:
    """More rounds, a smaller epsilon, more people's rounds: each has a larger bound."""

    def bound(epsilon: float = 1.0, rounds: int = 10**6, width: float = 1.0, **options: Any) -> float:
        return worst_case_bandit(4, epsilon, (0, width), **options).regret_bound(rounds)

    base = bound()
    assert min(bound(rounds=2 * 10**6), bound(epsilon=0.5)) > base
    assert bound(rounds_per_person=2) == pytest.approx(bound(epsilon=0.5))
    assert bound(width=3.0) == pytest.approx(3 * base)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 1e-60, "mode": "central"}, "'scale'"),
        ({"epsilon": 1e-15}, "'epsilon'"),
        ({"expire_after": 0}, "'expire_after'"),
        ({"seed": 1, "source": BitSource(1)}, "not both"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(arguments: Any, message: str) -> None:
    """By name."""
    with pytest.raises(DiscreetError, match=message):
        worst_case_bandit(**({"items": 3, "epsilon": 1.0, "cost_range": (0, 1)} | arguments))
