"""The Lovász extension: a convex function on [0,1]^n that agrees with f on the vertices.

Sort x decreasingly (ties keep the order of the items). The prefixes B_0 < B_1 < ... < B_n of
that order form the maximal chain of x, and with x_(0) = 1 and x_(n+1) = 0

    f^(x) = sum over i of mu_i f(B_i),      mu_i = x_(i) - x_(i+1) >= 0, adding up to 1:

the mean of f({i : x_i >= tau}) over tau uniform on [0,1]. It is convex exactly when f is submodular.

Examples:
    >>> from discreet.set_functions import Cut
    >>> f, x = Cut([[0, 2], [0, 0]]), [0.75, 0.25]
    >>> value(f, x), subgradient(f, x)
    (1.0, array([ 2., -2.]))
    >>> chain(x)
    Chain(order=array([0, 1]), weights=array([0.25, 0.5 , 0.25]))
    >>> level_set(x, 0.5), draw_level_set(x, uniform=0.9)
    (frozenset({0}), frozenset({0, 1}))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.set_functions import SetFunction

__all__ = ["Chain", "chain", "draw_level_set", "level_set", "subgradient", "value"]


@dataclass(frozen=True)
class Chain:
    """The maximal chain of a point: the items by decreasing x, and the weights mu_0, ..., mu_n."""

    order: IntArray
    weights: FloatArray

    @property
    def sets(self) -> Sequence[frozenset[int]]:
        """The prefixes B_0, ..., B_n, each made on access."""
        return _Prefixes(self.order)


def chain(x: npt.ArrayLike) -> Chain:
    """The chain of a point of [0,1]^n."""
    point = _point(x)
    order = np.argsort(-point, kind="stable")
    levels = np.concatenate(([1.0], point[order], [0.0]))
    return Chain(order, levels[:-1] - levels[1:])


def value(f: SetFunction, x: npt.ArrayLike) -> float:
    """The value of the extension of f at x."""
    found = chain(_point(x, f.n))
    return float(found.weights @ f.chain_values(found.order))


def subgradient(f: SetFunction, x: npt.ArrayLike) -> FloatArray:
    """A subgradient of the extension of f at x: each item's gain along the chain."""
    return chain_gains(f, np.argsort(-_point(x, f.n), kind="stable"))[0]


def chain_gains(f: SetFunction, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """What each item adds to the prefix of `order` before it, and the n+1 values of the prefixes."""
    values, gains = f.chain_values(order), np.empty(f.n)
    gains[order] = np.diff(values)
    return gains, values


def level_set(x: npt.ArrayLike, threshold: float) -> frozenset[int]:
    """The items with x_i >= threshold."""
    level = checks.finite_number("level_set", "threshold", threshold)
    return frozenset(np.flatnonzero(_point(x) >= level).tolist())


def draw_level_set(x: npt.ArrayLike, uniform: float) -> frozenset[int]:
    """The level set of threshold 1 - uniform, for a number drawn from [0, 1): E f(set) = f^(x) exactly."""
    if checks.unit_number("draw_level_set", "uniform", uniform) == 1.0:
        raise checks.invalid_argument("draw_level_set", "uniform", "a number in [0, 1)", uniform)
    return level_set(x, 1.0 - float(uniform))


@lean_kernel
def comes_first(levels: FloatArray, one: int, other: int) -> bool:
    """Whether one item comes before another: by decreasing level, of ties the lower number."""
    return bool(levels[one] > levels[other] or (levels[one] == levels[other] and one < other))


@lean_kernel
def sort_by_level(levels: FloatArray, items: IntArray) -> None:
    """Sort some items in place by decreasing level; of ties the lower number comes first."""
    # Most are in order already, as a rule. If not, Shell's sort takes over: numpy's take seconds to compile.
    m = items.size
    if _insert(levels, items, 1, m * m if m <= 32 else 4 * m):
        return
    gap = 1
    while 3 * gap < m:
        gap = 3 * gap + 1
    while gap > 0:
        _insert(levels, items, gap, m * m)
        gap //= 3


@lean_kernel
def _insert(levels: FloatArray, items: IntArray, gap: int, most_moves: int) -> bool:
    """Insertion sort of items that are `gap` apart; False if it took too many moves and stopped."""
    moves = 0
    for taken in range(gap, items.size):
        item = items[taken]
        place = taken
        while place >= gap and comes_first(levels, item, items[place - gap]):
            items[place] = items[place - gap]
            place -= gap
            moves += 1
        items[place] = item
        if moves > most_moves:
            return False
    return True


class _Prefixes(Sequence[frozenset[int]]):
    def __init__(self, order: IntArray) -> None:
        self._order = order

    def __len__(self) -> int:
        return self._order.size + 1

    def __getitem__(self, index: Any) -> Any:  # a set for an integer, a list of them for a slice
        lengths = range(len(self))[index]
        if isinstance(lengths, range):
            return [frozenset(self._order[:length].tolist()) for length in lengths]
        return frozenset(self._order[:lengths].tolist())


def _point(x: npt.ArrayLike, n: int | None = None) -> FloatArray:
    point = checks.finite_vector("lovasz", "x", x, n)
    if point.min(initial=0.0) < 0 or point.max(initial=0.0) > 1:
        outside = point[(point < 0) | (point > 1)][0]
        raise InvalidArgument(f"The 'x' of lovasz must lie in [0, 1]. Got {outside} instead.")
    return point
