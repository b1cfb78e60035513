"""Functions of weighted groups of items: coverage, complete bundles, split hyperedges.

Along a chain a group changes state only when its first and when its last member enters.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.set_functions.base import SetFunction, frozen, integral, modular_range, modular_values, vector
from discreet.set_functions.structure import CutNetwork, GroupForm

MOST_TARGETS = 10**8  # targets of a coverage without weights are numbered below this


class _WeightedGroups(SetFunction):
    """modular(S) + sum over groups of on_first * weight once touched, on_last * weight once complete."""

    #: How many times a group's weight is added when its first and its last member enter, and if it has none.
    _on_first = _on_last = _on_empty = 0.0
    _arguments = ("groups", "weights", "modular")  # what the constructor calls these

    def __init__(self, n: int, groups: Iterable[Iterable[int]], weights: Any, modular: Any) -> None:
        self.n = checks.integer(self._name, "n", n, 0)
        groups_name, weights_name, modular_name = self._arguments
        rows = [np.unique(checks.index_array(self._name, groups_name, group, self.n)) for group in groups]
        values = vector(self._name, weights_name, weights, len(rows), default=1.0)
        checks.nonnegative(self._name, weights_name, values)
        self._take(rows, values.tolist(), vector(self._name, modular_name, modular, self.n, default=0.0))

    def _take(self, rows: Iterable[IntArray], weights: Iterable[float], modular: FloatArray) -> None:
        """Store the groups one after another in one array; equal ones are merged."""
        total: dict[bytes, float] = {}
        for row, weight in zip(rows, weights, strict=True):
            key = row.tobytes()
            total[key] = total.get(key, 0.0) + weight
        self._constant = self._on_empty * total.pop(b"", 0.0)
        used = {key: weight for key, weight in total.items() if weight != 0.0}
        members = [np.frombuffer(key, dtype=np.int64) for key in used]
        self._members = np.concatenate([np.empty(0, dtype=np.int64), *members])
        self._starts = np.cumsum([0, *(row.size for row in members)])
        self._weights = frozen(np.array(list(used.values()), dtype=np.float64))
        self._modular = frozen(modular)

    @property
    def groups(self) -> list[IntArray]:
        return np.split(self._members, self._starts[1:-1]) if self._weights.size else []

    def range(self) -> tuple[float, float]:
        lo, hi = modular_range(self._modular, self._constant)
        states = (0.0, self._on_first, self._on_first + self._on_last)
        weight = float(self._weights.sum())
        return lo + min(states) * weight, hi + max(states) * weight

    @property
    def integer_valued(self) -> bool:
        return integral(self._weights, self._modular, self._constant)

    @property
    def _data(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray, float, float]:
        return self._starts, self._members, self._weights, self._modular, self._on_first, self._on_last

    def _value(self, mask: BoolArray) -> float:
        return self._constant + groups_value(*self._data, mask)

    def _chain(self, order: IntArray) -> FloatArray:
        values = np.empty(self.n + 1)
        groups_chain(*self._data, order, values)
        return values + self._constant

    def _all_values(self) -> FloatArray:
        complete = np.zeros(2**self.n)  # of each set, the weight of the groups within it
        for group, weight in zip(self.groups, self._weights, strict=True):
            complete[(1 << group).sum()] = weight
        for i in range(self.n):
            halves = complete.reshape(-1, 2, 2**i)  # without and with item i
            halves[:, 1] += halves[:, 0]
        touched = complete[-1] - complete[::-1]  # all but the groups within the complement
        values = modular_values(self._modular, self._constant)
        values += self._on_first * touched + self._on_last * complete
        return values

    def _scaled(self, factor: float) -> Self:
        scaled = copy.copy(self)
        scaled._weights = frozen(self._weights * factor)
        scaled._modular, scaled._constant = frozen(self._modular * factor), self._constant * factor
        return scaled

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        rows = [row for f in functions for row in f.groups]
        weights = [weight for f in functions for weight in f._weights.tolist()]
        merged = copy.copy(functions[0])
        merged._take(rows, weights, np.sum([f._modular for f in functions], axis=0))
        merged._constant = sum(f._constant for f in functions)
        return merged

    def _fields(self) -> dict[str, Any]:
        groups, weights = [group.tolist() for group in self.groups], self._weights.tolist()
        if self._constant:
            groups, weights = [*groups, []], [*weights, self._constant / self._on_empty]
        fields = zip(self._arguments, (groups, weights, self._modular.tolist()), strict=True)
        return {"n": self.n, **dict(fields)}

    def cut_network(self) -> CutNetwork:
        """A node per group for "touched", which any member implies, and for "complete", which implies all."""
        count, members = self._weights.size, self._members
        owner = np.repeat(np.arange(count), np.diff(self._starts))
        unary, tails, heads, nodes = [self._modular], [], [], self.n
        if self._on_first:
            unary.append(self._on_first * self._weights)
            tails.append(members)
            heads.append(nodes + owner)
            nodes += count
        if self._on_last:
            unary.append(self._on_last * self._weights)
            tails.append(nodes + owner)
            heads.append(members)
        arcs = np.concatenate(tails), np.concatenate(heads)
        return CutNetwork(self.n, np.concatenate(unary), self._constant, *arcs, np.full(arcs[0].size, np.inf))

    def group_form(self) -> GroupForm:
        weights, constant = self._weights, np.array([self._constant], dtype=np.float64)
        first, last = self._on_first * weights, self._on_last * weights
        return GroupForm(constant, self._modular, self._starts, self._members, first, last)


class Coverage(_WeightedGroups):
    """S -> total weight of the targets that an item of S covers.

    `covers` has for each item its targets, numbered from 0; their nonnegative weights are 1 by default.
    """

    _on_first = 1.0

    def __init__(self, covers: Sequence[Iterable[int]], weights: npt.ArrayLike | None = None) -> None:
        known = None if weights is None else checks.finite_vector("Coverage", "weights", weights)
        below = MOST_TARGETS if known is None else known.size
        listed = [checks.index_array("Coverage", "covers", targets, below) for targets in covers]
        # Only targets that an item covers count: memory does not depend on how they are numbered.
        coverers: dict[int, list[int]] = {}
        for item, targets in enumerate(listed):
            for target in targets.tolist():
                coverers.setdefault(target, []).append(item)
        used = sorted(coverers)
        if known is not None:
            known = checks.nonnegative("Coverage", "weights", known)[used]
        super().__init__(len(listed), [coverers[target] for target in used], known, None)

    def _fields(self) -> dict[str, Any]:
        covers: list[list[int]] = [[] for _ in range(self.n)]
        for target, group in enumerate(self.groups):
            for item in group.tolist():
                covers[item].append(target)
        return {"covers": covers, "weights": self._weights.tolist()}


class Bundles(_WeightedGroups):
    """S -> sum of costs over S minus the value of every group that lies within S.

    Values are nonnegative, by default 1 each; costs have any sign and are 0 by default.
    """

    _on_last = _on_empty = -1.0  # a group without members is complete from the start
    _arguments = ("groups", "values", "costs")

    def __init__(
        self,
        n: int,
        groups: Iterable[Iterable[int]],
        values: npt.ArrayLike | None = None,
        costs: npt.ArrayLike | None = None,
    ) -> None:
        super().__init__(n, groups, values, costs)


class HypergraphCut(_WeightedGroups):
    """S -> total weight of the hyperedges with members both in S and outside, plus modular(S).

    Weights are nonnegative, by default 1 each; the modular part has any sign and is 0 by default.
    """

    _on_first = 1.0
    _on_last = -1.0
    _arguments = ("hyperedges", "weights", "modular")

    def __init__(
        self,
        n: int,
        hyperedges: Iterable[Iterable[int]],
        weights: npt.ArrayLike | None = None,
        modular: npt.ArrayLike | None = None,
    ) -> None:
        super().__init__(n, hyperedges, weights, modular)


@lean_kernel
def groups_value(
    starts: IntArray,
    members: IntArray,
    weights: FloatArray,
    modular: FloatArray,
    on_first: float,
    on_last: float,
    mask: BoolArray,
) -> float:
    """The value of one set."""
    total = 0.0
    for i in range(modular.size):
        if mask[i]:
            total += modular[i]
    for g in range(weights.size):
        chosen = 0
        for m in range(starts[g], starts[g + 1]):
            chosen += mask[members[m]]
        if chosen > 0:
            total += on_first * weights[g]
        if chosen == starts[g + 1] - starts[g]:
            total += on_last * weights[g]
    return total


@kernel
def groups_chain(
    starts: IntArray,
    members: IntArray,
    weights: FloatArray,
    modular: FloatArray,
    on_first: float,
    on_last: float,
    order: IntArray,
    values: FloatArray,
) -> None:
    """Write the n+1 values along `order` into `values`, in one pass over the memberships."""
    n = order.size
    position = np.empty(n, dtype=np.int64)
    values[0] = 0.0
    for k in range(n):
        position[order[k]] = k
        values[k + 1] = modular[order[k]]
    for g in range(weights.size):
        first, last = n, -1
        for m in range(starts[g], starts[g + 1]):
            enters = position[members[m]]
            first, last = min(first, enters), max(last, enters)
        values[first + 1] += on_first * weights[g]
        values[last + 1] += on_last * weights[g]
    for k in range(n):
        values[k + 1] += values[k]
