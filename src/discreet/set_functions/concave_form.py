"""Functions g(a(S)) + b(S), g concave and a >= 0: n+1 candidate sets hold a minimiser.

Let S* minimise and let s be a supergradient of g at a(S*). For every S,
``g(a(S)) + b(S) <= g(a(S*)) - s a(S*) + (s a + b)(S)``. The right side is least at
``{i : s a_i + b_i < 0}``, where it is at most the minimum; so that set is optimal. Whatever s
is, it is a prefix of the order by b_i / a_i (items with a_i = 0 come first when b_i < 0 and
last otherwise). One chain pass along that order therefore finds the minimum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ConcaveForm:
    """The linear data of g(a(S)) + b(S); g itself is not needed to find the order.

    Attributes:
        direction: The weights a >= 0 inside g, or None where there is no g.
        linear: The weights b outside.
    """

    direction: FloatArray | None
    linear: FloatArray

    def minimizing_order(self) -> IntArray:
        """An order one of whose prefixes is a minimiser."""
        if self.direction is None:
            return np.argsort(self.linear, kind="stable")
        ratio = np.where(self.linear < 0, -np.inf, np.inf)
        np.divide(self.linear, self.direction, out=ratio, where=self.direction > 0)
        return np.argsort(ratio, kind="stable")

    def scaled(self, factor: float) -> ConcaveForm:
        """The form of factor * f."""
        return ConcaveForm(self.direction, self.linear * factor)

    def taking(self, kept: BoolArray) -> ConcaveForm:
        """The form on fewer items, whether the others are left out or always in."""
        return ConcaveForm(None if self.direction is None else self.direction[kept], self.linear[kept])

    def complemented(self) -> ConcaveForm:
        """The form of S -> f(V minus S): g(a(V) - y) is concave in y too."""
        return ConcaveForm(self.direction, -self.linear)


def sum_of_forms(forms: Iterable[ConcaveForm | None]) -> ConcaveForm | None:
    """The form of a sum of functions, or None if it has none."""
    known = []
    for form in forms:
        if form is None:
            return None
        known.append(form)
    directions = [form.direction for form in known if form.direction is not None]
    # a and c a give one function of a(S), but they must agree exactly, not up to rounding.
    unit = [direction / (direction.max(initial=0.0) or 1.0) for direction in directions]
    if any(not np.array_equal(unit[0], other) for other in unit[1:]):
        return None
    linear: FloatArray = np.sum([form.linear for form in known], axis=0)
    return ConcaveForm(directions[0] if directions else None, linear)
