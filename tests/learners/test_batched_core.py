"""The batched core: step, block length and releases, against general solvers and the inequalities proved."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from learner_helpers import copied

from discreet.bounds.dual_averaging import start_range
from discreet.learners.batched_core import (
    ALPHA,
    BLOCKS,
    EXACT_LENGTH,
    IN_BLOCK,
    LENGTH,
    SPENT,
    BatchedCore,
    new_batched_core,
    potential,
)
from discreet.learners.core import learn_function
from discreet.learners.draw import new_draw
from discreet.learners.limits import UNITS, subgradient_limits
from discreet.prefix_sums.plain import no_noise

N = 3
LIMITS, BOUND = subgradient_limits(-1.0, 1.0)
NO_WORDS = np.empty(0, dtype=np.uint64)
units = st.integers(-(2**40), 2**40)
coordinates = st.one_of(units, st.sampled_from([0, 1, -1, UNITS, -4 * UNITS]))
releases = st.lists(arrays(np.int64, N, elements=coordinates), min_size=1, max_size=20)
starts = arrays(float, N, elements=st.sampled_from([0.0, 0.3, 0.5, 1.0]))


def quiet_core(
    start: np.ndarray, *, first_spent: float = 1.0, noise_energy: float = 0.0, longest: int = 1
) -> BatchedCore:
    """A core without noise, so that what is released is what a block adds up to."""
    return new_batched_core(
        mechanism=no_noise(start.size),
        limits=LIMITS,
        shortest=1,
        longest=longest,
        noise_energy=noise_energy,
        first_spent=first_spent,
        start=start,
    )


def tell(core: BatchedCore, costs: np.ndarray) -> None:
    """One round with these costs along the chain 0, 1, 2."""
    learn_function(core, new_draw(np.arange(core.x.size)), costs, NO_WORDS, 0)


def release(core: BatchedCore, block: np.ndarray) -> np.ndarray:
    """Close a block whose sum is this, in units; what was released, in values."""
    core.block[:] = block
    core.counts[IN_BLOCK] = core.counts[LENGTH] - 1
    tell(core, np.zeros(core.x.size + 1))
    return block * core.limits.step


@settings(max_examples=200)
@given(st.floats(-50, 50), st.floats(1e-3, 50), st.floats(0, 1))
def test_the_potential_is_the_minimum(total: float, eta: float, start: float) -> None:
    """A bounded scalar search finds no less than `potential`, and no more up to its tolerance."""
    solved = scipy.optimize.minimize_scalar(
        lambda x: total * x + (x - start) ** 2 / (2 * eta), bounds=(0, 1), options={"xatol": 1e-10}
    )
    assert potential(total, eta, start) <= solved.fun + 1e-12
    assert potential(total, eta, start) == pytest.approx(solved.fun, abs=1e-6)


@settings(max_examples=50)
@given(releases, starts)
def test_the_point_is_the_minimiser(blocks: list[np.ndarray], start: np.ndarray) -> None:
    """The point minimises L.x + |x - start|^2 / (2 eta) over the cube, by a general solver."""
    core = quiet_core(start)
    total = sum(release(core, block) for block in blocks)
    np.testing.assert_allclose(core.released, total, rtol=1e-12, atol=1e-9)
    eta = ALPHA * start_range(start) / core.adapted[SPENT]
    solved = scipy.optimize.minimize(
        lambda x: (eta * total @ x + ((x - start) ** 2).sum() / 2, eta * total + x - start),
        np.full(N, 0.5),
        jac=True,
        bounds=[(0, 1)] * N,
        method="L-BFGS-B",
        tol=1e-14,
    )
    np.testing.assert_allclose(core.x, solved.x, atol=1e-5)
    np.testing.assert_allclose(core.x, np.clip(core.levels, 0, 1))


@settings(max_examples=200)
@given(releases, starts, st.sampled_from([1e-3, 1.0, 100.0]))
def test_lemma_2(blocks: list[np.ndarray], start: np.ndarray, first: float) -> None:
    """D never falls, eta never grows, and both inequalities of Lemma 2 hold after every release."""
    core = quiet_core(start, first_spent=first)
    R = start_range(start)
    total, paid, energy, largest = np.zeros(N), 0.0, 0.0, 0.0
    for block in blocks:
        before, spent = core.x.copy(), core.adapted[SPENT]
        new = release(core, block)
        # What a block adds to D, from the minima over the whole cube.
        eta = ALPHA * R / spent
        least = sum(
            potential(total[i] + new[i], eta, start[i]) - potential(total[i], eta, start[i]) for i in range(N)
        )
        total, paid = total + new, paid + new @ before
        energy, largest = energy + new @ new, max(largest, np.abs(new).sum())
        slack = 1e-9 * (1 + np.abs(total).sum() + largest)
        D = core.adapted[SPENT]
        assert spent <= D
        assert D - spent == pytest.approx(max(0.0, new @ before - least), abs=slack)
        assert D - spent <= min(eta * (new @ new) / 2, np.abs(new).sum()) + slack
        best = np.minimum(total, 0).sum()  # of L.u over the corners of the cube
        assert paid - best <= (1 + 1 / ALPHA) * D + slack
        assert first + math.sqrt(ALPHA * R * energy) + largest + slack >= D


def test_items_at_a_side_cost_nothing_more() -> None:
    """Pushed the same way for ever, D stays where it was once the items sit at their sides."""
    core = quiet_core(np.full(N, 0.5))
    for _ in range(50):
        release(core, np.array([3 * UNITS, -3 * UNITS, 3 * UNITS]))
    assert core.x.tolist() == [0, 1, 0]
    spent = core.adapted[SPENT]
    for _ in range(50):
        release(core, np.array([3 * UNITS, -3 * UNITS, 3 * UNITS]))
    assert core.adapted[SPENT] == spent


def energies(core: BatchedCore, ratio: float, blocks: int) -> list[float]:
    """The exact lengths after blocks whose released energy is `ratio` times that of the noise."""
    size = round(math.sqrt(ratio * core.noise_energy / N) / core.limits.step)
    lengths = []
    for k in range(blocks):
        release(core, np.full(N, size if k % 2 else -size))
        lengths.append(float(core.adapted[EXACT_LENGTH]))
    return lengths


def test_blocks_grow_while_there_is_noise_only_and_shrink_under_gradients() -> None:
    """By e^0.1 a block at most, by e^-0.4 at most, and in between by the energy, within both limits."""
    core = quiet_core(np.full(N, 0.5), noise_energy=12.0, longest=16)
    lengths = energies(core, 1.0, 40)
    np.testing.assert_allclose(lengths, [min(16.0, math.exp(0.1 * k)) for k in range(1, 41)], rtol=1e-6)
    np.testing.assert_allclose(energies(core, 2.0, 5), 16.0, rtol=1e-6)
    falling = energies(core, 3.0, 10)
    np.testing.assert_allclose(falling, [16 * math.exp(-0.1 * k) for k in range(1, 11)], rtol=1e-6)
    assert energies(core, 1000.0, 1)[0] == pytest.approx(falling[-1] * math.exp(-0.4))
    assert energies(core, 1000.0, 30)[-1] == 1.0


@settings(max_examples=50)
@given(st.lists(st.floats(0, 20), min_size=1, max_size=60), st.integers(1, 30))
def test_lengths_stay_within_their_limits(ratios: list[float], longest: int) -> None:
    """Whatever is released, a block has between `shortest` and `longest` rounds."""
    core = quiet_core(np.full(N, 0.5), noise_energy=3.0, longest=longest)
    for ratio in ratios:
        energies(core, ratio, 1)
        assert 1 <= core.adapted[EXACT_LENGTH] <= longest
        assert core.counts[LENGTH] == int(core.adapted[EXACT_LENGTH])
    assert core.counts[BLOCKS] == len(ratios)


def test_a_fixed_length_stays_fixed() -> None:
    """Without noise (an energy of 0) every round is a block."""
    core = quiet_core(np.full(N, 0.5))
    for k in range(20):
        tell(core, np.array([0.0, 1.0, -1.0, k / 20]))
        assert core.counts.tolist() == [0, 1, k + 1]


def public_part(core: BatchedCore) -> list[list[float]]:
    return [
        part.tolist() for part in (core.x, core.levels, core.released, core.before, core.adapted, core.counts)
    ]


def test_lengths_and_points_are_functions_of_releases() -> None:
    """Other costs, with noise that makes their releases the same: all that is public is the same."""
    first, second = (quiet_core(np.full(N, 0.5), noise_energy=12.0, longest=16) for _ in range(2))
    rng = np.random.default_rng(0)
    secrets_differ = 0
    for _ in range(400):
        tell(first, rng.uniform(-1, 1, N + 1))
        costs = rng.uniform(-1, 1, N + 1)
        if first.counts[IN_BLOCK] == 0:  # its block was closed, so this round closes that of the second
            alone = copied(second)
            tell(alone, costs)
            exact = alone.mechanism.total - second.mechanism.total
            second.mechanism.total[:] = first.mechanism.total - exact  # the noise of the second world
        tell(second, costs)
        assert public_part(first) == public_part(second)
        secrets_differ += first.block.tolist() != second.block.tolist()
    assert secrets_differ > 100
    assert first.counts[BLOCKS] > 30


def test_only_the_sum_of_a_block_matters() -> None:
    """The rounds of a block in another order, or cancelling each other: the same point and lengths."""
    first, second = (quiet_core(np.full(N, 0.5), noise_energy=100.0, longest=8) for _ in range(2))
    for core in (first, second):
        while core.counts[LENGTH] < 8:
            release(core, np.zeros(N, dtype=np.int64))
    rng = np.random.default_rng(1)
    for _ in range(20):
        rounds = [rng.choice([-0.5, 0.0, 0.25], size=N + 1) for _ in range(first.counts[LENGTH])]
        for costs in rounds:
            tell(first, costs)
        for k in rng.permutation(len(rounds)):
            tell(second, rounds[k])
        assert public_part(first) == public_part(second)
        assert first.counts[IN_BLOCK] == 0
