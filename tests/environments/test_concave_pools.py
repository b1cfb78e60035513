"""Concave functions of cardinality with prices: the functions from the definition."""

import numpy as np
import pytest

from discreet import DiscreetError
from discreet.environments import concave_with_prices


def test_the_recipe_gives_these_functions() -> None:
    """Against the definition, set by set, from the same draws."""
    n, height, seed = 4, 3.0, 3
    pool = concave_with_prices(n, 20, functions=6, height=height, spread=0.5, seed=seed)
    rng = np.random.default_rng(seed)
    for values in pool.compiled.values:
        h = height / n**0.5 * rng.random()
        prices = np.array([-1, 1, -1, 1]) + 0.5 * rng.normal(size=n)
        sets = [[i for i in range(n) if code >> i & 1] for code in range(2**n)]
        slow = np.array([h * ((len(s) * n) ** 0.5 - len(s)) + prices[s].sum() for s in sets])
        expected = 2 * (slow - slow.min()) / (slow.max() - slow.min()) - 1
        np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: concave_with_prices(17, 9), "The 'n' of concave_with_prices .* from 1 to 16."),
        (lambda: concave_with_prices(3, 9, height=-1), "The 'height' of concave_with_prices"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
