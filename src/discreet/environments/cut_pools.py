"""Pools of random cuts with prices."""

import numpy as np

from discreet import checks
from discreet.environments.pool import MOST_ITEMS, Pool
from discreet.errors import InvalidArgument
from discreet.set_functions import Cut, SetFunction

#: What is added to the seed of the functions to get the seed of the rounds.
SEED_OF_ROUNDS = 1000


def cuts_with_prices(
    n: int,
    rounds: int,
    *,
    functions: int = 32,
    edge: float = 0.2,
    bias: float = 1.0,
    spread: float = 1.0,
    seed: int = 0,
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

    Examples:
        >>> pool = cuts_with_prices(4, rounds=10, seed=0)
        >>> len(pool.functions), pool.rounds
        (32, 10)
        >>> values = pool.functions[0].table().values
        >>> float(values.min().round(12)), float(values.max().round(12))
        (-1.0, 1.0)
    """
    owner = "cuts_with_prices"
    n = checks.integer(owner, "n", n, 1, MOST_ITEMS)
    rounds = checks.integer(owner, "rounds", rounds, 1)
    functions = checks.integer(owner, "functions", functions, 1)
    edge = checks.unit_number(owner, "edge", edge)
    bias = checks.finite_number(owner, "bias", bias)
    spread = checks.finite_number(owner, "spread", spread)
    if spread < 0:
        raise checks.complaint(owner, "spread", "a nonnegative number", spread)
    seed = checks.integer(owner, "seed", seed, 0)
    rng = np.random.default_rng(seed)
    drawn = [_random_cut(rng, n, edge, bias, spread) for _ in range(functions)]
    return Pool(drawn, rounds, seed=seed + SEED_OF_ROUNDS)


def _random_cut(rng: np.random.Generator, n: int, edge: float, bias: float, spread: float) -> SetFunction:
    # Published numbers depend on the order of these draws.
    weights = rng.random((n, n)) * (rng.random((n, n)) < edge)
    np.fill_diagonal(weights, 0)
    means = bias * np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
    cut = Cut(weights, means + spread * rng.normal(size=n))
    values = cut.table().values
    half = float(values.max() - values.min()) / 2
    if half == 0:
        raise InvalidArgument(
            "The 'edge', 'bias' and 'spread' of cuts_with_prices must give functions that vary. "
            f"Got {edge}, {bias} and {spread}, with which a constant one was drawn."
        )
    return (1 / half) * cut.shift(-(values.max() + values.min()) / 2)
