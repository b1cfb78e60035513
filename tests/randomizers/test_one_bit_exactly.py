"""One bit has two outcomes, so its privacy and its mean are checked exactly, with fractions."""

import math
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import InvalidArgument
from discreet.kernel.releases import release_bits
from discreet.randomizers import CENTRE, OneBit, bit_of
from discreet.randomness import BitSource

EPSILON = st.one_of(st.floats(1e-6, 60.0), st.fractions(min_value=Fraction(1, 1000), max_value=60))
UNITS = st.sampled_from([1, 2, 7, 1000, 1 << 20, 1 << 28])


def at_most_exp(ratio, epsilon):
    """Whether ratio <= exp(epsilon), decided by an enclosure in 400 digits that must not be close."""
    with mpmath.workdps(400):
        bound = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        return mpmath.mpf(ratio.numerator) / ratio.denominator <= bound


@given(EPSILON, UNITS)
def test_no_likelihood_ratio_exceeds_exp_epsilon(epsilon, units):
    """The extremes are at the ends of the range, for a one and for a zero; all thresholds are integers."""
    randomizer = OneBit(epsilon, units=units)
    high, low = randomizer.probability_of_one(units), randomizer.probability_of_one(-units)
    assert 0 < low < high < 1
    for ratio in (high / low, (1 - low) / (1 - high)):
        assert at_most_exp(ratio, Fraction(epsilon))


@given(st.floats(0.01, 20.0), UNITS)
def test_the_threshold_is_not_wasteful(epsilon, units):
    """One step more of slope would break the bound: the rounding is inwards, and by one step only."""
    randomizer = OneBit(epsilon, units=units)
    edge = units * (randomizer.slope + 1)
    assert not at_most_exp(Fraction(CENTRE + edge, CENTRE - edge), Fraction(epsilon))


@given(EPSILON, UNITS, st.floats(-1, 1))
def test_the_estimate_is_unbiased_for_the_grid_value_exactly(epsilon, units, value):
    """P(1) c - P(0) c = v in fractions, and the second moment is c^2 for every value."""
    randomizer = OneBit(epsilon, units=units)
    v = randomizer.grid.of(value)
    one = randomizer.probability_of_one(v)
    assert one * randomizer.magnitude - (1 - one) * randomizer.magnitude == v
    assert randomizer.second_moment == pytest.approx(float(randomizer.magnitude / units) ** 2)


def test_the_second_moment_is_the_minimax_one():
    """C = (e^eps + 1) / (e^eps - 1), to the resolution of the thresholds: 4.68 at epsilon 1."""
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        ideal = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
        assert OneBit(epsilon).second_moment == pytest.approx(ideal**2, rel=1e-10)
    assert OneBit(1.0).second_moment == pytest.approx(4.68, abs=0.005)


@given(st.integers(-100, 100), st.integers(0, 2**63 - 1))
def test_the_rule_counts_exactly_its_threshold(v, uniform):
    """The bit is 1 for exactly CENTRE + v slope of the 2^63 uniform integers."""
    slope = OneBit(2.0, units=100).slope
    threshold = CENTRE + v * slope
    assert bit_of(v, slope, threshold - 1)
    assert not bit_of(v, slope, threshold)
    assert bit_of(v, slope, uniform) == (uniform < threshold)


def test_measured_frequency():
    """Seed 1, 40,000 bits, alpha = 1e-6: the stated probability fits, that of epsilon 2/3 or 3/2 does not."""
    randomizer = OneBit(1.0, (0.0, 1.0), source=BitSource(seed=1))
    ones = sum(randomizer.release(0.9) for _ in range(40_000))

    def p_value(epsilon):
        one = OneBit(epsilon, (0.0, 1.0))
        return stats.binomtest(ones, 40_000, float(one.probability_of_one(one.grid.of(0.9)))).pvalue

    assert p_value(1.0) > 1e-6
    assert p_value(2 / 3) < 1e-6
    assert p_value(3 / 2) < 1e-6


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 2**32))
def test_compiled_and_interpreted_bits_agree(value, seed):
    """The client's bit and the kernel's bit, from the same word."""
    randomizer = OneBit(1.5, (-2.0, 5.0), source=BitSource(seed=seed))
    bits = np.random.PCG64DXSM(seed).random_raw(1)
    grid, out = randomizer.grid, np.zeros(2, dtype=np.int64)
    values = np.array([value, value])
    done = release_bits(values, grid.low, grid.high, grid.units, randomizer.slope, out, 0, bits, 0)
    assert done == (1, 1)  # there are random bits for one of them
    assert out[0] == randomizer.release(value)


def test_estimates_lie_around_the_midpoint():
    """In the caller's units; what is no number counts as the midpoint."""
    randomizer = OneBit(1.0, (10.0, 14.0), source=BitSource(seed=2))
    assert (randomizer.estimate(1) + randomizer.estimate(0)) / 2 == pytest.approx(12.0)
    assert randomizer.estimate(1) - 12.0 == pytest.approx(2.0 * math.sqrt(4.6827), rel=1e-4)
    for strange in (None, "secret", float("nan"), [1]):
        assert randomizer.release(strange) in (0, 1)


def test_its_guarantee():
    """Local, exact, and void with a seed."""
    promise = OneBit(1.0).guarantee
    assert (promise.epsilon, promise.local, promise.private) == (1.0, True, True)
    assert not OneBit(1.0, source=BitSource(seed=1)).guarantee.private
    assert repr(OneBit(0.5)) == "OneBit(epsilon=0.5, cost_range=(-1.0, 1.0))"


def test_an_epsilon_below_the_resolution_is_refused():
    """Rather than rounded up."""
    with pytest.raises(InvalidArgument, match="epsilon"):
        OneBit(Fraction(1, 10**15), units=1 << 28)
    with pytest.raises(InvalidArgument, match="epsilon"):
        OneBit(0.0)


def test_a_client_needs_no_compiler():
    """Randomising a bit loads neither numba nor scipy nor the cipher library."""
    code = (
        "import sys, discreet; discreet.randomizers.OneBit(1.0, (0, 1)).release(0.3);"
        "print([m for m in ('numba', 'scipy', 'cryptography') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
