"""Facility location: every client goes to the best facility that is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.set_functions.base import SetFunction, frozen, integral
from discreet.set_functions.structure import CutNetwork


class FacilityLocation(SetFunction):
    """S -> sum over clients u of the largest benefits[u, i] >= 0 with i in S (0 for the empty set).

    Examples:
        >>> FacilityLocation([[3, 1], [0, 2]])([0, 1])
        5.0
    """

    def __init__(self, benefits: npt.ArrayLike) -> None:
        given = checks.finite_matrix("FacilityLocation", "benefits", benefits)
        self.benefits = frozen(checks.nonnegative("FacilityLocation", "benefits", given))
        self.n = self.benefits.shape[1]

    def range(self) -> tuple[float, float]:
        return 0.0, float(self.benefits.max(axis=1, initial=0.0).sum())

    @property
    def integer_valued(self) -> bool:
        return integral(self.benefits)

    def _value(self, mask: BoolArray) -> float:
        return float(self.benefits[:, mask].max(axis=1, initial=0.0).sum())

    def _chain(self, order: IntArray) -> FloatArray:
        best = np.maximum.accumulate(self.benefits[:, order], axis=1)
        return np.concatenate(([0.0], best.sum(axis=0)))

    def _scaled(self, factor: float) -> FacilityLocation:
        return FacilityLocation(self.benefits * factor)

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        return cls(np.concatenate([f.benefits for f in functions]))

    def cut_network(self) -> CutNetwork:
        """A ladder per client: node (u, r) says "an open facility is worth at least the r-th benefit".

        A facility of rank r implies rung r, which implies rung r-1; each rung costs what it adds.
        """
        clients, n = self.benefits.shape
        ranked = np.argsort(self.benefits, axis=1, kind="stable")
        heights = np.take_along_axis(self.benefits, ranked, axis=1)
        steps = np.diff(heights, axis=1, prepend=0.0)
        rung = n + np.arange(clients * n).reshape(clients, n)
        tails = np.concatenate((ranked.ravel(), rung[:, 1:].ravel()))
        heads = np.concatenate((rung.ravel(), rung[:, :-1].ravel()))
        unary = np.concatenate((np.zeros(n), steps.ravel()))
        return CutNetwork(n, unary, 0.0, tails, heads, np.full(tails.size, np.inf))
