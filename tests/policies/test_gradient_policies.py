"""Policies on released gradients, against plain Python and against each other."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel import EACH_ROUND, Released
from discreet.policies import Averaging, Descent, DualAveraging, Leader
from discreet.policies.averaging import LENGTH, potential, start_range
from discreet.randomness import BitSource

START = np.array([0.5, 0.25, 0.75])
UNIT = 0.01
tables = st.lists(st.lists(st.integers(-300, 300), min_size=3, max_size=3), min_size=1, max_size=6)


def averaging(noise_energy: float = 4.0) -> Averaging:
    return Averaging(START, unit=UNIT, shortest=3, longest=48, noise_energy=noise_energy, first_spent=0.8)


def released(rows: Any, notes: int, rounds: int = 1) -> Released:
    values = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Released(np.ones((len(values), notes)), np.full(len(values), rounds), values)


POLICIES = {
    "averaging": averaging(),
    "leader": Leader(START, 1.5, unit=UNIT),
    "dual averaging": DualAveraging(START, 0.07, unit=UNIT),
    "descent": Descent(START, 0.07, unit=UNIT),
}


@settings(max_examples=30)
@given(tables, st.sampled_from(sorted(POLICIES)))
def test_a_batch_equals_one_by_one(rows: list[list[int]], name: str) -> None:
    """Learning from several slots at once is learning from one after the other, to the last bit."""
    policy = POLICIES[name]
    batch, single = policy.learn(policy.start(), released(rows, policy.notes)), policy.start()
    for row in rows:
        single = policy.learn(single, released([row], policy.notes))
    for one, other in zip(batch, single, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@settings(max_examples=30)
@given(tables)
def test_the_leader_minimises_the_losses_so_far(rows: list[list[int]]) -> None:
    """Of g.x + H/2 |x|^2: the sum of gradients over -H t, clipped."""
    policy = Leader(START, 1.5, unit=UNIT)
    state = policy.learn(policy.start(), released(rows, 1))
    total = [sum(row[i] for row in rows) * UNIT for i in range(3)]
    np.testing.assert_allclose(state.x, [clip(-g / (1.5 * len(rows))) for g in total], atol=1e-12)
    for i in range(3):
        found = optimize.minimize_scalar(
            lambda x, i=i: total[i] * x + len(rows) * 0.75 * x * x, bounds=(0, 1), method="bounded"
        )
        assert state.x[i] == pytest.approx(found.x, abs=1e-4)


@settings(max_examples=30)
@given(tables)
def test_descent_and_dual_averaging_are_their_formulas(rows: list[list[int]]) -> None:
    """Descent clips after every step; dual averaging clips the sum of all steps."""
    dual, descent = POLICIES["dual averaging"], POLICIES["descent"]
    x = START.tolist()
    for row in rows:
        x = [clip(level - 0.07 * g * UNIT) for level, g in zip(x, row, strict=True)]
    total = np.array(rows).sum(axis=0) * UNIT
    np.testing.assert_allclose(descent.learn(descent.start(), released(rows, 1)).x, x, atol=1e-12)
    state = dual.learn(dual.start(), released(rows, 1))
    np.testing.assert_allclose(state.levels, START - 0.07 * total, atol=1e-12)
    np.testing.assert_allclose(state.x, [clip(level) for level in state.levels], atol=0)


def slow_averaging(rows: list[list[int]]) -> tuple[list[float], float, float]:
    """Point, D and length after some slots, in plain Python."""
    total, spent, length = [0.0] * 3, 0.8, 3.0
    x = START.tolist()
    reach = sum(max(s, 1 - s) ** 2 for s in START) / 2

    def least(g: float, eta: float, s: float) -> float:
        best = clip(s - eta * g)
        return g * best + (best - s) ** 2 / (2 * eta)

    for row in rows:
        eta = 0.5 * reach / spent
        gradient = [v * UNIT for v in row]
        for i, g in enumerate(gradient):
            before = least(total[i], eta, START[i])
            total[i] += g
            spent += max(0.0, g * x[i] - (least(total[i], eta, START[i]) - before))
        eta = 0.5 * reach / spent
        x = [clip(s - eta * g) for s, g in zip(START, total, strict=True)]
        drift = min(max(2 - sum(g * g for g in gradient) / 4.0, -4.0), 1.0)
        length = min(max(length * math.exp(0.1 * drift), 3.0), 48.0)
    return x, spent, length


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(-300, 300), min_size=3, max_size=3), min_size=1, max_size=40))
def test_averaging_is_its_formulas(rows: list[list[int]]) -> None:
    """The point, the step and the length of slots, against plain Python."""
    policy = averaging()
    state = policy.learn(policy.start(), released(rows, 0, rounds=3))
    x, spent, length = slow_averaging(rows)
    np.testing.assert_allclose(state.x, x, atol=1e-9)
    np.testing.assert_allclose(state.adapted, [spent, length], rtol=1e-9)
    assert policy.plan(state, BitSource(1)).rounds[0] == int(state.adapted[LENGTH])


@given(st.floats(-5, 5), st.floats(0.01, 3), st.floats(0, 1))
def test_the_potential_is_a_minimum(total: float, eta: float, start: float) -> None:
    """No point of a fine grid is lower."""
    grid = np.linspace(0, 1, 201)
    values = total * grid + (grid - start) ** 2 / (2 * eta)
    assert potential(total, eta, start) <= values.min() + 1e-12


def test_a_fixed_length_stays() -> None:
    """Where there is no noise to balance."""
    policy = averaging(noise_energy=0.0)
    state = policy.learn(policy.start(), released([[300, -300, 300]] * 20, 0))
    assert state.adapted[LENGTH] == 3


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_plans_are_chains_of_the_point(name: str) -> None:
    """Items by level, of equal ones the lower number first; level sets have the chances of the point."""
    policy = POLICIES[name]
    state = policy.learn(policy.start(), released([[-20, 40, 10]], policy.notes))
    phase = policy.plan(state, BitSource(5))
    order = phase.order[0].tolist()
    assert order == sorted(range(3), key=lambda i: (-state.levels[i], i))
    levels = np.array([1.0, *state.x[order], 0.0])
    chances = levels[:-1] - levels[1:]
    if name == "averaging":
        assert phase.size[0] == EACH_ROUND
        np.testing.assert_allclose(phase.chance[0], chances, atol=1e-15)
    else:
        assert phase.chance[0, phase.size[0]] == pytest.approx(chances[phase.size[0]])
    among = policy.plan(state, BitSource(5), np.array([0, 2]))
    assert sorted(among.order[0].tolist()) == [0, 2]


def test_a_coin_is_noted_where_the_estimate_needs_one() -> None:
    """Fair: of 2,000 plans (seed 3) heads are within five standard errors (112) of half."""
    policy = Leader(START, 1.5, unit=UNIT, gamma=0.5, coin=True)
    coins = BitSource(3)
    sides = [policy.plan(policy.start(), coins).note[0, 0] for _ in range(2000)]
    assert set(sides) == {1.0, -1.0}
    assert abs(sides.count(1.0) - 1000) < 112


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_only_what_was_released_is_learned_from(name: str) -> None:
    """Anything else is refused by its type, and too few numbers by their count."""
    policy = POLICIES[name]
    for wrong in (np.zeros((1, 3)), None, [1, 2, 3]):
        with pytest.raises(InvalidType, match="Released"):
            policy.learn(policy.start(), wrong)
    short = Released(np.zeros((1, policy.notes)), np.ones(1, dtype=np.int64), np.ones((1, 1)))
    with pytest.raises(InvalidArgument):
        policy.learn(policy.start(), short)
    floats = Released(np.zeros((1, policy.notes)), np.ones(1, dtype=np.int64), np.full((1, 3), 7.0))
    ints = released([[7, 7, 7]], policy.notes)
    for one, other in zip(
        policy.learn(policy.start(), floats), policy.learn(policy.start(), ints), strict=True
    ):
        np.testing.assert_allclose(one, other)


def test_start_range() -> None:
    """The largest of |x - start|^2 / 2 over the corners: n/8 in the middle, n/2 at a corner."""
    assert start_range(np.full(8, 0.5)) == 1.0
    assert start_range(np.array([0.0, 1.0])) == 1.0
    start = np.array([0.2, 0.9, 0.5])
    corners = np.array([[code >> i & 1 for i in range(3)] for code in range(8)])
    assert start_range(start) == pytest.approx(((corners - start) ** 2).sum(axis=1).max() / 2)
