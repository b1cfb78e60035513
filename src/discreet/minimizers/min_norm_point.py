"""The minimum-norm point algorithm of Fujishige and Wolfe, for any submodular function.

The base polytope of g = f - f({}) has the gains along chains as its vertices, and

    min g = max over x in the polytope of sum of min(x_i, 0),

so every x in the polytope certifies a lower bound, and the prefixes of the order that sorts x upwards hold
the candidate sets. Wolfe's method walks to the point of least Euclidean norm, whose negative part attains the
maximum. It keeps x as a convex combination of affinely independent vertices (the corral) and a triangular
factor R of (1 1' + P P'), P the corral's rows.

References: Fujishige and Isotani, "A submodular function minimization algorithm based on the minimum-norm
base", 2011; Wolfe, "Finding the nearest point in a polytope", 1976.
"""

from __future__ import annotations

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel
from discreet.errors import InvalidArgument
from discreet.lovasz import chain_gains
from discreet.minimizers.result import Minimum, Stop, Stopping
from discreet.set_functions import SetFunction

NO_WEIGHT = 1e-12  # weights of the corral below this count as zero


def minimize_by_min_norm_point(f: SetFunction, stopping: Stopping) -> Minimum:
    """The minimum of a submodular function, with a duality gap."""
    empty = f(())
    best, value = np.empty(0, dtype=np.int64), empty
    stopped: Stop | None = None
    corral = _Corral(_greedy_vertex(f, np.arange(f.n))[0])
    try:
        while stopped is None:
            order = np.argsort(corral.x, kind="stable")
            vertex, values = _greedy_vertex(f, order)
            k = int(np.argmin(values))
            if values[k] < value:
                best, value = order[:k], float(values[k])
            stopped = stopping.after_pass(value, empty + float(np.minimum(corral.x, 0.0).sum()))
            if stopped is None and not corral.improve(vertex):
                stopped = "stalled"
    except KeyboardInterrupt:
        stopped = "interrupted"
    value = f(best)
    bound = value if stopped == "optimal" else min(stopping.lower_bound, value)
    chosen, assumed = frozenset(best.tolist()), not f.known_submodular
    return Minimum(chosen, value, bound, "minimum-norm point", stopped, assumed, stopping.iterations)


