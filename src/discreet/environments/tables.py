"""Streams given by tables of all values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost, set_costs
from discreet.errors import InvalidArgument
from discreet.set_functions import SetFunction, Table


class PoolStream(NamedTuple):
    """The compiled form: one row of 2^n values per function, and the row of each round."""

    values: FloatArray
    choice: IntArray


class TableStream(Stream):
    """A stream that looks its costs up; `choice` has the row of each round, by default row t in round t.

    A row has 2^n costs: bit i of a column's number tells whether item i is taken.
    """

    def __init__(self, values: npt.ArrayLike, choice: Iterable[int] | None = None) -> None:
        table = checks.finite_matrix("TableStream", "values", values)
        rows, columns = table.shape
        self.n = columns.bit_length() - 1
        if rows == 0 or self.n < 1 or columns != 2**self.n:
            got = f"Got shape {table.shape}."
            raise InvalidArgument(f"A table of costs must have one row per round and 2^n columns. {got}")
        chosen = range(rows) if choice is None else choice
        self.compiled = PoolStream(table, checks.index_array("TableStream", "choice", chosen, rows))
        self.rounds = checks.integer("TableStream", "number of rounds", self.compiled.choice.size, 1)
        self.cost_range = (float(table.min()), float(table.max()))

    def sum_of(self, rounds: slice) -> SetFunction:
        counts = np.bincount(self.compiled.choice[rounds], minlength=len(self.compiled.values))
        return Table(counts.astype(np.float64) @ self.compiled.values)


@chain_costs.register(PoolStream)
@lean_kernel
def _chain(stream: PoolStream, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    row, code = stream.choice[t], 0
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


@set_costs.register(PoolStream)
@lean_kernel
def _all(stream: PoolStream, t: int, x: FloatArray, room: IntArray, costs: FloatArray) -> None:
    row = stream.choice[t]
    for code in range(costs.size):
        costs[code] = stream.values[row, code]
