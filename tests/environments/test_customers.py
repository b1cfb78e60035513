"""Customers: their functions from the definition, exact totals and the range."""

import math

import numpy as np
import pytest
from stream_checks import (
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
)

from discreet import DiscreetError
from discreet.environments import Customers, CustomerStream
from discreet.environments.customers import towards_zero
from discreet.set_functions import is_submodular


def random_customers(n: int, count: int, seed: int) -> Customers:
    """With groups of all sizes, and some who want nothing."""
    rng = np.random.default_rng(seed)
    groups = [rng.choice(n, rng.integers(1, n + 1), replace=False) for _ in range(8)]
    wishes = [{k: rng.random() for k in range(8) if rng.random() < 0.3} for _ in range(count - 1)]
    return Customers(rng.random(n), groups, [*wishes, {}])


def random_stream(n: int, rounds: int, seed: int) -> CustomerStream:
    people = random_customers(n, 10, seed)
    return CustomerStream(people, np.random.default_rng(seed + 1).integers(10, size=rounds))


@pytest.mark.parametrize("n", [1, 4, 30])
def test_costs_and_total(n: int) -> None:
    """Compiled costs are the functions' values; the total is their sum; no cost leaves the range."""
    stream = random_stream(n, 40, seed=n)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, stream.cost_range)


def test_each_function_is_prices_minus_fulfilled_wishes() -> None:
    """From the definition, up to rounding to 2^-30."""
    rng = np.random.default_rng(0)
    prices = rng.random(5)
    groups = [[0], [1, 2], [4, 3, 0]]
    wishes = [{0: 0.3, 1: 0.5}, {2: 0.7}, {}]
    people = Customers(prices, groups, wishes)
    for code in range(2**5):
        chosen = {i for i in range(5) if code >> i & 1}
        for k, wanted in enumerate(wishes):
            fulfilled = sum(value for g, value in wanted.items() if chosen.issuperset(groups[g]))
            expected = prices[sorted(chosen)].sum() - fulfilled
            assert people.function(k)(chosen) == pytest.approx(expected, abs=1e-8)
    assert is_submodular(people.function(0))


def test_totals_are_exact() -> None:
    """The sum of two million costs, one after the other, is the total to the last bit."""
    people = random_customers(6, 10, seed=3)
    choice = np.random.default_rng(4).integers(10, size=2_000_000)
    stream = CustomerStream(people, choice)
    chosen = [0, 2, 3, 5]
    costs = np.array([people.function(k)(chosen) for k in range(10)])
    assert stream.total(chosen) == np.cumsum(costs[choice])[-1]
    assert stream.total_until(777)(chosen) == costs[choice[:777]].sum()


def test_the_range_is_of_all_prices_and_the_greediest_customer() -> None:
    """Nobody can get more than everything they want, or pay more than all prices."""
    people = Customers([0.25, 0.5], [[0], [0, 1]], [{0: 0.5, 1: 0.75}, {0: 1.0}, {}])
    assert people.cost_range == (-1.25, 0.75)


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


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Customers([], [], [{}]), "The 'number of items' of Customers"),
        (lambda: Customers([-0.1], [], [{}]), "The 'prices' of Customers must be nonnegative."),
        (lambda: Customers([0.1], [[1]], [{}]), "The 'groups' of Customers"),
        (lambda: Customers([0.1], [[]], [{}]), "must have items. Got an empty one"),
        (lambda: Customers([0.1], [[0]], []), "The 'wishes' of Customers"),
        (lambda: Customers([0.1], [[0]], [{1: 0.5}]), "The 'wishes' of Customers must hold"),
        (lambda: Customers([0.1], [[0]], [{0: -1.0}]), "The 'wishes' of Customers must be nonnegative"),
        (lambda: CustomerStream(Customers([0.1], [[0]], [{}]), [1]), "The 'choice' of CustomerStream"),
        (lambda: CustomerStream(Customers([0.1], [[0]], [{}]), []), "'number of rounds' of CustomerStream"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
