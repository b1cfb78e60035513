"""Graph cuts, directed or undirected, with a modular part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.errors import InvalidArgument
from discreet.set_functions.base import SetFunction, all_whole, frozen, modular_range
from discreet.set_functions.cut_network import CutNetwork


class Cut(SetFunction):
    """S -> sum of weights[i, j] over i in S, j not in S, plus modular(S).

    A symmetric matrix gives the undirected cut, each edge counted once. The diagonal
    never counts.

    Args:
        weights: A square matrix of nonnegative numbers, dense or scipy-sparse.
        modular: One number per item, of any sign.

    Examples:
        >>> f = Cut([[0, 2], [1, 0]], modular=[-3, 1])
        >>> f([0]), f([1]), f([0, 1])
        (-1.0, 2.0, -2.0)
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
        self._build(shape[0], tails, heads, values, modular)

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
            raise InvalidArgument(
                f"The 'heads' of Cut must be as many as the tails, {starts.size}. Got {ends.size} instead."
            )
        if not directed:
            starts, ends = np.concatenate((starts, ends)), np.concatenate((ends, starts))
            values = np.concatenate((values, values))
        self._build(n, starts, ends, values, modular)
        return self

    def _build(
        self,
        n: int,
        tails: npt.ArrayLike,
        heads: npt.ArrayLike,
        weights: npt.ArrayLike,
        modular: npt.ArrayLike | None,
    ) -> None:
        self.n = n
        starts, ends = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
        # With negative weights the cut would not be submodular.
        values = checks.nonnegative("Cut", "weights", checks.finite_vector("Cut", "weights", weights))
        proper = (starts != ends) & (values > 0)
        codes, place = np.unique(starts[proper] * n + ends[proper], return_inverse=True)
        self._tails, self._heads = codes // max(n, 1), codes % max(n, 1)
        self._weights = frozen(np.bincount(place, values[proper], minlength=codes.size).astype(np.float64))
        given = np.zeros(n) if modular is None else modular
        self.modular: FloatArray = frozen(checks.finite_vector("Cut", "modular", given, n))

    @property
    def edges(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Tails, heads and weights of the directed edges, each pair once, sorted."""
        return self._tails, self._heads, self._weights

    def range(self) -> tuple[float, float]:
        """Between no edge and, of every opposite pair, the heavier one."""
        n = max(self.n, 1)
        pair = np.minimum(self._tails, self._heads) * n + np.maximum(self._tails, self._heads)
        _, place = np.unique(pair, return_inverse=True)
        heavier = np.zeros(place.max(initial=-1) + 1)
        np.maximum.at(heavier, place, self._weights)
        lo, hi = modular_range(self.modular)
        return lo, hi + float(heavier.sum())

    @property
    def integer_valued(self) -> bool:
        return all_whole(self._weights, self.modular)

    def _value(self, mask: BoolArray) -> float:
        return cut_value(self._tails, self._heads, self._weights, self.modular, mask)

    def _chain(self, order: IntArray) -> FloatArray:
        values = np.empty(self.n + 1)
        cut_chain(self._tails, self._heads, self._weights, self.modular, order, values)
        return values

    def _all_values(self) -> FloatArray:
        values = np.empty(2**self.n)
        cut_values(self._tails, self._heads, self._weights, self.modular, values)
        return values

    def _scaled(self, factor: float) -> Cut:
        return Cut.from_edges(self.n, self._tails, self._heads, self._weights * factor, self.modular * factor)

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        return cls.from_edges(
            functions[0].n,
            np.concatenate([f._tails for f in functions]),
            np.concatenate([f._heads for f in functions]),
            np.concatenate([f._weights for f in functions]),
            np.sum([f.modular for f in functions], axis=0),
        )

    def _fields(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "tails": self._tails.tolist(),
            "heads": self._heads.tolist(),
            "weights": self._weights.tolist(),
            "modular": self.modular.tolist(),
        }

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        return cls.from_edges(**fields)

    def cut_network(self) -> CutNetwork:
        return CutNetwork(
            self.n,
            self.modular,
            tails=self._tails,
            heads=self._heads,
            capacities=self._weights,
        )


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
def cut_values(
    tails: IntArray, heads: IntArray, weights: FloatArray, modular: FloatArray, values: FloatArray
) -> None:
    """Write the values of all sets, by their codes, into `values`."""
    mask = np.zeros(modular.size, dtype=np.bool_)
    for code in range(values.size):
        for i in range(mask.size):
            mask[i] = code >> i & 1
        values[code] = cut_value(tails, heads, weights, modular, mask)


@kernel
def cut_chain(
    tails: IntArray,
    heads: IntArray,
    weights: FloatArray,
    modular: FloatArray,
    order: IntArray,
    values: FloatArray,
) -> None:
    """Write the n+1 values along `order` into `values`, in one pass over the edges.

    An edge counts from the prefix in which its tail enters until its head enters.
    """
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
