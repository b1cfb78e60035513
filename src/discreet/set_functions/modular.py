"""Modular functions: every item has a price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.set_functions.base import SetFunction, all_integers, frozen, modular_range, modular_values
from discreet.set_functions.concave_form import ConcaveForm
from discreet.set_functions.cut_network import CutNetwork


class Modular(SetFunction):
    """S -> constant + sum of weights over S.

    Args:
        weights: One number per item, of any sign.
        constant: The value of the empty set.

    Examples:
        >>> Modular([1, -2, 3])([0, 2])
        4.0
    """

    def __init__(self, weights: npt.ArrayLike, constant: float = 0.0) -> None:
        self.weights: FloatArray = frozen(checks.finite_vector("Modular", "weights", weights))
        self.constant = checks.finite_number("Modular", "constant", constant, quoted=False)
        self.n = self.weights.size

    def range(self) -> tuple[float, float]:
        return modular_range(self.weights, self.constant)

    @property
    def integer_valued(self) -> bool:
        return all_integers(self.weights, np.array([self.constant]))

    def _value(self, mask: BoolArray) -> float:
        return self.constant + float(self.weights[mask].sum())

    def _chain(self, order: IntArray) -> FloatArray:
        return np.cumsum(np.concatenate(([self.constant], self.weights[order])))

    def _all_values(self) -> FloatArray:
        return modular_values(self.weights, self.constant)

    def _scaled(self, factor: float) -> Modular:
        return Modular(self.weights * factor, self.constant * factor)

    def __neg__(self) -> Modular:
        return Modular(-self.weights, -self.constant)

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        weights = np.sum([f.weights for f in functions], axis=0)
        return cls(weights, sum(f.constant for f in functions))

    def concave_form(self) -> ConcaveForm:
        return ConcaveForm(direction=None, linear=self.weights)

    def cut_network(self) -> CutNetwork:
        return CutNetwork(items=self.n, unary=self.weights, constant=self.constant)
