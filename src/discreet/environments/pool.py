"""Streams given by tables of all values: functions drawn from a pool, or one row per round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.stream import SummedStream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument
from discreet.set_functions import SetFunction, Sum, Table

#: A pool holds all values of all its functions.
MOST_ITEMS = 16


class PoolStream(NamedTuple):
    """The compiled form: one row of 2^n values per function, and the row of each round."""

    values: FloatArray
    choice: IntArray


class TableStream(SummedStream):
    """A stream that looks its costs up.

    Args:
        values: One row of 2^n costs per function; bit i of a column's number tells whether item i is taken.
        choice: The row of each round; by default round t has row t.

    Examples:
        >>> stream = TableStream([[0, 1, 2, 3], [0, -1, 1, 0]])
        >>> stream.n, stream.rounds, stream.total([0]), stream.cost_range
        (2, 2, 0.0, (-1.0, 3.0))
    """

    def __init__(self, values: npt.ArrayLike, choice: Iterable[int] | None = None) -> None:
        table = checks.finite_matrix("TableStream", "values", values)
        rows, columns = table.shape
        self.n = columns.bit_length() - 1
        if rows == 0 or self.n < 1 or columns != 2**self.n:
            raise InvalidArgument(
                f"A table of costs must have one row per round and 2^n columns. Got shape {table.shape}."
            )
        self._use(
            table,
            checks.index_array("TableStream", "choice", range(rows) if choice is None else choice, rows),
        )

    def _use(self, values: FloatArray, choice: IntArray) -> None:
        self.rounds = checks.integer("TableStream", "number of rounds", choice.size, 1)
        self.compiled = PoolStream(values, choice)
        self.cost_range = (float(values.min()), float(values.max()))

    def sum_of(self, rounds: slice) -> SetFunction:
        return Table(self._counts(rounds) @ self.compiled.values)

    def _counts(self, rounds: slice) -> FloatArray:
        counts = np.bincount(self.compiled.choice[rounds], minlength=len(self.compiled.values))
        return counts.astype(np.float64)


class Pool(TableStream):
    """Functions of few items, one of which is drawn in each round.

    Args:
        functions: The set functions, on the same items (at most 16).
        rounds: The number of rounds.
        probabilities: One per function; equal by default.
        seed: The seed of the draws.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> pool = Pool([Modular([1, -1]), Modular([-1, 1])], rounds=10, seed=0)
        >>> pool.n, pool.rounds, pool.total([0]) == -pool.total([1])
        (2, 10, True)
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
            raise checks.invalid_argument("Pool", "probabilities", "nonnegative and of sum 1", given)
        self.functions = tuple(functions)
        generator = np.random.default_rng(seed)
        choice = generator.choice(len(functions), size=self.rounds, p=weights / weights.sum())
        self._use(np.array([f.table().values for f in functions]), choice.astype(np.int64))

    def sum_of(self, rounds: slice) -> SetFunction:
        used = zip(self._counts(rounds), self.functions, strict=True)
        return Sum(float(count) * f for count, f in used if count)

    def then(self, other: Pool) -> Pool:
        """A stream of this pool's rounds followed by the other's.

        Examples:
            >>> from discreet.set_functions import Modular
            >>> pool = Pool([Modular([1, -1])], rounds=10).then(Pool([Modular([-1, 1])], rounds=30))
            >>> pool.rounds, pool.total([0])
            (40, -20.0)
        """
        if not isinstance(other, Pool) or other.n != self.n:
            raise checks.invalid_argument("Pool.then", "other", f"a Pool of {self.n} items", other)
        joined = Pool.__new__(Pool)
        joined.n, joined.functions = self.n, self.functions + other.functions
        joined._use(
            np.concatenate((self.compiled.values, other.compiled.values)),
            np.concatenate((self.compiled.choice, other.compiled.choice + len(self.functions))),
        )
        return joined

    def __iter__(self) -> Iterator[SetFunction]:
        return (self.functions[k] for k in self.compiled.choice)


@chain_costs.register(PoolStream)
@lean_kernel
def _chain(stream: PoolStream, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    row = stream.choice[t]
    code = 0
    costs[0] = stream.values[row, 0]
    for k in range(order.size):
        code |= 1 << order[k]
        costs[k + 1] = stream.values[row, code]


@prefix_cost.register(PoolStream)
@lean_kernel
def _prefix(stream: PoolStream, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    code = 0
    for k in range(size):
        code |= 1 << order[k]
    return float(stream.values[stream.choice[t], code])
