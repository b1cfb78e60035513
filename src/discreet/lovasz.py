"""The Lovász extension: a convex function on [0,1]^n that agrees with f on the vertices.

Sort x decreasingly (ties keep the order of the items). The prefixes B_0 < B_1 < ... < B_n of
that order form the maximal chain of x, and with x_(0) = 1 and x_(n+1) = 0

    f^(x) = sum over i of mu_i f(B_i),      mu_i = x_(i) - x_(i+1) >= 0, adding up to 1.

It is also the mean of f({i : x_i >= tau}) over tau uniform on [0,1], and it is convex exactly
when f is submodular. All functions here cost a sort and one chain pass.

Examples:
    >>> from discreet.set_functions import Cut
    >>> f, x = Cut([[0, 2], [0, 0]]), [0.75, 0.25]
    >>> value(f, x), subgradient(f, x)
    (1.0, array([ 2., -2.]))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.errors import InvalidArgument
from discreet.set_functions import SetFunction


@dataclass(frozen=True)
class Chain:
    """The maximal chain of a point.

    Attributes:
        order: The items by decreasing x; ties keep the items' own order.
        weights: The n+1 numbers mu_0, ..., mu_n of the prefixes; nonnegative, of sum 1.

    Examples:
        >>> found = chain([0.25, 0.75])
        >>> found.sets[1], found.weights
        (frozenset({1}), array([0.25, 0.5 , 0.25]))
    """

    order: IntArray
    weights: FloatArray

    @property
    def sets(self) -> Sequence[frozenset[int]]:
        """The prefixes B_0, ..., B_n, made when they are looked at."""
        return _Prefixes(self.order)


def chain(x: npt.ArrayLike) -> Chain:
    """The chain of a point of [0,1]^n.

    Examples:
        >>> c = chain([0.2, 0.9])
        >>> c.order.tolist(), c.weights.round(3).tolist(), list(c.sets)
        ([1, 0], [0.1, 0.7, 0.2], [frozenset(), frozenset({1}), frozenset({0, 1})])
    """
    point = _point(x)
    order = decreasing_order(point)
    return Chain(order, chain_weights(point, order))


def value(f: SetFunction, x: npt.ArrayLike) -> float:
    """The value of the extension of f at x.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> value(Modular([4, 8]), [0.5, 0.25])
        4.0
    """
    point = _point(x, f.n)
    order = decreasing_order(point)
    return float(chain_weights(point, order) @ f.chain_values(order))


def subgradient(f: SetFunction, x: npt.ArrayLike) -> FloatArray:
    """A subgradient of the extension of f at x: each item's gain along the chain.

    With values of f in [lo, hi] its L1 norm is at most 2 (hi - lo) when f is submodular.

    Examples:
        >>> from discreet.set_functions import ConcaveOfCardinality
        >>> subgradient(ConcaveOfCardinality([0, 3, 4]), [0.1, 0.6])
        array([1., 3.])
    """
    order = decreasing_order(_point(x, f.n))
    gains = np.empty(f.n)
    chain_gains(f.chain_values(order), order, gains)
    return gains


def level_set(x: npt.ArrayLike, threshold: float) -> frozenset[int]:
    """The items with x_i >= threshold.

    Examples:
        >>> sorted(level_set([0.2, 0.9, 0.5], 0.5))
        [1, 2]
    """
    level = checks.finite_number("level_set", "threshold", threshold)
    return frozenset(np.flatnonzero(_point(x) >= level).tolist())


def draw_level_set(x: npt.ArrayLike, uniform: float) -> frozenset[int]:
    """The random set of the extension, given a number drawn uniformly from [0, 1).

    The threshold is 1 - uniform, in (0, 1]: an item with x_i = 0 is never drawn and one with
    x_i = 1 always is, so that E f(set) = f^(x) exactly.

    Examples:
        >>> draw_level_set([0.0, 1.0], 0.0)
        frozenset({1})
    """
    number = checks.finite_number("draw_level_set", "uniform", uniform)
    if not 0.0 <= number < 1.0:
        raise checks.invalid_argument("draw_level_set", "uniform", "a number in [0, 1)", uniform)
    return level_set(x, 1.0 - number)


@kernel
def decreasing_order(x: FloatArray) -> IntArray:
    """The items by decreasing x; of equal ones the lower number comes first.

    Examples:
        >>> decreasing_order(np.array([0.2, 0.9, 0.2]))
        array([1, 0, 2])
    """
    order = np.arange(x.size)
    sort_by_level(x, order)
    return order


@lean_kernel
def sort_by_level(levels: FloatArray, items: IntArray) -> None:
    """Sort some items in place by decreasing level; of equal ones the lower number comes first.

    Examples:
        >>> items = np.array([0, 2])
        >>> sort_by_level(np.array([0.2, 0.9, 0.5]), items)
        >>> items
        array([2, 0])
    """
    # Insertion: for few items several times faster than a general sort, and from one round to the next most
    # items are in order already. Where many are not, a general sort takes over.
    m = items.size
    most_moves = m * m if m <= 32 else 4 * m
    moves = 0
    for taken in range(1, m):
        item = items[taken]
        place = taken
        while place > 0 and (
            levels[items[place - 1]] < levels[item]
            or (levels[items[place - 1]] == levels[item] and items[place - 1] > item)
        ):
            items[place] = items[place - 1]
            place -= 1
            moves += 1
        items[place] = item
        if moves > most_moves:
            _sort_many_by_level(levels, items)
            return


@kernel
def _sort_many_by_level(levels: FloatArray, items: IntArray) -> None:
    items.sort()
    items[:] = items[np.argsort(-levels[items], kind="mergesort")]


@kernel
def chain_weights(x: FloatArray, order: IntArray) -> FloatArray:
    """The weights mu_0, ..., mu_n of the prefixes of `order`, which sorts (some items of) x decreasingly.

    Examples:
        >>> chain_weights(np.array([0.25, 0.75]), np.array([1, 0]))
        array([0.25, 0.5 , 0.25])
    """
    m = order.size
    weights = np.empty(m + 1)
    above = 1.0
    for k in range(m):
        weights[k] = above - x[order[k]]
        above = x[order[k]]
    weights[m] = above
    return weights


@lean_kernel
def chain_gains(values: FloatArray, order: IntArray, gains: FloatArray) -> None:
    """Write what each item adds to the prefix before it into `gains`, from the n+1 chain values.

    Examples:
        >>> gains = np.empty(2)
        >>> chain_gains(np.array([0.0, 3.0, 4.0]), np.array([1, 0]), gains)
        >>> gains
        array([1., 3.])
    """
    for k in range(order.size):
        gains[order[k]] = values[k + 1] - values[k]


class _Prefixes(Sequence[frozenset[int]]):
    """The prefixes of an order, each made on demand."""

    def __init__(self, order: IntArray) -> None:
        self._order = order

    def __len__(self) -> int:
        return self._order.size + 1

    @overload
    def __getitem__(self, index: int) -> frozenset[int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[frozenset[int]]: ...
    def __getitem__(self, index: int | slice) -> frozenset[int] | list[frozenset[int]]:
        lengths = range(len(self))[index]
        if isinstance(lengths, range):
            return [frozenset(self._order[:length].tolist()) for length in lengths]
        return frozenset(self._order[:lengths].tolist())

    def __iter__(self) -> Iterator[frozenset[int]]:
        return (self[length] for length in range(len(self)))


def _point(x: npt.ArrayLike, n: int | None = None) -> FloatArray:
    point = checks.finite_vector("lovasz", "x", x, n)
    if point.min(initial=0.0) < 0 or point.max(initial=0.0) > 1:
        outside = point[(point < 0) | (point > 1)][0]
        raise InvalidArgument(f"The 'x' of lovasz must lie in [0, 1]. Got {outside} instead.")
    return point
