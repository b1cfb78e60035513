"""Environments that draw from a pool of random functions with prices, each scaled to fill [-1, 1]."""

from collections.abc import Callable

import numpy as np

from discreet import checks
from discreet.environments.environment import Environment, named
from discreet.environments.pool import MOST_ITEMS, Pool
from discreet.errors import InvalidArgument
from discreet.set_functions import ConcaveOfCardinality, Coverage, Cut, Modular, SetFunction

#: Added to the seed of the functions to get the seed of the rounds, and to that of a first half to get the
#: seed of the second.
SEED_OF_ROUNDS, SEED_OF_SECOND_HALF = 1000, 500
#: How much narrower than [-1, 1] values are made, so that rounding cannot lead out of it.
MARGIN = 2.0**-44

Draw = Callable[[np.random.Generator], SetFunction]


@named
def priced_cuts(
    n: int = 8, edge: float = 0.2, bias: float = 1.0, spread: float = 1.0, functions: int = 32
) -> Environment:
    """Random cuts with prices; the best set is neither empty nor full.

    Args:
        n: The number of items, at most 16.
        edge: The probability that the edge (i, j) is present; its weight is uniform in [0, 1].
        bias: The mean price of odd items; even items have minus this.
        spread: The standard deviation of the normal prices.
        functions: The size of the pool.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(priced_cuts(n=4).stream(1000).total).set)
        [0, 2]
    """
    draw = _random_cut("priced-cuts", n, edge)
    return _priced("priced-cuts", draw, n, bias, spread, functions, {"edge": edge})


@named
def coverage(
    n: int = 8,
    targets: int = 12,
    covered: float = 0.3,
    bias: float = 1.0,
    spread: float = 1.0,
    functions: int = 32,
) -> Environment:
    """Items bring rewards and share what must be paid for once; every other item is cheap.

    A target must be paid for once if any item that needs it is taken, like a machine that several products
    share. There are `targets` of them, with costs uniform in [0, 1], and an item needs each with probability
    `covered`. Every item is rewarded with 1/n of what all targets together cost, so that taking all items
    breaks even. Prices come on top. The other arguments are those of :func:`priced_cuts`.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(coverage(n=4).stream(1000).total).set)
        [0, 2]
    """
    targets = checks.integer("coverage", "targets", targets, 1)
    covered = checks.unit_number("coverage", "covered", covered)

    def draw(rng: np.random.Generator) -> SetFunction:
        needs = rng.random((n, targets)) < covered
        shared = Coverage([np.flatnonzero(row) for row in needs], rng.random(targets))
        return shared + Modular(np.full(n, -shared(range(n)) / n))

    parameters = {"targets": targets, "covered": covered}
    return _priced("coverage", draw, n, bias, spread, functions, parameters)


@named
def concave(
    n: int = 8, height: float = 2.0, bias: float = 1.0, spread: float = 1.0, functions: int = 32
) -> Environment:
    """The first items cost most, and items have prices; every other item is cheap.

    Taking k items costs h (sqrt(k n) - k), with h uniform in [0, height / sqrt(n)], as with a discount for
    large orders; taking all costs as much as taking none. Prices come on top. The other arguments are those
    of :func:`priced_cuts`.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(concave(n=4).stream(1000).total).set)
        [0, 2]
    """
    if checks.finite_number("concave", "height", height) < 0:
        raise checks.invalid_argument("concave", "height", "a nonnegative number", height)

    def draw(rng: np.random.Generator) -> SetFunction:
        sizes = np.arange(n + 1.0)
        return ConcaveOfCardinality(rng.uniform(0, height / np.sqrt(n)) * (np.sqrt(sizes * n) - sizes))

    return _priced("concave", draw, n, bias, spread, functions, {"height": height})


@named
def switching(n: int = 8, bias: float = 1.0, later_bias: float = -0.5) -> Environment:
    """Random cuts with prices; at half time the other items become worth taking, half as clearly.

    These are the functions of :func:`priced_cuts`, with `bias` in the first half and `later_bias` after it.

    Examples:
        >>> from discreet import minimize
        >>> sorted(minimize(switching(n=4).stream(2000).total_until(1000)).set)
        [0, 2]
    """
    n = checks.integer("switching", "n", n, 1, MOST_ITEMS)
    bias = checks.finite_number("switching", "bias", bias)
    later_bias = checks.finite_number("switching", "later_bias", later_bias)
    draw = _random_cut("switching", n, edge=0.2)

    def make(rounds: int, seed: int) -> Pool:
        half = checks.integer("switching", "rounds", rounds, 2) // 2
        first = _pool("switching", draw, n, half, seed, bias)
        return first.then(_pool("switching", draw, n, rounds - half, seed + SEED_OF_SECOND_HALF, later_bias))

    parameters = {"bias": bias, "later_bias": later_bias}
    return Environment("switching", make, tuple(range(n)), (-1.0, 1.0), parameters=parameters)


def _random_cut(name: str, n: int, edge: float) -> Draw:
    edge = checks.unit_number(name, "edge", edge)

    def draw(rng: np.random.Generator) -> SetFunction:
        weights = rng.random((n, n)) * (rng.random((n, n)) < edge)
        np.fill_diagonal(weights, 0)
        return Cut(weights)

    return draw


def _priced(
    name: str,
    draw: Draw,
    n: int,
    bias: float,
    spread: float,
    functions: int,
    parameters: dict[str, float],
) -> Environment:
    n = checks.integer(name, "n", n, 1, MOST_ITEMS)
    bias = checks.finite_number(name, "bias", bias)
    if checks.finite_number(name, "spread", spread) < 0:
        raise checks.invalid_argument(name, "spread", "a nonnegative number", spread)
    functions = checks.integer(name, "functions", functions, 1)
    parameters |= {"bias": bias, "spread": spread, "functions": functions}

    def make(rounds: int, seed: int) -> Pool:
        return _pool(name, draw, n, rounds, seed, bias, spread, functions)

    return Environment(name, make, tuple(range(n)), (-1.0, 1.0), parameters=parameters)


def _pool(
    name: str,
    draw: Draw,
    n: int,
    rounds: int,
    seed: int,
    bias: float,
    spread: float = 1.0,
    functions: int = 32,
) -> Pool:
    rng = np.random.default_rng(seed)
    means = bias * np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
    drawn = []
    for _ in range(functions):
        # Published numbers depend on the order of these draws.
        function = draw(rng) + Modular(means + spread * rng.normal(size=n))
        values = function.table().values
        low, high = float(values.min()), float(values.max())
        if low == high:
            raise InvalidArgument(
                f"The parameters of {name} must give functions that vary. A constant one was drawn."
            )
        drawn.append(((1 - MARGIN) * 2 / (high - low)) * function.shift(-(low + high) / 2))
    return Pool(drawn, rounds, seed=seed + SEED_OF_ROUNDS)
