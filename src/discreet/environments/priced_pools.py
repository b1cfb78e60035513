"""Pools of random functions with prices, each scaled to fill the range."""

from collections.abc import Callable

import numpy as np

from discreet import checks
from discreet.environments.pool import MOST_ITEMS, Pool
from discreet.errors import InvalidArgument
from discreet.set_functions import Modular, SetFunction

#: What is added to the seed of the functions to get the seed of the rounds.
SEED_OF_ROUNDS = 1000
#: How much narrower than [-1, 1] values are made, so that no rounding leads out of it.
MARGIN = 2.0**-44


def priced_pool(
    owner: str,
    draw: Callable[[np.random.Generator, int], SetFunction],
    n: int,
    rounds: int,
    *,
    functions: int,
    bias: float,
    spread: float,
    seed: int,
) -> Pool:
    """A pool of functions that are drawn, get prices, and are shifted and scaled so that they fill [-1, 1].

    Args:
        owner: Whose arguments these are, for messages.
        draw: Makes a random function of n items.
        n: The number of items, at most 16.
        rounds: How many rounds to draw.
        functions: How many functions are in the pool.
        bias: The mean price of odd items; even items have minus this.
        spread: The standard deviation of the normal prices.
        seed: Of the functions; the rounds are drawn with seed + 1000.
    """
    n = checks.integer(owner, "n", n, 1, MOST_ITEMS)
    rounds = checks.integer(owner, "rounds", rounds, 1)
    functions = checks.integer(owner, "functions", functions, 1)
    bias = checks.finite_number(owner, "bias", bias)
    spread = checks.finite_number(owner, "spread", spread)
    if spread < 0:
        raise checks.invalid_argument(owner, "spread", "a nonnegative number", spread)
    seed = checks.integer(owner, "seed", seed, 0)
    rng = np.random.default_rng(seed)
    means = bias * np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
    drawn = []
    for _ in range(functions):
        # Published numbers depend on the order of these draws.
        function = draw(rng, n) + Modular(means + spread * rng.normal(size=n))
        drawn.append(_filled(owner, function))
    return Pool(drawn, rounds, seed=seed + SEED_OF_ROUNDS)


def _filled(owner: str, function: SetFunction) -> SetFunction:
    values = function.table().values
    low, high = float(values.min()), float(values.max())
    if low == high:
        raise InvalidArgument(
            f"The arguments of {owner} must give functions that vary. A constant one was drawn."
        )
    return ((1 - MARGIN) * 2 / (high - low)) * function.shift(-(low + high) / 2)