def _greedy_vertex(f: SetFunction, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """The vertex of the base polytope for an order, and the values along it."""
    vertex, values = chain_gains(f, order)
    if not np.all(np.isfinite(values)):
        raise InvalidArgument(f"The function to minimise must have finite values. {f!r} does not.")
    return vertex, values


class _Corral:
    """Affinely independent vertices, their weights, the factor R, and their combination x."""

    def __init__(self, vertex: FloatArray) -> None:
        capacity = min(vertex.size + 1, 64)
        self._points = np.zeros((capacity, vertex.size))
        self._factor = np.zeros((capacity, capacity))
        self._solved, self._weights = np.zeros(capacity), np.zeros(capacity)
        self._points[0] = vertex
        self._factor[0, 0] = np.sqrt(1.0 + vertex @ vertex)
        self._solved[0] = 1.0 / self._factor[0, 0]
        self._weights[0] = 1.0
        self._size = 1
        self.x: FloatArray = vertex.copy()

    def improve(self, vertex: FloatArray) -> bool:
        """Bring one more vertex in and move x to the nearest point; False if x cannot improve."""
        norm = float(self.x @ self.x)
        largest = max(norm, float(vertex @ vertex))
        if norm - float(self.x @ vertex) <= 1e-12 * largest:  # in the hyperplane through x: no improvement
            return False
        if self._size == self._points.shape[0]:
            self._grow()
        size = self._size
        inner = 1.0 + self._points[:size] @ vertex
        if not append_row(self._factor, self._solved, size, inner, 1.0 + float(vertex @ vertex)):
            return False
        self._points[size] = vertex
        self._weights[size] = 0.0
        self._size = shrink_to_nearest(self._points, self._factor, self._solved, self._weights, size + 1)
        self.x = self._weights[: self._size] @ self._points[: self._size]
        return True

    def _grow(self) -> None:
        capacity = min(2 * self._size, self._points.shape[1] + 2)
        extra = capacity - self._size
        self._points = np.pad(self._points, ((0, extra), (0, 0)))
        self._factor = np.pad(self._factor, (0, extra))
        self._solved, self._weights = np.pad(self._solved, (0, extra)), np.pad(self._weights, (0, extra))


@kernel
def append_row(factor: FloatArray, solved: FloatArray, size: int, inner: FloatArray, squared: float) -> bool:
    """Extend the upper factor R (R'R = Gram matrix) and the solution y of R'y = 1 by one vertex.

    False if the vertex is affinely dependent on the others to working precision.
    """
    column = inner.copy()
    rest, product = squared, 1.0
    for i in range(size):
        entry = column[i] / factor[i, i]
        for j in range(i + 1, size):
            column[j] -= entry * factor[i, j]
        column[i] = entry
        rest -= entry * entry
        product -= entry * solved[i]
    if rest <= 1e-14 * squared:
        return False
    for i in range(size):
        factor[i, size] = column[i]
    factor[size, size] = np.sqrt(rest)
    solved[size] = product / factor[size, size]
    return True


@kernel
def shrink_to_nearest(
    points: FloatArray, factor: FloatArray, solved: FloatArray, weights: FloatArray, size: int
) -> int:
    """Wolfe's minor cycle: drop vertices until the nearest point of their plane is in the hull; the size."""
    affine = np.empty(size)
    while True:
        total = 0.0
        for i in range(size - 1, -1, -1):
            entry = solved[i]
            for j in range(i + 1, size):
                entry -= factor[i, j] * affine[j]
            affine[i] = entry / factor[i, i]
            total += affine[i]
        inside = True
        step = 1.0
        for i in range(size):
            affine[i] /= total
            if affine[i] <= NO_WEIGHT:
                inside = False
                if weights[i] - affine[i] > NO_WEIGHT:
                    step = min(step, weights[i] / (weights[i] - affine[i]))
        if inside:
            for i in range(size):
                weights[i] = affine[i]
            return size
        least, drop = np.inf, 0
        for i in range(size):
            weights[i] += step * (affine[i] - weights[i])
            # Of the weights that fell to zero, the smallest goes; the next round finds the others.
            if affine[i] <= NO_WEIGHT and weights[i] < least:
                least, drop = weights[i], i
        weights[drop] = 0.0
        remove_row(points, factor, solved, weights, size, drop)
        size -= 1


@kernel
def remove_row(
    points: FloatArray, factor: FloatArray, solved: FloatArray, weights: FloatArray, size: int, drop: int
) -> None:
    """Take one vertex out and make the factor triangular again by plane rotations."""
    for i in range(drop, size - 1):
        for j in range(points.shape[1]):
            points[i, j] = points[i + 1, j]
        weights[i] = weights[i + 1]
    for i in range(size):
        for j in range(drop, size - 1):
            factor[i, j] = factor[i, j + 1]
    for i in range(drop, size - 1):
        a, b = factor[i, i], factor[i + 1, i]
        radius = np.hypot(a, b)
        cosine, sine = a / radius, b / radius
        for j in range(i, size - 1):
            upper, lower = factor[i, j], factor[i + 1, j]
            factor[i, j] = cosine * upper + sine * lower
            factor[i + 1, j] = cosine * lower - sine * upper
        upper, lower = solved[i], solved[i + 1]
        solved[i] = cosine * upper + sine * lower
        solved[i + 1] = cosine * lower - sine * upper
    total = 0.0
    for i in range(size - 1):
        total += weights[i]
    for i in range(size - 1):
        weights[i] /= total
