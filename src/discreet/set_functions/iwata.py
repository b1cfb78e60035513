"""Iwata's test function, the usual benchmark of submodular minimisation."""

from __future__ import annotations

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.set_functions.base import SetFunction, frozen
from discreet.set_functions.concave_form import ConcaveForm


class Iwata(SetFunction):
    """S -> |S| |V minus S| - sum over j in S of (5j - 2n), items counted from j = 1.

    The minimum is at the k = round((4n+5)/6) last items, with value 1.5 k^2 - (2n + 2.5) k.

    Examples:
        >>> Iwata(4)([2, 3])
        -15.0
    """

    def __init__(self, n: int) -> None:
        self.n = checks.integer("Iwata", "n", n, 0)
        self._weights: FloatArray = frozen(2.0 * n - 5.0 * np.arange(1.0, n + 1.0))

    def range(self) -> tuple[float, float]:
        """Attained, for some cardinality, by the last and by the first items."""
        last_first = np.arange(self.n)[::-1]
        return float(self._chain(last_first).min()), float(self._chain(last_first[::-1]).max())

    @property
    def integer_valued(self) -> bool:
        return True

    def _value(self, mask: BoolArray) -> float:
        size = int(np.count_nonzero(mask))
        return size * (self.n - size) + float(self._weights[mask].sum())

    def _chain(self, order: IntArray) -> FloatArray:
        sizes = np.arange(self.n + 1, dtype=float)
        return sizes * (self.n - sizes) + np.concatenate(([0.0], np.cumsum(self._weights[order])))

    def concave_form(self) -> ConcaveForm:
        return ConcaveForm(direction=np.ones(self.n), linear=self._weights)
