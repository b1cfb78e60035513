"""Streams made of any set functions, and the form in which compiled code plays them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost, set_costs
from discreet.environments.tables import PoolStream
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction, Sum, Table
from discreet.set_functions.structure import joined_starts

#: Shorter streams are played in Python: to load compiled code may take longer.
FEWEST_COMPILED = 500
#: Numbers that a compiled form may have for prices or tables: 512 MB. Streams with more are played in Python.
MOST_NUMBERS = 1 << 26


class GroupRounds(NamedTuple):
    """Functions in their `GroupForm`, one after another, and the function of each round.

    Row f of `by_size` has the cost of each number of items (or one for all), row f of `prices` that of each
    item. Function f has the groups from `firsts[f]` up to `firsts[f + 1]`; group g costs `first[g]` once one
    of the items `members[starts[g]:starts[g + 1]]` is taken, and `last[g]` once all are.
    """

    by_size: FloatArray
    prices: FloatArray
    firsts: IntArray
    starts: IntArray
    members: IntArray
    first: FloatArray
    last: FloatArray
    choice: IntArray


def group_rounds(functions: Sequence[SetFunction], choice: IntArray) -> GroupRounds | None:
    """The compiled form of functions that all have a group form."""
    forms = []
    for function in functions:
        form = function.group_form()
        if form is None:
            return None
        forms.append(form)
    sizes = max(form.by_size.size for form in forms)
    return GroupRounds(
        np.array([np.broadcast_to(form.by_size, sizes) for form in forms]),
        np.array([form.prices for form in forms]),
        np.cumsum([0, *(form.first.size for form in forms)], dtype=np.int64),
        joined_starts([form.starts for form in forms]),
        np.concatenate([form.members for form in forms]),
        np.concatenate([form.first for form in forms]),
        np.concatenate([form.last for form in forms]),
        choice,
    )


class FunctionStream(Stream):
    """Any iterable of set functions, of which no more than `rounds` are taken. It is played in Python."""

    def __init__(
        self,
        functions: Iterable[SetFunction],
        *,
        cost_range: tuple[float, float] | None = None,
        rounds: int | None = None,
    ) -> None:
        most = None if rounds is None else checks.integer("FunctionStream", "rounds", rounds, 1)
        self._functions = list[SetFunction]()
        for t, function in enumerate(itertools.islice(functions, most), 1):
            if not isinstance(function, SetFunction):
                got = f"Got {type(function).__name__} in round {t}"
                hint = "wrap Python code in discreet.set_functions.FromCallable"
                raise InvalidType(f"A FunctionStream is made of set functions. {got} ({hint}).")
            self._functions.append(function)
        sizes = sorted({function.n for function in self._functions})
        if len(sizes) != 1:
            wanted = "at least one round, and the same number of items in all"
            raise InvalidArgument(f"A stream must have {wanted}. Got {sizes} instead.")
        self.n, self.rounds = sizes[0], len(self._functions)
        if cost_range is None:
            low, high = zip(*(function.range() for function in self._functions), strict=True)
            cost_range = (min(low), max(high))
        self.cost_range = cost_range
        self.compiled = _compiled(self._functions)
        self._sums, self._adding = dict[int, SetFunction](), threading.Lock()

    def sum_of(self, rounds: slice) -> SetFunction:
        return Sum(self._functions[rounds])

    def total_until(self, rounds: int) -> SetFunction:
        """The same as `sum_of(slice(rounds))`. Sums are kept: each seed asks for the same ones."""
        with self._adding:
            if rounds not in self._sums:
                start = max((length for length in self._sums if length < rounds), default=0)
                before = [self._sums[start]] if start else []
                self._sums[rounds] = Sum([*before, *self._functions[start:rounds]])
            return self._sums[rounds]

    def __iter__(self) -> Iterator[SetFunction]:
        return iter(self._functions)


def _compiled(functions: Sequence[SetFunction]) -> PoolStream | GroupRounds | None:
    """Tables as a table, others by their groups; None where that cannot be, or does not pay."""
    if len(functions) < FEWEST_COMPILED:
        return None
    distinct = {id(function): function for function in functions}
    number = {key: k for k, key in enumerate(distinct)}
    choice = np.array([number[id(function)] for function in functions])
    different = list(distinct.values())
    if all(type(function) is Table for function in different):
        if len(different) << different[0].n > MOST_NUMBERS:
            return None
        return PoolStream(np.array([function._all_values() for function in different]), choice)
    return group_rounds(different, choice) if len(different) * different[0].n <= MOST_NUMBERS else None


@chain_costs.register(GroupRounds)
@kernel
def _chain(stream: GroupRounds, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    n, row = order.size, stream.choice[t]
    position = np.empty(n, dtype=np.int64)
    costs[0] = 0.0
    for k in range(n):
        position[order[k]] = k
        costs[k + 1] = stream.prices[row, order[k]]
    for g in range(stream.firsts[row], stream.firsts[row + 1]):
        least, most = n, -1
        for m in range(stream.starts[g], stream.starts[g + 1]):
            enters = position[stream.members[m]]
            least, most = min(least, enters), max(most, enters)
        costs[least + 1] += stream.first[g]
        costs[most + 1] += stream.last[g]
    for k in range(n):
        costs[k + 1] += costs[k]
    for k in range(n + 1):
        costs[k] += stream.by_size[row, min(k, stream.by_size.shape[1] - 1)]


@prefix_cost.register(GroupRounds)
@kernel
def _prefix(stream: GroupRounds, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    row = stream.choice[t]
    shown = np.zeros(order.size, dtype=np.bool_)
    total = 0.0
    for k in range(size):
        shown[order[k]] = True
    for i in range(order.size):
        if shown[i]:
            total += stream.prices[row, i]
    for g in range(stream.firsts[row], stream.firsts[row + 1]):
        taken = 0
        for m in range(stream.starts[g], stream.starts[g + 1]):
            taken += shown[stream.members[m]]
        if taken > 0:
            total += stream.first[g]
        if taken == stream.starts[g + 1] - stream.starts[g]:
            total += stream.last[g]
    return float(total + stream.by_size[row, min(size, stream.by_size.shape[1] - 1)])


@set_costs.register(GroupRounds)
@kernel
def _all(stream: GroupRounds, t: int, x: FloatArray, room: IntArray, costs: FloatArray) -> None:
    """By sums over subsets: of each set the groups within it, and, for its complement, those it misses."""
    row = stream.choice[t]
    missed = np.zeros(costs.size)
    costs[:] = 0.0
    touched = 0.0
    for g in range(stream.firsts[row], stream.firsts[row + 1]):
        code = 0
        for m in range(stream.starts[g], stream.starts[g + 1]):
            code |= 1 << stream.members[m]
        costs[code] += stream.last[g]
        missed[code] += stream.first[g]
        touched += stream.first[g]
    for i in range(room.size):
        for code in range(costs.size):
            if code >> i & 1:
                costs[code] += costs[code ^ (1 << i)]
                missed[code] += missed[code ^ (1 << i)]
    last = costs.size - 1
    for code in range(costs.size):
        size = 0
        for i in range(room.size):
            if code >> i & 1:
                size += 1
                costs[code] += stream.prices[row, i]
        costs[code] += touched - missed[last - code]
        costs[code] += stream.by_size[row, min(size, stream.by_size.shape[1] - 1)]
