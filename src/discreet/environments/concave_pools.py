"""Pools of random concave functions of the number of items, with prices."""

import numpy as np

from discreet import checks
from discreet.environments.pool import Pool
from discreet.environments.priced_pools import priced_pool
from discreet.set_functions import ConcaveOfCardinality


def concave_with_prices(
    n: int,
    rounds: int,
    *,
    functions: int = 32,
    height: float = 2.0,
    bias: float = 1.0,
    spread: float = 1.0,
    seed: int = 0,
    owner: str = "concave_with_prices",
) -> Pool:
    """A pool of concave functions of the number of items, with prices, each scaled so that it fills [-1, 1].

    Taking k items costs h (sqrt(k n) - k), with h uniform in [0, height / sqrt(n)]: the first items cost
    most, as where there is a discount for many, and taking all costs as much as taking none. Prices come
    on top: even items are cheap, odd ones dear.

    Args:
        n: The number of items, at most 16.
        rounds: How many rounds to draw.
        functions: How many functions are in the pool.
        height: How large the concave part can be.
        bias: The mean price of odd items; even items have minus this.
        spread: The standard deviation of the normal prices.
        seed: Of the functions; the rounds are drawn with seed + 1000.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> pool = concave_with_prices(4, rounds=1000, seed=0)
        >>> len(pool.functions), pool.rounds
        (32, 1000)
        >>> from discreet import minimize
        >>> sorted(minimize(pool.total).set)
        [0, 2]
    """
    if checks.finite_number(owner, "height", height) < 0:
        raise checks.invalid_argument(owner, "height", "a nonnegative number", height)
    return priced_pool(
        owner,
        lambda rng, n: _random_concave(rng, n, height),
        n,
        rounds,
        functions=functions,
        bias=bias,
        spread=spread,
        seed=seed,
    )


def _random_concave(rng: np.random.Generator, n: int, height: float) -> ConcaveOfCardinality:
    sizes = np.arange(n + 1.0)
    return ConcaveOfCardinality(rng.uniform(0, height / np.sqrt(n)) * (np.sqrt(sizes * n) - sizes))
