"""A stream that draws every round's function from a pool, independently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction, Sum

#: Pools hold all values of all their functions; more items than this would not fit.
MOST_ITEMS = 16


class PoolStream(NamedTuple):
    """The compiled form: one row of 2^n values per function, and which function each round has."""

    values: FloatArray
    choice: IntArray


class Pool(Stream):
    """Functions of few items, each with a probability; round t draws one of them.

    Iterating gives the functions round by round.

    Args:
        functions: The set functions, on the same items.
        rounds: How many rounds to draw.
        probabilities: One per function; equal by default.
        seed: Of the draws.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> pool = Pool([Modular([1, -1]), Modular([-1, 1])], rounds=10, seed=0)
        >>> pool.n, pool.rounds, pool.total([0]) == -pool.total([1])
        (2, 10, True)
        >>> sum(f([0]) for f in pool) == pool.total([0])
        True
    """

    def __init__(
        self,
        functions: Sequence[SetFunction],
        rounds: int,
        *,
        probabilities: npt.ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        if not functions:
            raise InvalidArgument("The 'functions' of Pool must be at least one. Got none.")
        self.rounds = checks.integer("Pool", "rounds", rounds, 1)
        self.n = functions[0].n
        checks.integer("Pool", "number of items", self.n, 1, MOST_ITEMS)
        sizes = {f.n for f in functions}
        if len(sizes) > 1:
            raise InvalidArgument(
                f"The 'functions' of Pool must have the same number of items. Got {sorted(sizes)} instead."
            )
        given = np.full(len(functions), 1 / len(functions)) if probabilities is None else probabilities
        weights = checks.finite_vector("Pool", "probabilities", given, len(functions))
        if weights.min() < 0 or not np.isclose(weights.sum(), 1.0):
            raise checks.invalid_argument(
                "Pool", "probabilities", "nonnegative and of sum 1", weights.tolist()
            )
        self.functions = tuple(functions)
        generator = np.random.default_rng(seed)
        choice = generator.choice(len(functions), size=self.rounds, p=weights / weights.sum())
        values = np.array([f.table().values for f in functions])
        self.cost_range = (float(values.min()), float(values.max()))
        self.compiled = PoolStream(values, choice.astype(np.int64))

    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first so many rounds."""
        counts = np.bincount(self.compiled.choice[:rounds], minlength=len(self.functions))
        used = zip(counts, self.functions, strict=True)
        return Sum(float(count) * f for count, f in used if count)

    def then(self, other: Pool) -> Pool:
        """The stream that plays this pool's rounds and then the other's.

        Examples:
            >>> from discreet.set_functions import Modular
            >>> pool = Pool([Modular([1, -1])], rounds=10).then(Pool([Modular([-1, 1])], rounds=30))
            >>> pool.rounds, pool.total([0])
            (40, -20.0)
        """
        if not isinstance(other, Pool):
            raise InvalidType(f"The 'other' of Pool.then must be a Pool. Got {type(other).__name__} instead.")
        if other.n != self.n:
            raise InvalidArgument(
                f"The 'other' of Pool.then must have {self.n} items. Got {other.n} instead."
            )
        joined = Pool.__new__(Pool)
        joined.n, joined.rounds = self.n, self.rounds + other.rounds
        joined.functions = self.functions + other.functions
        joined.cost_range = (
            min(self.cost_range[0], other.cost_range[0]),
            max(self.cost_range[1], other.cost_range[1]),
        )
        joined.compiled = PoolStream(
            np.concatenate((self.compiled.values, other.compiled.values)),
            np.concatenate((self.compiled.choice, other.compiled.choice + len(self.functions))),
        )
        return joined

    def __iter__(self) -> Iterator[SetFunction]:
        return (self.functions[k] for k in self.compiled.choice)


@chain_costs.register(PoolStream)
@lean_kernel
def _pool_chain(stream: PoolStream, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    row = stream.choice[t]
    code = 0
    costs[0] = stream.values[row, 0]
    for k in range(order.size):
        code |= 1 << order[k]
        costs[k + 1] = stream.values[row, code]


@prefix_cost.register(PoolStream)
@lean_kernel
def _pool_prefix(stream: PoolStream, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    code = 0
    for k in range(size):
        code |= 1 << order[k]
    return float(stream.values[stream.choice[t], code])
