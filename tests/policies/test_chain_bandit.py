"""The worst-case bandit policy: every outcome of a round by enumeration, and whole runs in plain Python."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import families
from discreet.kernel import Released
from discreet.policies import ChainBandit
from discreet.policies.chain_bandit import PROBABILITY, RELEASED, UPDATES
from discreet.privacy import noise
from discreet.privacy.grid import DEFAULT_UNITS, Grid
from discreet.privacy.sensitivity import LARGEST_SUM
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from every_learner import worst_case_bandit

seeds = st.integers(0, 10**6)


def bandit(n: int, rounds: int = 1, **changes: float) -> ChainBandit:
    given_ = {"exploration": 0.7, "step": 2.0, "prior": 4.0} | changes
    return ChainBandit(np.full(n, 0.5), units=DEFAULT_UNITS, rounds=rounds, **given_)  # type: ignore[arg-type]


def released(phases: list[Any], values: list[int]) -> Released:
    note = np.concatenate([phase.note for phase in phases])
    rounds = np.concatenate([phase.rounds for phase in phases])
    return Released(note, rounds, np.array(values).reshape(-1, 1))


def somewhere(policy: ChainBandit, rng: np.random.Generator) -> Any:
    """A state after some random releases."""
    state, coins = policy.start(), BitSource(int(rng.integers(10**6)))
    for _ in range(int(rng.integers(1, 20))):
        phase = policy.plan(state, coins)
        state = policy.learn(state, released([phase], [int(rng.integers(-DEFAULT_UNITS, 2 * DEFAULT_UNITS))]))
    return state


def coins_of(uniform: float) -> BitSource:
    return BitSource(fresh=lambda: lambda count: np.full(count, int(uniform * 2**53) << 11, dtype=np.uint64))


@settings(max_examples=60)
@given(st.sampled_from(sorted(families.FAMILIES)), seeds, st.integers(1, 4), st.booleans(), st.booleans())
def test_the_estimate_is_unbiased(name: str, seed: int, n: int, restricted: bool, local: bool) -> None:
    """The mean over all prefixes and both bits is the gradient, of the restriction where items are off."""
    rng = np.random.default_rng(seed)
    f = families.in_unit_range(families.FAMILIES[name](n, rng)[0])
    policy, grid, bit = bandit(n), Grid(-1.0, 1.0), OneBit(1.5)
    state = somewhere(policy, rng)
    items = np.flatnonzero(rng.random(n) < 0.6) if restricted else np.arange(n)
    order = sorted(items.tolist(), key=lambda i: (-state.levels[i], i))
    gamma = min(1.0, 0.7 * (state.counts[UPDATES] + 1) ** (-1 / 3))
    levels = np.array([1.0, *state.x[order], 0.0])
    rho = (1 - gamma) * (levels[:-1] - levels[1:]) + gamma / (len(order) + 1)
    mean = np.zeros(n)
    for size, middle in enumerate(np.cumsum(rho) - rho / 2):
        phase = policy.plan(state, coins_of(middle), items if restricted else None)
        assert (phase.order[0].tolist(), phase.size[0]) == (order, size)
        assert phase.chance[0, size] == phase.note[0, PROBABILITY] == pytest.approx(rho[size], rel=1e-12)
        cost = grid.of(f(order[:size]))
        one = float(bit.probability_of_one(cost))
        magnitude = round(bit.magnitude)
        for chance, number in [(one, magnitude), (1 - one, -magnitude)] if local else [(1.0, cost)]:
            after = policy.learn(state, released([phase], [number]))
            mean += rho[size] * chance * (after.gradients - state.gradients)
    gains = np.zeros(n)
    for k, item in enumerate(order):
        gains[item] = grid.of(f(order[: k + 1])) - grid.of(f(order[:k]))
    np.testing.assert_allclose(mean, gains, atol=2.5)  # shares are rounded to integers
    assert not mean[np.setdiff1d(np.arange(n), items)].any()


class SlowBandit:
    """The formulas of the policy and its releases in plain Python, from the same bits."""

    def __init__(self, n: int, length: int | None, seed: int) -> None:
        self.n, self.length = n, length or 1
        session = worst_case_bandit(n, 1.0, (-1, 1), seed=seed)  # whose bits are read here
        self.coins, self.noise = session._coins, session._source
        self.bit = OneBit(1.0) if length is None else None
        self.law = noise.laplace(Fraction(2 * DEFAULT_UNITS))
        moment = 1 + noise.variance(self.law) / (self.length * DEFAULT_UNITS) ** 2
        self.moment = self.bit.second_moment if self.bit else moment
        spread = 12 * (n + 1) * self.moment
        least = (n * math.sqrt(spread) / 24) ** (2 / 3)
        self.a, self.b = 0.4 * least, 3 * math.sqrt(least / spread)
        self.sum, self.released, self.updates = [0] * n, 0, 0

    @property
    def levels(self) -> list[float]:
        eta = self.b * (self.updates + 1) ** (-2 / 3) / DEFAULT_UNITS
        return [0.5 - eta * g for g in self.sum]

    def play(self, costs: list[float]) -> set[int]:
        """One block: the set that is held for it."""
        levels = self.levels
        order = sorted(range(self.n), key=lambda i: (-levels[i], i))
        x = [1.0, *(min(max(levels[i], 0.0), 1.0) for i in order), 0.0]
        gamma = min(1.0, self.a * (self.updates + 1) ** (-1 / 3))
        rho = [(1 - gamma) * (x[k] - x[k + 1]) + gamma / (self.n + 1) for k in range(self.n + 1)]
        uniform, size = (self.coins.bits64() >> 11) * 2.0**-53, 0
        while uniform >= rho[size]:
            uniform -= rho[size]
            size += 1
        baseline = self.released / (self.length * (self.updates + self.moment))
        baseline = min(max(baseline, -DEFAULT_UNITS), DEFAULT_UNITS)
        total = sum(math.floor(cost * DEFAULT_UNITS + 0.5) for cost in costs)
        if self.bit:
            one = (self.noise.bits64() >> 1) < 2**62 + total * self.bit.slope
            number = round(self.bit.magnitude) * (1 if one else -1)
        else:
            number = total + int(noise.sample(self.law, 1, self.noise)[0])
        share = round((number / self.length - baseline) / rho[size])
        if size > 0:
            self.sum[order[size - 1]] += share
        if size < self.n:
            self.sum[order[size]] -= share
        self.released += number
        self.updates += 1
        return set(order[:size])


@pytest.mark.parametrize("length", [None, 6])  # of a block at this epsilon
@pytest.mark.parametrize("n", [1, 4])
def test_a_session_is_the_formulas(n: int, length: int | None) -> None:
    """300 blocks of BanditLearner, to the last bit of its integer sums."""
    slow = SlowBandit(n, length, seed=7)
    options: Any = {} if length is None else {"mode": "central"}
    session = worst_case_bandit(n, 1.0, (-1, 1), seed=7, **options)
    rng = np.random.default_rng(1)
    for _ in range(300):
        costs = rng.uniform(-0.9, 0.3, slow.length).tolist()
        chosen = slow.play(costs)
        for cost in costs:
            decision = session.ask()
            assert decision.subset == chosen
            session.tell(decision, cost)
    session.ask()
    state = session._state
    assert state.gradients.tolist() == slow.sum
    assert state.counts.tolist() == [slow.updates, slow.released]
    np.testing.assert_allclose(state.levels, slow.levels, rtol=1e-12)


@settings(max_examples=30)
@given(st.lists(st.integers(-(10**7), 10**7), min_size=1, max_size=8), seeds)
def test_a_batch_equals_one_by_one(values: list[int], seed: int) -> None:
    """In any order too: what a slot adds depends on its note and on what was released of it alone."""
    policy, rng = bandit(3, rounds=2), np.random.default_rng(seed)
    state, coins = somewhere(policy, rng), BitSource(seed)
    phases = [policy.plan(state, coins) for _ in values]
    batch = policy.learn(state, released(phases, values))
    single = state
    for k in rng.permutation(len(values)):
        single = policy.learn(single, released([phases[k]], [values[k]]))
    for one, other in zip(batch, single, strict=True):
        assert one.tolist() == other.tolist()


def test_learning_leaves_the_old_state_alone() -> None:
    """States are values: planning changes nothing, learning makes a new one."""
    policy = bandit(3)
    state = policy.start()
    kept = [part.tolist() for part in state]
    phase = policy.plan(state, BitSource(1))
    after = policy.learn(state, released([phase], [DEFAULT_UNITS]))
    assert [part.tolist() for part in state] == kept
    assert after.counts.tolist() == [1, DEFAULT_UNITS]
    assert [part.tolist() for part in policy.start()] == kept


@pytest.mark.parametrize("value", [2**62, -(2**62)])
def test_sums_stay_at_their_limit(value: int) -> None:
    """They never wrap around, whatever is released and however small a probability is."""
    policy = bandit(2, exploration=1e-3)
    state, coins = policy.start(), BitSource(2)
    for _ in range(20):
        phase = policy.plan(state, coins)
        phase.note[0, PROBABILITY] = 1e-300
        state = policy.learn(state, released([phase], [value]))
        assert np.abs(state.gradients).max() <= LARGEST_SUM
        assert abs(state.counts[RELEASED]) <= LARGEST_SUM
        assert ((state.x >= 0) & (state.x <= 1)).all()
