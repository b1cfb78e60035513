"""Pools of random coverage functions with prices."""

import numpy as np

from discreet import checks
from discreet.environments.pool import Pool
from discreet.environments.priced_pools import priced_pool
from discreet.set_functions import Coverage, Modular, SetFunction


def coverage_with_prices(
    n: int,
    rounds: int,
    *,
    functions: int = 32,
    targets: int = 12,
    covered: float = 0.3,
    bias: float = 1.0,
    spread: float = 1.0,
    seed: int = 0,
    owner: str = "coverage_with_prices",
) -> Pool:
    """A pool of random coverage functions with rewards and prices, each scaled so that it fills [-1, 1].

    A target must be paid for once if any item that needs it is taken, like a machine that several
    products share. Every item is rewarded with 1/n of what all targets together cost, so that taking all
    items just pays. Prices come on top: even items are cheap, odd ones dear.

    Args:
        n: The number of items, at most 16.
        rounds: How many rounds to draw.
        functions: How many functions are in the pool.
        targets: How many targets there are; their costs are uniform in [0, 1].
        covered: The probability that an item needs a target.
        bias: The mean price of odd items; even items have minus this.
        spread: The standard deviation of the normal prices.
        seed: Of the functions; the rounds are drawn with seed + 1000.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> pool = coverage_with_prices(4, rounds=1000, seed=0)
        >>> len(pool.functions), pool.rounds
        (32, 1000)
        >>> from discreet import minimize
        >>> sorted(minimize(pool.total).set)
        [0, 2]
    """
    targets = checks.integer(owner, "targets", targets, 1)
    covered = checks.unit_number(owner, "covered", covered)
    return priced_pool(
        owner,
        lambda rng, n: _random_coverage(rng, n, targets, covered),
        n,
        rounds,
        functions=functions,
        bias=bias,
        spread=spread,
        seed=seed,
    )


def _random_coverage(rng: np.random.Generator, n: int, targets: int, covered: float) -> SetFunction:
    needs = rng.random((n, targets)) < covered
    coverage = Coverage([np.flatnonzero(row) for row in needs], rng.random(targets))
    return coverage + Modular(np.full(n, -coverage(range(n)) / n))
