"""What all pools of functions with prices share: scaling, seeds, and messages."""

import numpy as np
import pytest

from discreet import DiscreetError
from discreet.environments import Pool
from discreet.environments.priced_pools import priced_pool
from discreet.set_functions import Iwata, Modular, SetFunction

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
