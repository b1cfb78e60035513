"""Why floating-point noise never counts as private: an attack on it that exact noise withstands."""

import math

import numpy as np
import pytest
from prefix_sum_makers import BOUND, MAKERS, stream

from discreet.auditing.statistics import loss_lower_bound
from discreet.prefix_sums.spherical import fill_gaussian
from discreet.privacy.noise import gaussian, sample
from discreet.randomness import BitSource

CELLS = 2**53
SIGMA = 6.99018162e8  # for (1, 1e-6) over a thousand rounds of gradients in units of 2^-24
HERE, THERE = 167_772.0, 169_450.0  # 0.01 and 0.0101 in such units: neighbours
N, RUNS = 8, 400


def with_floats(total: float, source: BitSource) -> np.ndarray:
    """A noisy sum as a learner with Gaussian noise made of floats would release it."""
    noise = np.empty(N)
    source.feed(lambda done, bits, cursor: fill_gaussian(SIGMA, noise, done, bits, cursor), N)
    return total + noise


def with_integers(total: float, source: BitSource) -> np.ndarray:
    """The same with exact discrete Gaussian noise."""
    return total + sample(gaussian(round(SIGMA)), N, source)


def is_possible(first: float, second: float, total: float) -> bool:
    """Whether any two random bits give exactly these two numbers, if this is the sum.

    Box and Muller make two deviates of two uniform multiples of 2^-53. Those are solved for, and all
    that lie within rounding errors are tried.
    """
    x, y = first - total, second - total
    radius = math.exp(-(x * x + y * y) / (2 * SIGMA**2)) * CELLS
    angle = math.atan2(y, x) / (2 * math.pi) % 1.0 * CELLS
    bits = [
        (max(1, min(CELLS, round(cell) + k)) - 1) << 11
        for j in range(-4, 5)
        for k in range(-8, 9)
        for cell, k in ((radius, k), (angle, j))
    ]
    made = np.empty(len(bits))
    fill_gaussian(SIGMA, made, 0, np.array(bits, dtype=np.uint64), 0)
    made += total
    return bool(np.any((made[0::2] == first) & (made[1::2] == second)))


def ruled_out(released: np.ndarray, total: float) -> bool:
    return not all(is_possible(*released[i : i + 2].tolist(), total) for i in range(0, N, 2))


@pytest.mark.parametrize(("mechanism", "holds"), [(with_floats, False), (with_integers, True)])
def test_low_bits_of_float_noise_rule_out_the_neighbour(mechanism, holds):
    """Seed 1, 400 runs each, 99% confidence: the claim (1, 1e-6) is refuted for floats, not for integers.

    The event is that the released numbers are impossible if the sum is THERE.
    """
    source = BitSource(seed=1)
    hits = sum(ruled_out(mechanism(HERE, source), THERE) for _ in range(RUNS))
    alarms = sum(ruled_out(mechanism(THERE, source), THERE) for _ in range(RUNS))
    proved = float(loss_lower_bound(hits, alarms, RUNS, delta=1e-6, confidence=0.99))
    assert (proved <= 1.0) is holds
    assert holds or proved > 4.0


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_private_releases_whole_numbers_of_units(name):
    """There are no low bits to look at: sums of integers, or the guarantee is void."""
    sums = MAKERS[name](5, None)
    released = np.array([sums.add(vector).values for vector in stream(30, 5)]) / BOUND.step
    assert bool(np.all(released == np.rint(released))) is sums.guarantee.private
