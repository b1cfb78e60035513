"""The rank function of a graphic matroid."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel
from discreet.errors import InvalidArgument
from discreet.set_functions.base import SetFunction


class MatroidRank(SetFunction):
    """S -> size of a largest forest within the edge set S of a graph.

    The items are the edges, numbered as they are given.

    Args:
        edges: Pairs of vertices (numbered from 0); loops and parallel edges are allowed.
        vertices: The number of vertices; by default the largest number in `edges`, plus one. Memory depends
            on the number of edges alone.

    Examples:
        >>> MatroidRank([(0, 1), (1, 2), (0, 2)])([0, 1, 2])
        2.0
    """

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
