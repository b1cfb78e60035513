"""Functions of graphs: cuts, with a modular part; facility location, of a bipartite one; ranks of edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.errors import InvalidArgument
from discreet.set_functions.base import SetFunction, frozen, integral, modular_range, modular_values, vector
from discreet.set_functions.structure import CutNetwork, GroupForm


class Cut(SetFunction):
    """S -> sum of weights[i, j] over i in S, j not in S, plus modular(S).

    The weights are a square matrix of numbers >= 0, dense or scipy-sparse, whose diagonal never counts.
    A symmetric one gives the undirected cut, each edge counted once. `edges` has tails, heads and weights of
    the directed edges, each pair once, sorted. The modular part has any sign.
    """

    def __init__(self, weights: Any, modular: npt.ArrayLike | None = None) -> None:
        if hasattr(weights, "tocoo"):
            entries = weights.tocoo()
            shape, (tails, heads), values = entries.shape, (entries.row, entries.col), entries.data
        else:
            dense = checks.finite_matrix("Cut", "weights", weights)
            shape, (tails, heads) = dense.shape, np.nonzero(dense)
            values = dense[tails, heads]
        if shape[0] != shape[1]:
            raise InvalidArgument(f"The 'weights' of Cut must be a square matrix. Got shape {shape} instead.")
        self._build(shape[0], tails.astype(np.int64), heads.astype(np.int64), values, modular)

    @classmethod
    def from_edges(
        cls,
        n: int,
        tails: Iterable[int],
        heads: Iterable[int],
        weights: npt.ArrayLike,
        modular: npt.ArrayLike | None = None,
        directed: bool = True,
    ) -> Self:
        """A cut from a list of edges; parallel edges add up."""
        self = cls.__new__(cls)
        n = checks.integer("Cut", "n", n, 0)
        starts = checks.index_array("Cut", "tails", tails, n)
        ends = checks.index_array("Cut", "heads", heads, n)
        values = checks.finite_vector("Cut", "weights", weights, starts.size)
        if ends.size != starts.size:
            raise InvalidArgument(f"The 'heads' of Cut must be as many as the tails, {starts.size}.")
        if not directed:
            starts, ends = np.concatenate((starts, ends)), np.concatenate((ends, starts))
            values = np.concatenate((values, values))
        self._build(n, starts, ends, values, modular)
        return self

    def _build(self, n: int, tails: IntArray, heads: IntArray, weights: Any, modular: Any) -> None:
        self.n = n
        # With negative weights the cut would not be submodular.
        values = checks.nonnegative("Cut", "weights", checks.finite_vector("Cut", "weights", weights))
        proper = (tails != heads) & (values > 0)
        codes, place = np.unique(tails[proper] * n + heads[proper], return_inverse=True)
        total = np.bincount(place, values[proper], minlength=codes.size).astype(np.float64)
        self.edges: tuple[IntArray, IntArray, FloatArray] = (*np.divmod(codes, max(n, 1)), frozen(total))
        self.modular = vector("Cut", "modular", modular, n, default=0.0)

    def range(self) -> tuple[float, float]:
        tails, heads, weights = self.edges
        pairs = np.minimum(tails, heads) * self.n + np.maximum(tails, heads)
        _, place = np.unique(pairs, return_inverse=True)
        heavier = np.zeros(place.max(initial=-1) + 1)
        np.maximum.at(heavier, place, weights)
        lo, hi = modular_range(self.modular)
        return lo, hi + float(heavier.sum())

    @property
    def integer_valued(self) -> bool:
        return integral(self.edges[2], self.modular)

    def _value(self, mask: BoolArray) -> float:
        return cut_value(*self.edges, self.modular, mask)

    def _chain(self, order: IntArray) -> FloatArray:
        values = np.empty(self.n + 1)
        cut_chain(*self.edges, self.modular, order, values)
        return values

    def _all_values(self) -> FloatArray:
        matrix = np.zeros((self.n, self.n))
        matrix[self.edges[:2]] = self.edges[2]
        values = np.zeros(1)
        for i in range(self.n):  # item i adds a modular function of the lower items that are in the set
            added = modular_values(-matrix[i, :i] - matrix[:i, i], self.modular[i] + matrix[i].sum())
            values = np.concatenate((values, values + added))
        return values

    def _scaled(self, factor: float) -> Cut:
        tails, heads, weights = self.edges
        return Cut.from_edges(self.n, tails, heads, weights * factor, self.modular * factor)

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        tails, heads, weights = map(np.concatenate, zip(*(f.edges for f in functions), strict=True))
        modular = np.sum([f.modular for f in functions], axis=0)
        return cls.from_edges(functions[0].n, tails, heads, weights, modular)

    def _fields(self) -> dict[str, Any]:
        arrays = zip(("tails", "heads", "weights", "modular"), (*self.edges, self.modular), strict=True)
        return {"n": self.n} | {name: array.tolist() for name, array in arrays}

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls.from_edges(**fields)

    def cut_network(self) -> CutNetwork:
        return CutNetwork(self.n, self.modular, 0.0, *self.edges)

    def group_form(self) -> GroupForm:
        # An edge is cut if one of its ends is taken, but not its head.
        tails, heads, weights = self.edges
        prices = self.modular - np.bincount(heads, weights, minlength=self.n)
        ends, starts = np.column_stack((tails, heads)).ravel(), 2 * np.arange(weights.size + 1)
        return GroupForm(np.zeros(1), prices, starts, ends, weights, np.zeros(weights.size))


class FacilityLocation(SetFunction):
    """S -> sum over clients u of the largest benefits[u, i] >= 0 with i in S (0 for the empty set)."""

    _linear_in = ("benefits",)

    def __init__(self, benefits: npt.ArrayLike) -> None:
        given = checks.finite_matrix("FacilityLocation", "benefits", benefits)
        self.benefits = frozen(checks.nonnegative("FacilityLocation", "benefits", given))
        self.n = self.benefits.shape[1]

    def range(self) -> tuple[float, float]:
        return 0.0, float(self.benefits.max(axis=1, initial=0.0).sum())

    def _value(self, mask: BoolArray) -> float:
        return float(self.benefits[:, mask].max(axis=1, initial=0.0).sum())

    def _chain(self, order: IntArray) -> FloatArray:
        best = np.maximum.accumulate(self.benefits[:, order], axis=1)
        return np.concatenate(([0.0], best.sum(axis=0)))

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        return cls(np.concatenate([f.benefits for f in functions]))

    def cut_network(self) -> CutNetwork:
        # A ladder per client: rung r says that an open facility is worth at least the r-th benefit. A
        # facility of rank r implies rung r, which implies rung r-1; each costs what it adds.
        clients, n = self.benefits.shape
        ranked = np.argsort(self.benefits, axis=1, kind="stable")
        heights = np.take_along_axis(self.benefits, ranked, axis=1)
        steps = np.diff(heights, axis=1, prepend=0.0)
        rung = n + np.arange(clients * n).reshape(clients, n)
        tails = np.concatenate((ranked.ravel(), rung[:, 1:].ravel()))
        heads = np.concatenate((rung.ravel(), rung[:, :-1].ravel()))
        unary = np.concatenate((np.zeros(n), steps.ravel()))
        return CutNetwork(n, unary, 0.0, tails, heads, np.full(tails.size, np.inf))


class MatroidRank(SetFunction):
    """S -> size of a largest forest within S. The items are edges: pairs of vertices, numbered from 0."""

    integer_valued = True

    def __init__(self, edges: Iterable[tuple[int, int]], vertices: int | None = None) -> None:
        pairs = [tuple(edge) for edge in edges]
        if any(len(pair) != 2 for pair in pairs):
            raise InvalidArgument("The 'edges' of MatroidRank must be pairs of vertices.")
        below = np.iinfo(np.int32).max if vertices is None else vertices
        ends = checks.index_array("MatroidRank", "edges", [v for pair in pairs for v in pair], below)
        self.n = len(pairs)
        self.edges: IntArray = ends.reshape(self.n, 2)
        least = int(ends.max(initial=-1)) + 1
        self.vertices = least if vertices is None else checks.integer("MatroidRank", "vertices", vertices, 0)
        # Vertices are renumbered without gaps, so that large numbers take no memory.
        used, places = np.unique(ends, return_inverse=True)
        self._places, self._used = places.reshape(self.n, 2), used.size

    def range(self) -> tuple[float, float]:
        return 0.0, float(self._chain(np.arange(self.n))[-1])

    def _value(self, mask: BoolArray) -> float:
        return float(forest_sizes(self._places, np.flatnonzero(mask), self._used)[-1])

    def _chain(self, order: IntArray) -> FloatArray:
        return forest_sizes(self._places, order, self._used)


@lean_kernel
def cut_value(
    tails: IntArray, heads: IntArray, weights: FloatArray, modular: FloatArray, mask: BoolArray
) -> float:
    """The value of one set."""
    total = 0.0
    for i in range(modular.size):
        if mask[i]:
            total += modular[i]
    for e in range(weights.size):
        if mask[tails[e]] and not mask[heads[e]]:
            total += weights[e]
    return total


@kernel
def cut_chain(
    tails: IntArray,
    heads: IntArray,
    weights: FloatArray,
    modular: FloatArray,
    order: IntArray,
    values: FloatArray,
) -> None:
    """Write the n+1 values along `order` into `values`, in one pass over the edges."""
    n = order.size
    position = np.empty(n, dtype=np.int64)
    values[0] = 0.0
    for k in range(n):
        position[order[k]] = k
        values[k + 1] = modular[order[k]]
    for e in range(weights.size):
        enters, leaves = position[tails[e]], position[heads[e]]
        if enters < leaves:
            values[enters + 1] += weights[e]
            values[leaves + 1] -= weights[e]
    for k in range(n):
        values[k + 1] += values[k]


@kernel
def forest_sizes(ends: IntArray, order: IntArray, vertices: int) -> FloatArray:
    """The rank after each edge of `order`, by union-find with path halving."""
    parent = np.arange(vertices)
    sizes = np.zeros(order.size + 1)
    for k in range(order.size):
        a, b = ends[order[k], 0], ends[order[k], 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        sizes[k + 1] = sizes[k]
        if a != b:
            parent[a] = b
            sizes[k + 1] += 1.0
    return sizes
