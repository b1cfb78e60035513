"""The bound for nonnegative numbers of any size: its supermartingale, and how often it holds."""

import itertools

import numpy as np
import pytest
from scipy import stats

from discreet.evaluation.bounds import _PRICES, _STEPS, deviation, lower_bound

ALPHA = 1e-6


def test_it_is_a_supermartingale() -> None:
    """Exactly, for laws on two points: the least favourable ones for a given mean."""
    for mean, guess, other in itertools.product((0.0, 0.1, 0.5, 1.0), (0.0, 0.3, 1.0), (1.0, 2.0, 30.0, 1e4)):
        for least in {0.0, min(mean, 0.05)}:
            if not least <= mean <= other:
                continue
            chance = (mean - least) / (other - least)
            values, chances = np.array([least, other]), np.array([1 - chance, chance])
            for step, price in zip(_STEPS, _PRICES, strict=True):
                factors = np.exp(step * (values - mean) - price * (values - guess) ** 2)
                assert factors @ chances <= 1 + 1e-12


def test_too_small_a_price_would_be_noticed() -> None:
    """With half the price of squares the expectation exceeds 1."""
    step, price = _STEPS[0], _PRICES[0] / 2
    values, chances = np.array([0.0, 2.0]), np.array([0.5, 0.5])
    assert np.exp(step * (values - 1.0) - price * (values - 1.0) ** 2) @ chances > 1


def test_the_mixture_is_inverted() -> None:
    """At the deviation it is 1 / alpha; more squares or less alpha allow for more."""
    for squares, alpha in itertools.product((0.25, 10.0, 1e5), (0.1, 1e-3)):
        mixture = np.mean(np.exp(_STEPS * deviation(squares, alpha) - _PRICES * squares))
        assert mixture == pytest.approx(1 / alpha, rel=1e-6)
        assert deviation(2 * squares, alpha) > deviation(squares, alpha)
        assert deviation(squares, alpha / 2) > deviation(squares, alpha)


@pytest.mark.parametrize("largest", [1.0, 50.0, 2000.0])
def test_it_holds_for_rare_and_large_numbers(largest: float) -> None:
    """As often as it says; twice the lower bound's distance is not needed, a tenth is too little."""
    rng, rounds, alpha, repeats = np.random.default_rng(3), 500, 0.1, 400
    mean, above, too_near = 0.4, 0, 0
    for _ in range(repeats):
        values = largest * (rng.random(rounds) < mean / largest)
        bound = lower_bound(values, alpha)
        above += bound > mean
        too_near += values.mean() - 0.1 * (values.mean() - bound) > mean
    limit = stats.binom.isf(ALPHA, repeats, alpha)
    assert above <= limit
    if largest < 100:  # beyond that most samples have no large number at all
        assert too_near > limit


def test_many_rounds_make_it_narrow() -> None:
    """Within a factor of two of what the central limit theorem would give."""
    rng = np.random.default_rng(4)
    values = 10.0 * (rng.random(200_000) < 0.04)
    distance = values.mean() - lower_bound(values, 0.025)
    assert 1.0 < distance / (1.96 * values.std() / np.sqrt(values.size)) < 2.0
