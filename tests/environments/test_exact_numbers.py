"""Numbers on a grid: where they go, and that their sums are exact."""

import math

import numpy as np

from discreet.environments.exact_numbers import towards_zero


def test_rounding_is_towards_zero_and_small() -> None:
    """By less than 2^-30, and numbers on the grid stay."""
    numbers = np.random.default_rng(0).normal(size=1000)
    rounded = towards_zero(numbers)
    assert np.all(np.abs(rounded) <= np.abs(numbers))
    assert np.all(np.abs(rounded - numbers) < 2.0**-30)
    np.testing.assert_array_equal(towards_zero(rounded), rounded)


def test_sums_are_exact_in_any_order() -> None:
    """Which they are not for the numbers before."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=1000)
    rounded = towards_zero(numbers)
    orders = [rng.permutation(1000) for _ in range(20)]
    assert {float(np.cumsum(rounded[order])[-1]) for order in orders} == {math.fsum(rounded)}
    assert len({float(np.cumsum(numbers[order])[-1]) for order in orders}) > 1
