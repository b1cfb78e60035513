"""Coverage with prices: the functions from the definition."""

import numpy as np
import pytest

from discreet import DiscreetError
from discreet.environments import coverage_with_prices


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
