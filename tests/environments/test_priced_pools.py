"""What all pools of functions with prices share: scaling, the best set, seeds, and messages."""

from collections.abc import Callable

import numpy as np
import pytest
from stream_checks import assert_compiled_costs_are_values, assert_total_is_the_sum, gap_of_the_best

from discreet import DiscreetError, minimize
from discreet.environments import Pool, concave_with_prices, coverage_with_prices, cuts_with_prices
from discreet.environments.priced_pools import priced_pool
from discreet.set_functions import Iwata, Modular, SetFunction, is_submodular

PLAIN = {"functions": 4, "bias": 1.0, "spread": 0.5, "seed": 3}


def flat(rng: np.random.Generator, n: int) -> SetFunction:
    return Modular(np.zeros(n))


def test_prices_alternate_and_values_fill_the_range() -> None:
    """From the definition and the same draws; no value leaves [-1, 1], not even by rounding."""
    pool = priced_pool("here", lambda rng, n: (1 + rng.random()) * Iwata(n), 5, 20, **PLAIN)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    for values in pool.compiled.values:
        drawn = (1 + rng.random()) * Iwata(5)
        raw = drawn + Modular(np.array([-1, 1, -1, 1, -1]) + 0.5 * rng.normal(size=5))
        slow = raw.table().values
        expected = 2 * (slow - slow.min()) / (slow.max() - slow.min()) - 1
        np.testing.assert_allclose(values, expected, atol=1e-12)
    assert -1 <= pool.cost_range[0] < pool.cost_range[1] <= 1
    np.testing.assert_array_equal(pool.compiled.choice, Pool(pool.functions, 20, seed=1003).compiled.choice)


@pytest.mark.parametrize("make", [concave_with_prices, coverage_with_prices, cuts_with_prices])
def test_costs_and_total(make: Callable[..., Pool]) -> None:
    """Each is a pool like any other, of submodular functions."""
    pool = make(5, 30, functions=5, seed=2)
    assert_compiled_costs_are_values(pool)
    assert_total_is_the_sum(pool)
    assert all(is_submodular(f) for f in pool.functions)


@pytest.mark.parametrize("n", [4, 8, 10])
@pytest.mark.parametrize(("make", "gap"), [(concave_with_prices, 0.4), (coverage_with_prices, 0.15)])
def test_every_other_item_is_best(make: Callable[..., Pool], gap: float, n: int) -> None:
    """Clearly better than the empty, the full and a random set."""
    for seed in range(3):
        pool = make(n, 4096, seed=seed)
        assert minimize(pool.total).set == set(range(0, n, 2))
        assert gap_of_the_best(pool) > gap


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 17}, "The 'n' of here must be a whole number from 1 to 16. Got 17 instead."),
        ({"rounds": 0}, "The 'rounds' of here"),
        ({"functions": 0}, "The 'functions' of here"),
        ({"bias": float("nan")}, "The 'bias' of here"),
        ({"spread": -1}, "The 'spread' of here must be a nonnegative number"),
        ({"seed": -1}, "The 'seed' of here"),
        ({"bias": 0, "spread": 0}, "The arguments of here must give functions that vary."),
    ],
)
def test_bad_arguments_are_named(change: dict[str, object], message: str) -> None:
    """As everywhere."""
    arguments = {"n": 3, "rounds": 10} | PLAIN | change
    with pytest.raises(DiscreetError, match=message):
        priced_pool("here", flat, **arguments)  # type: ignore[arg-type]
