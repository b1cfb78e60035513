"""Coverage with prices: the functions from the definition, and the best set."""

import numpy as np
import pytest
from stream_checks import assert_compiled_costs_are_values, assert_total_is_the_sum, gap_of_the_best

from discreet import DiscreetError, minimize
from discreet.environments import coverage_with_prices
from discreet.set_functions import is_submodular


def test_the_recipe_gives_these_functions() -> None:
    """Against the definition, set by set, from the same draws."""
    n, targets, covered, seed = 4, 5, 0.4, 3
    pool = coverage_with_prices(n, 20, functions=6, targets=targets, covered=covered, spread=0.5, seed=seed)
    rng = np.random.default_rng(seed)
    for values in pool.compiled.values:
        needs, costs = rng.random((n, targets)) < covered, rng.random(targets)
        reward = costs[needs.any(axis=0)].sum() / n
        prices = np.array([-1, 1, -1, 1]) + 0.5 * rng.normal(size=n)
        masks = [np.array([code >> i & 1 == 1 for i in range(n)]) for code in range(2**n)]
        slow = np.array([costs[needs[m].any(axis=0)].sum() + (prices - reward)[m].sum() for m in masks])
        expected = 2 * (slow - slow.min()) / (slow.max() - slow.min()) - 1
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_costs_and_total() -> None:
    """It is a pool like any other, of submodular functions."""
    pool = coverage_with_prices(5, 30, functions=5, seed=2)
    assert_compiled_costs_are_values(pool)
    assert_total_is_the_sum(pool)
    assert all(is_submodular(f) for f in pool.functions)


@pytest.mark.parametrize("n", [4, 8, 10])
def test_every_other_item_is_best(n: int) -> None:
    """Clearly better than the empty, the full and a random set."""
    for seed in range(3):
        pool = coverage_with_prices(n, 4096, seed=seed)
        assert minimize(pool.total).set == set(range(0, n, 2))
        assert gap_of_the_best(pool) > 0.15


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: coverage_with_prices(17, 9), "The 'n' of coverage_with_prices .* from 1 to 16."),
        (lambda: coverage_with_prices(3, 9, targets=0), "The 'targets' of coverage_with_prices"),
        (lambda: coverage_with_prices(3, 9, covered=2), "The 'covered' of coverage_with_prices"),
        (
            lambda: coverage_with_prices(3, 9, covered=0, bias=0, spread=0),
            "coverage_with_prices must give functions that vary",
        ),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
