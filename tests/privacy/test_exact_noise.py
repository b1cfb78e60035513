"""Exact noise: against its law, against another library, and against unbounded integers."""

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import InvalidArgument
from discreet.privacy.noise import LARGEST_SCALE, Law, fill, gaussian, laplace, sample, variance
from discreet.randomness import BitSource

ALPHA = 1e-6
COUNT = 100_000


def weights(law, scale, z):
    """Unnormalised probabilities of the integers z."""
    if law.kind == laplace(Fraction(1)).kind:
        return np.exp(-np.abs(z) / scale)
    return np.exp(-0.5 * (z / scale) ** 2)


def fit(samples, law, scale):
    """P-value of a chi-square test of samples against the law with the given scale.

    Cells are unions of integers with at least 50 samples expected in each.
    """
    reach = math.ceil(60 * scale) + 60
    z = np.arange(-reach, reach + 1)
    probability = weights(law, scale, z)
    probability /= probability.sum()
    cumulative = np.cumsum(probability)
    cells = min(60, max(2, int(samples.size * probability.min(initial=1, where=probability > 0.02)) // 50))
    edges = np.unique(np.searchsorted(cumulative, np.arange(1, cells) / cells))
    expected = np.diff(np.concatenate([[0.0], cumulative[edges], [1.0]])) * samples.size
    observed = np.bincount(np.searchsorted(z[edges], samples, side="left"), minlength=edges.size + 1)
    keep = expected > 20
    return stats.chisquare(
        observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum()
    ).pvalue


LAWS = [
    Law(0, 1, 1),  # a grid of one cell: ties all the time
    Law(0, 3, 2),
    Law(0, 2, 7),
    laplace(Fraction(1, 3)),
    laplace(Fraction(7, 2)),
    laplace(Fraction(1000)),
    Law(1, 1, 1),
    Law(1, 3, 2),
    Law(1, 2, 5),
    gaussian(Fraction(7, 2)),
    gaussian(Fraction(1000)),
]


@pytest.mark.parametrize("law", LAWS)
def test_samples_follow_their_law_and_no_other(law):
    """Seed 2, 100,000 samples, alpha = 1e-6: the scale fits; 2/3 and 3/2 of it do not."""
    samples = sample(law, COUNT, BitSource(seed=2))
    scale = law.numerator / law.denominator
    assert fit(samples, law, scale) > ALPHA
    assert fit(samples, law, scale * 2 / 3) < ALPHA
    assert fit(samples, law, scale * 3 / 2) < ALPHA


@pytest.mark.parametrize("law", LAWS)
def test_single_probabilities_and_the_sign(law):
    """Seed 3, 100,000 samples, alpha = 1e-6 each: z = -2..2 have their exact probabilities."""
    samples = sample(law, COUNT, BitSource(seed=3))
    scale = law.numerator / law.denominator
    z = np.arange(-math.ceil(80 * scale) - 80, math.ceil(80 * scale) + 81)
    probability = weights(law, scale, z) / weights(law, scale, z).sum()
    for value in range(-2, 3):
        exact = probability[z == value][0]
        assert stats.binomtest(int((samples == value).sum()), COUNT, exact).pvalue > ALPHA
    assert stats.binomtest(int((samples > 0).sum()), int((samples != 0).sum()), 0.5).pvalue > ALPHA


@pytest.mark.parametrize("law", [laplace(Fraction(40 << 20)), gaussian(Fraction(1 << 27))])
def test_moments_at_a_working_scale(law):
    """Seed 4, 100,000 samples, alpha = 1e-6: mean and variance, by their normal limits; 2/3 and 3/2 fail."""
    samples = sample(law, COUNT, BitSource(seed=4)).astype(float)
    limit = stats.norm.isf(ALPHA / 2)
    kurtosis = 6.0 if law.kind == 0 else 3.0

    def score(scale_factor):
        expected = variance(law) * scale_factor**2
        return ((samples**2).mean() / expected - 1) / math.sqrt((kurtosis - 1) / COUNT)

    assert abs(samples.mean()) < limit * math.sqrt(variance(law) / COUNT)
    assert abs(score(1)) < limit
    assert abs(score(2 / 3)) > limit
    assert abs(score(3 / 2)) > limit


def test_the_variance_is_that_of_the_law():
    """Against the sum over outcomes."""
    z = np.arange(-4000, 4001)
    for law in (laplace(Fraction(1, 2)), laplace(Fraction(7)), gaussian(Fraction(3))):
        p = weights(law, float(law.scale), z)
        assert variance(law) == pytest.approx((p * z**2).sum() / p.sum(), rel=1e-6)


@pytest.mark.parametrize(("ours", "kind"), [(laplace, "laplace"), (gaussian, "gaussian")])
def test_another_library_draws_from_the_same_law(ours, kind):
    """Seed 5, 40,000 samples each, two-sample chi-square, alpha = 1e-6; 2/3 and 3/2 of the scale differ."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), (dp.l1_distance(T=int) if kind == "laplace" else None)
    if kind == "laplace":
        measure = dp.m.make_laplace(*space, scale=4.0)
    else:
        measure = dp.m.make_gaussian(space[0], dp.l2_distance(T=float), scale=4.0)
    theirs = np.array(measure([0] * 40_000))
    edges = np.arange(-12.5, 13)

    def compare(scale):
        mine = sample(ours(scale), 40_000, BitSource(seed=5))
        table = [
            np.histogram(np.clip(x, -13, 13), np.concatenate([[-14], edges, [14]]))[0] for x in (mine, theirs)
        ]
        return stats.chi2_contingency(table).pvalue

    assert compare(Fraction(4)) > ALPHA
    assert compare(Fraction(8, 3)) < ALPHA
    assert compare(Fraction(6)) < ALPHA


@pytest.mark.parametrize("law", [laplace(Fraction(5)), Law(0, 1, 1), gaussian(Fraction(5, 2))])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_tiny_buffers_give_the_same_samples(law, batch):
    """Running dry in the middle of nearly every sample changes no sample."""
    big = np.empty(300, dtype=np.int64)
    bits = np.random.PCG64DXSM(8).random_raw(20_000)
    assert fill(law, big, 0, bits, 0)[0] == 300

    position = 0

    def fresh():
        def draw(_count):
            nonlocal position
            position += batch
            return bits[position - batch : position]

        return draw

    assert np.array_equal(sample(law, 300, BitSource(fresh=fresh)), big)


class Words:
    """Words as Python integers, and exact uniform integers from them."""

    def __init__(self, bits):
        self.bits = iter(map(int, bits))

    def below(self, bound):
        """A value and a spare bit."""
        while True:
            word = next(self.bits)
            high, low = divmod((word >> 1) * bound, 2**63)
            if low >= 2**63 % bound:
                return high, word & 1


def laplace_reference(top, bottom, bits):
    """The sampler in unbounded integers: no wrapping, no incremental remainders."""
    while True:
        failures = 0
        while True:
            cell, negative = bits.below(top)
            length, previous, ties = 0, cell, 1
            while True:
                following, _ = bits.below(top)
                ties = ties + 1 if following == previous else 1
                if following > previous or (ties > 1 and bits.below(ties)[0] != 0):
                    break
                length, previous = length + 1, following
            if length % 2 == 0:
                break
            failures += 1
        magnitude = (failures * top + cell) // bottom
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def coin_reference(x, cells, bits, k=None):
    """A coin of bias exp(-y), y = x / cells, or for a whole k of bias exp(-y (2k + y) / (2k + 2))."""
    length, previous, ties = 0, x - 1, 0
    while True:
        following, _ = bits.below(cells)
        ties = ties + 1 if following == previous else 1
        if following > previous or (ties > 1 and bits.below(ties)[0] != 0):
            return length % 2 == 0
        if k is not None:
            side, _ = bits.below(2 * k + 2)
            if side > 2 * k or (side == 2 * k and bits.below(cells)[0] >= x):
                return length % 2 == 0
        length, previous = length + 1, following


def gaussian_reference(top, bottom, bits):
    """Rejection from the Laplace reference, with the distance from one as a fraction."""
    while True:
        value = laplace_reference(top, bottom, bits)
        distance = abs(Fraction(abs(value) * bottom, top) - 1)
        k = math.floor(distance)
        x = (distance - k) * top
        assert x.denominator == 1
        if all(coin_reference(2**31, 2**32, bits) for _ in range(k * k)) and all(
            coin_reference(int(x), top, bits, k) for _ in range(k + 1)
        ):
            return value


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(
    ("top", "bottom"),
    [(1, 1), (3, 2), (2, 7), (2**60, 1), (2**60 - 1, 3), (5, 2**60 - 1), (2**60, 2**60 - 1)],
)
def test_results_are_exact_modulo_two_to_64(kind, top, bottom):
    """At the largest numerators some samples exceed 63 bits, and wrap as they must."""
    bits = np.random.PCG64DXSM(9).random_raw(120_000)
    out = np.empty(400, dtype=np.int64)
    assert fill(Law(kind, top, bottom), out, 0, bits, 0)[0] == 400
    reference, remaining = (gaussian_reference if kind else laplace_reference), Words(bits)
    exact = [reference(top, bottom, remaining) for _ in range(400)]
    assert [int(z) % 2**64 for z in out] == [z % 2**64 for z in exact]
    if (kind, top, bottom) == (0, 2**60, 1):
        assert max(map(abs, exact)) >= 2**62


def test_a_negative_zero_is_told_from_a_magnitude_that_wraps_to_zero():
    """Sixteen failures of scale 2^60 add up to 2^64, which is zero in 64 bits but not a zero."""
    top = 2**60
    zero, one = 0, 2 * (2**63 // top + 1)  # bits whose cells are 0 and 1
    failing = [one, zero, one]  # cell 1, then a smaller cell, then a larger one: a run of length 1
    accepted = [1, one]  # cell 0 with the negative sign, then a larger cell: a run of length 0
    out = np.empty(1, dtype=np.int64)
    bits = np.array(failing * 16 + accepted, dtype=np.uint64)
    assert fill(Law(0, top, 1), out, 0, bits, 0) == (1, bits.size)
    assert out[0] == 0
    assert laplace_reference(top, 1, Words(bits)) == -(2**64)
    truly_zero = np.array([*accepted, 0, one], dtype=np.uint64)
    assert fill(Law(0, top, 1), out, 0, truly_zero, 0) == (1, truly_zero.size)  # the first is rejected


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=LARGEST_SCALE))
def test_a_scale_is_never_rounded_down(scale):
    """And hardly up: by at most 2^-20 of itself, or 2^-31 where it is tiny."""
    for law in (laplace(scale), gaussian(scale)):
        assert scale <= law.scale <= scale + max(scale / 2**20, Fraction(1, 2**31))
        assert 0 < law.numerator < 2**61
        assert 0 < law.denominator < 2**61


@given(st.floats(1e-3, 50.0), st.integers(1, 2**30))
def test_scales_of_float_budgets_are_taken_exactly(epsilon, distance):
    """The scale for epsilon is at least distance / epsilon in exact arithmetic."""
    law = laplace(distance / Fraction(epsilon))
    assert law.scale * Fraction(epsilon) >= distance


@pytest.mark.parametrize("bad", [0, -1, Fraction(-1, 2), 1.5, "1", True, LARGEST_SCALE + 1, None])
def test_bad_scales_are_refused_up_front(bad):
    """With an error that names what was wrong."""
    with pytest.raises(InvalidArgument, match="scale"):
        laplace(bad)
