"""Pools of random cuts with prices."""

import numpy as np

from discreet import checks
from discreet.environments.pool import Pool
from discreet.environments.priced_pools import priced_pool
from discreet.set_functions import Cut


def cuts_with_prices(
    n: int,
    rounds: int,
    *,
    functions: int = 32,
    edge: float = 0.2,
    bias: float = 1.0,
    spread: float = 1.0,
    seed: int = 0,
    owner: str = "cuts_with_prices",
) -> Pool:
    """A pool of random directed cuts with prices, each shifted and scaled so that its values fill [-1, 1].

    Args:
        n: The number of items, at most 16.
        rounds: How many rounds to draw.
        functions: How many functions are in the pool.
        edge: The probability that the edge (i, j) is present; its weight is uniform in [0, 1].
        bias: The mean price of odd items; even items have minus this.
        spread: The standard deviation of the normal prices.
        seed: Of the functions; the rounds are drawn with seed + 1000.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> pool = cuts_with_prices(4, rounds=10, seed=0)
        >>> len(pool.functions), pool.rounds
        (32, 10)
        >>> values = pool.functions[0].table().values
        >>> float(values.min().round(12)), float(values.max().round(12))
        (-1.0, 1.0)
    """
    edge = checks.unit_number(owner, "edge", edge)
    return priced_pool(
        owner,
        lambda rng, n: _random_cut(rng, n, edge),
        n,
        rounds,
        functions=functions,
        bias=bias,
        spread=spread,
        seed=seed,
    )


def _random_cut(rng: np.random.Generator, n: int, edge: float) -> Cut:
    weights = rng.random((n, n)) * (rng.random((n, n)) < edge)
    np.fill_diagonal(weights, 0)
    return Cut(weights)
