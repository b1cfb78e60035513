"""The rank function of a graphic matroid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
        edges: Pairs of vertices (numbered from 0); loops and parallel edges are welcome.
        vertices: The number of vertices; by default the largest one named, plus one. Vertices without edges
            have no part in any rank, so that memory depends on the number of edges alone.

    Examples:
        >>> MatroidRank([(0, 1), (1, 2), (0, 2)])([0, 1, 2])
        2.0
    """

    def __init__(self, edges: Iterable[tuple[int, int]], vertices: int | None = None) -> None:
        pairs = [tuple(edge) for edge in edges]
        if any(len(pair) != 2 for pair in pairs):
            raise InvalidArgument("The 'edges' of MatroidRank must be pairs of vertices.")
        below = np.iinfo(np.int32).max if vertices is None else vertices
        ends = checks.index_array("MatroidRank", "edges", [v for pair in pairs for v in pair], below)
        self.n = len(pairs)
        self._ends = ends.reshape(self.n, 2)
        least = int(ends.max(initial=-1)) + 1
        self.vertices = least if vertices is None else checks.integer("MatroidRank", "vertices", vertices, 0)
        # However large the vertices' numbers are, what is computed with are their places among those named.
        named, places = np.unique(ends, return_inverse=True)
        self._places, self._named = places.reshape(self.n, 2), named.size

    def range(self) -> tuple[float, float]:
        """From 0 to the rank of all edges."""
        return 0.0, float(self._chain(np.arange(self.n))[-1])

    @property
    def integer_valued(self) -> bool:
        return True

    def _value(self, mask: BoolArray) -> float:
        return float(forest_sizes(self._places, np.flatnonzero(mask), self._named)[-1])

    def _chain(self, order: IntArray) -> FloatArray:
        return forest_sizes(self._places, order, self._named)

    def _fields(self) -> dict[str, Any]:
        return {"edges": self._ends.tolist(), "vertices": self.vertices}


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
