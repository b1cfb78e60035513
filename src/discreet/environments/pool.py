"""Environments that draw from a pool of random functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import IntArray
from discreet.environments.functions import group_rounds
from discreet.environments.stream import Environment, named
from discreet.environments.tables import TableStream
from discreet.errors import InvalidArgument
from discreet.set_functions import Coverage, Cut, Modular, SetFunction, Sum

#: A pool holds all values of all its functions.
MOST_ITEMS = 16
#: Beyond that, functions with prices are evaluated; to scale them, all values are computed once.
MOST_PRICED_ITEMS = 20

Draw = Callable[[np.random.Generator], SetFunction]


class Pool(TableStream):
    """Functions of at most 16 items, one of which is drawn in each round; by default all equally often."""

    _most_items: int | None = MOST_ITEMS

    def __init__(
        self,
        functions: Sequence[SetFunction],
        rounds: int,
        *,
        probabilities: npt.ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        rounds = checks.integer("Pool", "rounds", rounds, 1)
        sizes = sorted({f.n for f in functions})
        if len(sizes) != 1:
            wanted = "at least one, with the same number of items"
            raise InvalidArgument(f"The 'functions' of Pool must be {wanted}. Got {sizes} instead.")
        checks.integer("Pool", "number of items", sizes[0], 1, self._most_items)
        given = np.full(len(functions), 1 / len(functions)) if probabilities is None else probabilities
        weights = checks.finite_vector("Pool", "probabilities", given, len(functions))
        if weights.min() < 0 or not np.isclose(weights.sum(), 1.0):
            raise checks.invalid_argument("Pool", "probabilities", "nonnegative and of sum 1", given)
        choice = np.random.default_rng(seed).choice(weights.size, size=rounds, p=weights / weights.sum())
        self._take(tuple(functions), choice)

    def _take(self, functions: tuple[SetFunction, ...], choice: IntArray) -> None:
        self.functions = functions
        TableStream.__init__(self, [f.table().values for f in functions], choice)

    def sum_of(self, rounds: slice) -> SetFunction:
        counts = np.bincount(self.compiled.choice[rounds], minlength=len(self.functions))
        return Sum(float(count) * f for count, f in zip(counts, self.functions, strict=True) if count)

    def then(self, other: Pool) -> Self:
        """A stream of this pool's rounds followed by the other's."""
        return self._joined(other, np.append(self.compiled.choice, self._later(other)))

    def alternating(self, other: Pool, period: int) -> Self:
        """A stream as long as this one, of which every second `period` of rounds is the other's."""
        turns = np.arange(self.rounds) // period % 2 == 1
        return self._joined(other, np.where(turns, self._later(other), self.compiled.choice))

    def _later(self, other: Pool) -> IntArray:
        return np.asarray(other.compiled.choice + len(self.functions))

    def _joined(self, other: Pool, choice: IntArray) -> Self:
        joined = copy.copy(self)
        joined._take(self.functions + other.functions, choice)
        return joined

    def __iter__(self) -> Iterator[SetFunction]:
        return (self.functions[k] for k in self.compiled.choice)


class PricedPool(Pool):
    """A pool without tables: of sums of modular, cut and coverage functions within [-1, 1]."""

    _most_items = None

    def _take(self, functions: tuple[SetFunction, ...], choice: IntArray) -> None:
        self.functions, self.n, self.rounds = functions, functions[0].n, choice.size
        self.cost_range = (-1.0, 1.0)
        self.compiled = group_rounds(functions, choice)
        if self.compiled is None:
            name = next(type(term).__name__ for term in Sum(functions).terms if term.group_form() is None)
            raise InvalidArgument(f"Functions of more than 16 items cannot be {name} in a pool.")


