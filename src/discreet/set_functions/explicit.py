"""Set functions given by their values: a table of all of them, or Python code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.grid import number_or_nan
from discreet.set_functions.base import MOST_ITEMS_OF_A_TABLE, SetFunction, vector


class Table(SetFunction):
    """S -> values[sum of 2^i over i in S]: bit i of an index tells whether item i is in the set."""

    _linear_in = ("values",)
    known_submodular = False

    def __init__(self, values: npt.ArrayLike) -> None:
        self.values = vector("Table", "values", values)
        self.n = self.values.size.bit_length() - 1
        if self.values.size != 2 ** max(self.n, 0) or self.n > MOST_ITEMS_OF_A_TABLE:
            wanted = f"2^n numbers with n at most {MOST_ITEMS_OF_A_TABLE}"
            raise checks.invalid_argument("Table", "values", wanted, self.values.size)
        self._bits = 2 ** np.arange(self.n)

    def range(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())

    def _value(self, mask: BoolArray) -> float:
        return float(self.values[self._bits[mask].sum()])

    def _chain(self, order: IntArray) -> FloatArray:
        return self.values[np.concatenate(([0], np.cumsum(self._bits[order])))]

    def _all_values(self) -> FloatArray:
        return self.values

    def __neg__(self) -> SetFunction:
        return self._scaled(-1.0)


class FromCallable(SetFunction):
    """S -> function(S), for any Python function.

    Args:
        function: Takes a frozenset of indices, or a boolean mask. A result that is not a number counts as
            NaN: the function may be private, and an error would reveal something about it.
        chain: Takes an order (an integer array) and gives the n+1 values of its prefixes.
        value_range: (lo, hi) with lo <= f(S) <= hi for all S. Without it, `range` enumerates.
    """

    known_submodular = False

    def __init__(
        self,
        function: Callable[[Any], float],
        n: int,
        *,
        takes: Literal["set", "mask"] = "set",
        chain: Callable[[IntArray], Any] | None = None,
        value_range: tuple[float, float] | None = None,
    ) -> None:
        if not callable(function):
            raise checks.invalid_argument("FromCallable", "function", "callable")
        checks.one_of("FromCallable", "takes", takes, ("set", "mask"))
        self.n = checks.integer("FromCallable", "n", n, 0)
        self._function, self._takes_set = function, takes == "set"
        self._chain_function = chain
        self._range: tuple[float, float] | None = None
        if value_range is not None:
            lo, hi = self._range = tuple(vector("FromCallable", "value_range", value_range, 2).tolist())
            if lo > hi:
                raise checks.invalid_argument("FromCallable", "value_range", "a pair lo <= hi")

    def range(self) -> tuple[float, float]:
        """The declared range, or else that of all values, for few items."""
        if self._range is None:
            if self.n > MOST_ITEMS_OF_A_TABLE:
                raise InvalidArgument("The range of this FromCallable is unknown: give it a 'value_range'.")
            self._range = self.table().range()
        return self._range

    def _value(self, mask: BoolArray) -> float:
        if self._takes_set:
            return number_or_nan(self._function(frozenset(np.flatnonzero(mask).tolist())))
        return number_or_nan(self._function(mask.copy()))

    def _chain(self, order: IntArray) -> FloatArray:
        if self._chain_function is not None:
            values = np.array([number_or_nan(value) for value in self._chain_function(order.copy())])
            if values.size != self.n + 1:
                wanted = f"a function that gives {self.n + 1} values"
                raise checks.invalid_argument("FromCallable", "chain", wanted, values.size)
            return values
        # Row k holds the first k items of the order.
        prefixes = np.zeros((self.n + 1, self.n), dtype=np.bool_)
        prefixes[:, order] = np.tri(self.n + 1, self.n, -1, dtype=np.bool_)
        return np.array([self._value(row) for row in prefixes])

    def _fields(self) -> dict[str, Any]:
        raise InvalidType("A FromCallable cannot be written as JSON; its table() can, for few items.")
