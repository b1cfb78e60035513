"""A set function given by its 2^n values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument
from discreet.set_functions.base import MOST_ITEMS_OF_A_TABLE, SetFunction, frozen


class Table(SetFunction):
    """S -> values[sum of 2^i over i in S].

    Args:
        values: The 2^n values; bit i of an index tells whether item i is in the set.

    Examples:
        >>> Table([0, 1, 2, 2.5])([1])
        2.0
    """

    def __init__(self, values: npt.ArrayLike) -> None:
        self.values: FloatArray = frozen(checks.finite_vector("Table", "values", values))
        self.n = self.values.size.bit_length() - 1
        if self.values.size != 2 ** max(self.n, 0) or self.n > MOST_ITEMS_OF_A_TABLE:
            raise InvalidArgument(
                f"The 'values' of Table must be 2^n numbers with n at most {MOST_ITEMS_OF_A_TABLE}. "
                f"Got {self.values.size} instead."
            )
        self._bits = 2 ** np.arange(self.n)

    def table(self) -> Table:
        return self

    def range(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())

    @property
    def integer_valued(self) -> bool:
        return bool(np.all(self.values == np.rint(self.values)))

    @property
    def known_submodular(self) -> bool:
        return False

    def _value(self, mask: BoolArray) -> float:
        return float(self.values[self._bits[mask].sum()])

    def _chain(self, order: IntArray) -> FloatArray:
        return self.values[np.concatenate(([0], np.cumsum(self._bits[order])))]

    def _all_values(self) -> FloatArray:
        return self.values

    def _scaled(self, factor: float) -> Table:
        return Table(self.values * factor)

    def __neg__(self) -> Table:
        return Table(-self.values)

    @classmethod
    def _merged(cls, functions: Sequence[Self]) -> Self:
        return cls(np.sum([f.values for f in functions], axis=0))