@named
def priced_cuts(
    n: int = 8, edge: float = 0.2, bias: float = 1.0, spread: float = 1.0, functions: int = 32
) -> Environment:
    """Random cuts with prices; the best set is neither empty nor full.

    Each of the `functions` of at most 20 items has the edge (i, j) with probability `edge`, of a weight that
    is uniform in [0, 1]. Prices are normal with standard deviation `spread` and mean `bias` for odd items,
    minus that for even ones. With more than 12 items and as many edges the best set may be trivial: 1.6 / n
    gives an item as many as it has among 8.
    """
    draw = _random_cut(n, checks.unit_number("priced-cuts", "edge", edge))
    make = _pools("priced-cuts", draw, n, bias, spread, functions)
    return Environment("priced-cuts", make, tuple(range(n)))


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

    There are `targets`, like machines that products share, with costs uniform in [0, 1], and an item needs
    each with probability `covered`. Every item is rewarded with 1/n of what all targets together cost. The
    other arguments are those of `priced_cuts`.
    """
    targets = checks.integer("coverage", "targets", targets, 1)
    covered = checks.unit_number("coverage", "covered", covered)

    def draw(rng: np.random.Generator) -> SetFunction:
        needs = rng.random((n, targets)) < covered
        shared = Coverage([np.flatnonzero(row) for row in needs], rng.random(targets))
        return shared + Modular(np.full(n, -shared(range(n)) / n))

    make = _pools("coverage", draw, n, bias, spread, functions)
    return Environment("coverage", make, tuple(range(n)))


@named
def substitutes(n: int = 8, size: int = 3, price: float = 0.0, customers: int = 512) -> Environment:
    """Customers want one of several similar items: a second one is worth nothing to them.

    Random items form groups of `size`; the k-th group is sought in proportion to 1 / sqrt(k). Each of the
    `customers` seeks something from one group, worth 0.7, and from another draw of a group, worth 0.3. An
    item fits with its own probability, from 0.4 to 0.9; one that fits is enough. Showing every item costs
    `price`, at most 1. If that is 0, as it is by default, only a limit such as `at_most` makes this hard. The
    stream's seed draws all of this.
    """
    n = checks.integer("substitutes", "n", n, 2)
    size = checks.integer("substitutes", "size", size, 1, n)
    price = checks.unit_number("substitutes", "price", price)
    customers = checks.integer("substitutes", "customers", customers, 1)
    prices = Modular(np.full(n, price / n))

    def make(rounds: int, seed: int) -> Pool:
        rng = np.random.default_rng(seed)
        groups = np.array_split(rng.permutation(n), -(-n // size))
        chances = 1 / np.sqrt(np.arange(1.0, len(groups) + 1))
        appeal = rng.uniform(0.4, 0.9, n)

        def seeking() -> SetFunction:
            covers: list[list[int]] = [[] for _ in range(n)]
            for target, group in enumerate(rng.choice(len(groups), 2, p=chances / chances.sum())):
                for item in groups[group][rng.random(groups[group].size) < appeal[groups[group]]]:
                    covers[item].append(target)
            return -Coverage(covers, [0.7, 0.3]) + prices

        stream = PricedPool([seeking() for _ in range(customers)], rounds, seed=seed + 1000)
        stream.cost_range = (-1.0, price)
        return stream

    return Environment("substitutes", make, tuple(range(n)), (-1.0, price))


@named
def switching(n: int = 8, bias: float = 1.0, later_bias: float = -0.5) -> Environment:
    """Random cuts with prices; at half time the other items become worth taking, half as clearly.

    These are the functions of `priced_cuts`, with `bias` in the first half and `later_bias` after it.
    """
    later_bias = checks.finite_number("switching", "later_bias", later_bias)
    cut = _random_cut(n, 0.2)
    first, later = _pools("switching", cut, n, bias), _pools("switching", cut, n, later_bias)

    def make(rounds: int, seed: int) -> Pool:
        half = checks.integer("switching", "rounds", rounds, 2) // 2
        return first(half, seed).then(later(rounds - half, seed + 500))

    return Environment("switching", make, tuple(range(n)))


@named
def flipping(n: int = 8, period: int = 1 << 13, bias: float = 1.0, other_bias: float = -0.5) -> Environment:
    """Random cuts with prices; two worlds, which want different items, take turns.

    These are the functions of `switching`: for `period` rounds those with `bias`, then for as many those with
    `other_bias`, and so on.
    """
    period = checks.integer("flipping", "period", period, 1)
    other_bias = checks.finite_number("flipping", "other_bias", other_bias)
    cut = _random_cut(n, 0.2)
    first, other = _pools("flipping", cut, n, bias), _pools("flipping", cut, n, other_bias)

    def make(rounds: int, seed: int) -> Pool:
        return first(rounds, seed).alternating(other(rounds, seed + 500), period)

    return Environment("flipping", make, tuple(range(n)))


def _random_cut(n: int, edge: float) -> Draw:
    def draw(rng: np.random.Generator) -> SetFunction:
        weights = rng.random((n, n)) * (rng.random((n, n)) < edge)
        np.fill_diagonal(weights, 0)
        return Cut(weights)

    return draw


def _pools(
    name: str, draw: Draw, n: int, bias: float, spread: float = 1.0, functions: int = 32
) -> Callable[[int, int], Pool]:
    """What makes a pool of functions with prices, each scaled to fill [-1, 1]."""
    n = checks.integer(name, "n", n, 1, MOST_PRICED_ITEMS)
    kind = Pool if n <= MOST_ITEMS else PricedPool
    bias = checks.finite_number(name, "bias", bias)
    spread = checks.nonnegative_number(name, "spread", spread)
    functions = checks.integer(name, "functions", functions, 1)
    means = bias * np.where(np.arange(n) % 2 == 0, -1.0, 1.0)

    def scaled(rng: np.random.Generator) -> SetFunction:
        # Published numbers depend on the order of these draws.
        function = draw(rng) + Modular(means + spread * rng.normal(size=n))
        values = function.table().values
        low, high = float(values.min()), float(values.max())
        if low == high:
            raise InvalidArgument(f"The parameters of {name} must give functions that vary.")
        narrower = 1 - 2.0**-44  # rounding cannot lead out of [-1, 1]
        return (narrower * 2 / (high - low)) * function.shift(-(low + high) / 2)

    def make(rounds: int, seed: int) -> Pool:
        rng = np.random.default_rng(seed)
        return kind([scaled(rng) for _ in range(functions)], rounds, seed=seed + 1000)

    return make
