"""Laplace on the grid, blocks, and the choice between randomizers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import randomizers
from discreet.errors import InvalidArgument, NotCopyable, StaleState
from discreet.randomizers import Blocks, LaplaceOnGrid, OneBit, best_randomizer
from discreet.randomizers.blocks import best_length
from discreet.randomness import BitSource


def test_laplace_is_calibrated_in_exact_arithmetic():
    """Twice the units over the scale is at most epsilon."""
    for epsilon in (0.1, 1.0, 7.3):
        randomizer = LaplaceOnGrid(epsilon)
        assert 2 * randomizer.grid.units / randomizer.law.scale <= Fraction(epsilon)
        assert randomizer.second_moment == pytest.approx(1 + 8 / epsilon**2, rel=1e-5)
    assert LaplaceOnGrid(1.0).guarantee.local
    assert repr(LaplaceOnGrid(0.5)) == "LaplaceOnGrid(epsilon=0.5, cost_range=(-1.0, 1.0))"


def test_laplace_is_unbiased_and_has_its_law():
    """Seed 1, 4000 releases, Kolmogorov-Smirnov at 1e-6; 2/3 and 3/2 of the scale are rejected."""
    randomizer = LaplaceOnGrid(1.0, (0.0, 1.0), source=BitSource(seed=1))
    noise = [randomizer.estimate(randomizer.release(0.8)) - 0.8 for _ in range(4000)]
    for factor, fits in ((1, True), (2 / 3, False), (3 / 2, False)):
        assert bool(stats.kstest(noise, stats.laplace(scale=factor).cdf).pvalue > 1e-6) is fits


def test_sums_wrap_instead_of_telling_more(monkeypatch):
    """At the edge of 64 bits the sum is reduced, so it never shows how far the value pushed it over."""
    edge = np.array([2**63 - 1])
    monkeypatch.setattr("discreet.privacy.noise.sample", lambda law, count, source: edge)
    assert LaplaceOnGrid(1.0, units=10).release(1.0) == -(2**63) + 9
    assert LaplaceOnGrid(1.0, units=10).release(-1.0) == 2**63 - 11
    blocks = Blocks(1.0, units=10, length=1)
    assert blocks.add(1.0) < 0 < blocks.add(-1.0)


@pytest.mark.parametrize("epsilon", [0.05, 0.25, 0.5, 1.0])
def test_the_length_of_a_block_is_the_best(epsilon):
    """Against all lengths nearby, and close to sqrt(8) / epsilon."""
    chosen = best_length(Fraction(epsilon))
    cost = {length: length + 8 / (length * epsilon**2) for length in range(1, 200)}
    assert cost[chosen] == min(cost.values())
    assert abs(chosen - math.sqrt(8) / epsilon) < 1
    assert Blocks(epsilon).second_moment == pytest.approx(cost[chosen], rel=1e-5)


def test_blocks_release_means_and_nothing_between():
    """Seed 2: 3000 blocks of three, noise of the law of one value over three; 2/3 and 3/2 are rejected."""
    blocks = Blocks(1.0, (0.0, 1.0), length=3, source=BitSource(seed=2))
    errors = []
    for _ in range(3000):
        assert blocks.add(0.2) is None
        assert blocks.add(0.3) is None
        errors.append(blocks.add(0.7) - 0.4)
    for factor, fits in ((1, True), (2 / 3, False), (3 / 2, False)):
        assert bool(stats.kstest(errors, stats.laplace(scale=factor / 3).cdf).pvalue > 1e-6) is fits


def test_blocks_are_exclusive_states():
    """They hold an exact sum: saved and restored whole, stale ones refused, never copied."""
    blocks = Blocks(1.0, (0.0, 1.0), length=3, source=BitSource(seed=3))
    assert blocks.add(0.5) is None
    saved = blocks.to_bytes()
    restored = Blocks.from_bytes(saved, generation=1, source=BitSource(seed=4))
    blocks._source = BitSource(seed=4)
    assert [blocks.add(v) for v in (0.1, 0.9, 0.1)] == [restored.add(v) for v in (0.1, 0.9, 0.1)]
    assert restored.length == 3
    assert not restored.guarantee.private
    with pytest.raises(StaleState):
        Blocks.from_bytes(saved, generation=blocks.generation)
    with pytest.raises(NotCopyable):
        blocks.__reduce__()
    assert "0.5" not in repr(blocks)


def test_blocks_take_anything():
    """Wild values count as the midpoint or the ends."""
    blocks = Blocks(1.0, (0.0, 1.0), length=2, source=BitSource(seed=5))
    for strange in (None, float("nan"), "secret", 1e308):
        blocks.add(strange)
    assert blocks.generation == 4
    assert not blocks.guarantee.local
    with pytest.raises(InvalidArgument, match="length"):
        Blocks(1.0, length=0)


def test_one_bit_is_the_best_local_choice_at_every_epsilon():
    """By computed second moments."""
    for epsilon in np.geomspace(0.01, 20, 25):
        assert isinstance(best_randomizer(float(epsilon)), OneBit)


def test_blocks_win_below_an_epsilon_of_about_0_78():
    """Central only; the crossing moves a little because lengths are whole."""
    for epsilon in (0.05, 0.3, 0.7):
        assert isinstance(best_randomizer(epsilon, local=False), Blocks)
    for epsilon in (0.9, 1.0, 5.0):
        assert isinstance(best_randomizer(epsilon, local=False), OneBit)
    ideal = [
        epsilon
        for epsilon in np.arange(0.5, 1.0, 0.01)
        if OneBit(epsilon).second_moment < 4 * 2**0.5 / epsilon
    ]
    assert ideal[0] == pytest.approx(0.79, abs=0.011)


def loss_found_by_audit(release, grid_end, runs=20_000):
    """A lower bound on epsilon, 97.5% sure: how often is the outcome at or above the upper end?"""
    hits = [sum(release(end) >= grid_end for _ in range(runs)) for end in (1.0, -1.0)]
    low = stats.beta.ppf(0.0125, hits[0], runs - hits[0] + 1)
    high = stats.beta.ppf(1 - 0.0125, hits[1] + 1, runs - hits[1])
    return math.log(low / high)


def test_an_audit_finds_the_loss_and_catches_half_the_noise():
    """Seed 6, 20,000 runs on the two extreme values: 0.9 < found <= 1, and above 1 for a broken one."""
    honest = LaplaceOnGrid(1.0, source=BitSource(seed=6))
    found = loss_found_by_audit(honest.release, honest.grid.units)
    assert 0.9 < found <= 1.0
    broken = LaplaceOnGrid(2.0, source=BitSource(seed=6))  # would be half the noise for epsilon = 1
    assert loss_found_by_audit(broken.release, broken.grid.units) > 1.5


def test_unknown_names_are_told_as_such():
    """Lazily loaded packages still behave like modules."""
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        randomizers.Nothing  # noqa: B018 # the lookup is the test


def test_a_damaged_block_is_refused():
    """A saved block that claims to hold more values than fit would never close."""
    blocks = Blocks(1.0, length=2)
    blocks._count[0] = 7
    with pytest.raises(InvalidArgument, match="damaged"):
        Blocks.from_bytes(blocks.to_bytes(), generation=0)
