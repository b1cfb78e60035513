"""Variances: the figures of the theory, computed and measured."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import InvalidArgument
from discreet.prefix_sums import BinaryTree
from discreet.prefix_sums.spherical import SphericalTree, fill_gaussian, fill_spherical
from discreet.privacy import Budget, Neighbours, VectorBound
from discreet.randomness import BitSource

# One unit moves the sum by 2^-20 of the L1 bound, so discrete noise has the variance of real Laplace noise.
BOUND = VectorBound(coordinate=1 << 20, l1=1 << 20)
UNIT = (2 * BOUND.l1) ** 2  # the square of the L1 distance
ONE = Budget(epsilon=1.0)


@pytest.mark.parametrize(
    ("rounds", "variance"),
    [(2**10, 1210), (2**14, 3150), (2**20, 8820)],
)
def test_mean_variances_of_the_theory(rounds, variance):
    """In units of the squared L1 distance, epsilon = 1."""
    assert BinaryTree(1, rounds, BOUND, ONE).mean_variance / UNIT == pytest.approx(variance, rel=2e-3)


def measured_against_stated(sums, rounds):
    """Mean squared noise over rounds and coordinates, over the stated mean variance."""
    zero = np.zeros(sums.dimension, dtype=np.int64)
    square = 0.0
    for _ in range(rounds):
        square += float((sums.add(zero).values ** 2).mean())
    return square / rounds / sums.mean_variance


@pytest.mark.parametrize("budget", [ONE, Budget(rho=0.5)])
def test_measured_variances(budget):
    """Seed 1, T = 200, 2000 coordinates, alpha < 1e-6 by the normal limit.

    However rounds correlate, the mean of z^2 over the rounds of one coordinate has a
    relative deviation of at most sqrt(5), that of Laplace noise (kurtosis 6); over 2000
    independent coordinates 0.05. So 30% are six deviations. With 2/3 or 3/2 of the
    scale the ratio would be 0.44 or 2.25: rejected.
    """
    sums = BinaryTree(2000, 200, BOUND, budget, source=BitSource(seed=1))
    assert measured_against_stated(sums, 200) == pytest.approx(1, rel=0.3)


def test_neighbours_and_rounds_per_person_scale_the_noise():
    """Zeroing out needs half the noise of replacing; two rounds per person need twice as much."""
    base = BinaryTree(1, 100, BOUND, ONE).mean_variance
    zero_out = Budget(epsilon=1.0, neighbours=Neighbours.ZERO_OUT_ONE_ROUND)
    assert BinaryTree(1, 100, BOUND, zero_out).mean_variance == pytest.approx(base / 4)
    twice = BinaryTree(1, 100, BOUND, Budget(epsilon=1.0, rounds_per_person=2))
    assert twice.mean_variance == pytest.approx(4 * base)
    assert twice.guarantee.epsilon == 1.0
    gaussian = Budget(rho=0.5, rounds_per_person=3)
    assert BinaryTree(1, 100, BOUND, gaussian).mean_variance == pytest.approx(
        9 * BinaryTree(1, 100, BOUND, Budget(rho=0.5)).mean_variance
    )


def test_an_epsilon_that_needs_too_much_noise_is_refused_up_front():
    """Before any data, with the limit named."""
    with pytest.raises(InvalidArgument, match=r"2\*\*52"):
        BinaryTree(1, 2**20, BOUND, Budget(epsilon=Fraction(1, 2**40)))


def test_spherical_noise_has_a_gamma_length_and_a_uniform_direction():
    """Seed 4, 4000 vectors of length 5, Kolmogorov-Smirnov at 1e-6; 2/3 and 3/2 of the scale are rejected."""
    vectors = np.empty((4000, 5))
    bits = np.random.PCG64DXSM(4).random_raw(4000 * 11)
    cursor = 0
    for vector in vectors:
        done, cursor = fill_spherical(3.0, vector, 0, bits, cursor)
        assert done == 5
    lengths = np.linalg.norm(vectors, axis=1)
    for factor, fits in ((1, True), (2 / 3, False), (3 / 2, False)):
        assert bool(stats.kstest(lengths, stats.gamma(5, scale=3.0 * factor).cdf).pvalue > 1e-6) is fits
    cosines = vectors[:, 0] / lengths  # (1 + cosine)/2 of a uniform direction is Beta((n-1)/2, (n-1)/2)
    assert stats.kstest((cosines + 1) / 2, stats.beta(2, 2).cdf).pvalue > 1e-6


def test_float_gaussians():
    """Seed 5, 50,000 deviates, Kolmogorov-Smirnov at 1e-6; 2/3 and 3/2 are rejected; odd lengths work."""
    out = np.empty(50_001)
    bits = np.random.PCG64DXSM(5).random_raw(50_002)
    assert fill_gaussian(2.0, out, 0, bits, 0) == (50_001, 50_002)
    for factor, fits in ((1, True), (2 / 3, False), (3 / 2, False)):
        assert bool(stats.kstest(out, stats.norm(scale=2.0 * factor).cdf).pvalue > 1e-6) is fits
    assert fill_spherical(1.0, out, 0, bits[:10], 0) == (0, 0)


def test_the_spherical_tree_says_why_it_is_not_private():
    """Floats, and a sensitivity below the enforced one; the variance is (n+1) scale^2 a node."""
    tree = SphericalTree(4, 64, BOUND, ONE)
    assert not tree.guarantee.private
    assert "made of floating-point numbers" in tree.guarantee.reason
    enforced = math.sqrt(BOUND.squared_l2_distance())
    assert tree.sensitivity == pytest.approx(enforced)
    assert tree.mean_variance == pytest.approx(5 * (7 * enforced) ** 2 * (193 / 64))
    published = SphericalTree(4, 64, BOUND, ONE, sensitivity=enforced / 2)
    assert "the true one is" in str(published.guarantee)
    many = SphericalTree(1500, 64, BOUND, ONE, source=BitSource(seed=6))
    assert measured_against_stated(many, 64) == pytest.approx(1, rel=0.3)
    with pytest.raises(InvalidArgument, match="epsilon"):
        SphericalTree(4, 64, BOUND, Budget(rho=1.0))
