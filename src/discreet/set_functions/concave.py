"""Concave functions of a modular one plus another modular one, g(a(S)) + b(S), and Iwata's among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument
from discreet.set_functions.base import SetFunction, frozen, modular_range, modular_values, vector
from discreet.set_functions.structure import ConcaveForm, CutNetwork, GroupForm

CONCAVITY_SLACK = 1e-12  # slopes of what counts as concave increase by at most this, relative to the values


class Modular(SetFunction):
    """S -> constant + sum of weights over S, of any sign."""

    _linear_in = ("weights", "constant")

    def __init__(self, weights: npt.ArrayLike, constant: float = 0.0) -> None:
        self.weights = vector("Modular", "weights", weights)
        self.constant = checks.finite_number("Modular", "constant", constant, quoted=False)
        self.n = self.weights.size

    def range(self) -> tuple[float, float]:
        return modular_range(self.weights, self.constant)

    def _value(self, mask: BoolArray) -> float:
        return self.constant + float(self.weights[mask].sum())

    def _chain(self, order: IntArray) -> FloatArray:
        return np.cumsum(np.concatenate(([self.constant], self.weights[order])))

    def _all_values(self) -> FloatArray:
        return modular_values(self.weights, self.constant)

    def __neg__(self) -> SetFunction:
        return self._scaled(-1.0)

    def concave_form(self) -> ConcaveForm:
        return ConcaveForm(direction=None, linear=self.weights)

    def cut_network(self) -> CutNetwork:
        return CutNetwork(items=self.n, unary=self.weights, constant=self.constant)

    def group_form(self) -> GroupForm:
        return GroupForm(np.array([self.constant]), self.weights)


class ConcaveOfCardinality(SetFunction):
    """S -> values[|S|], for a concave sequence of n+1 values."""

    _linear_in = ("values",)

    def __init__(self, values: npt.ArrayLike) -> None:
        self.values = vector("ConcaveOfCardinality", "values", values)
        if self.values.size < 1:
            raise InvalidArgument("The 'values' of ConcaveOfCardinality must hold n+1 numbers. Got none.")
        _require_concave("ConcaveOfCardinality", np.arange(self.values.size, dtype=float), self.values)
        self.n = self.values.size - 1

    def range(self) -> tuple[float, float]:
        return float(self.values.min()), float(self.values.max())

    def _value(self, mask: BoolArray) -> float:
        return float(self.values[np.count_nonzero(mask)])

    def _chain(self, order: IntArray) -> FloatArray:
        return self.values.copy()

    def _all_values(self) -> FloatArray:
        return self.values[np.bitwise_count(np.arange(2**self.n))]

    def concave_form(self) -> ConcaveForm:
        return ConcaveForm(direction=np.ones(self.n), linear=np.zeros(self.n))

    def group_form(self) -> GroupForm:
        return GroupForm(self.values, np.zeros(self.n))


class ConcaveOfModular(SetFunction):
    """S -> factor * g(sum of weights over S), with g concave and weights >= 0.

    Its `shape` g is "sqrt", "log1p", ("power", p) with 0 < p <= 1, ("truncate", c) for min(., c), or
    ("piecewise", knots, values) for linear interpolation between knots that cover [0, sum of weights].
    """

    def __init__(
        self, weights: npt.ArrayLike, shape: str | Sequence[Any] = "sqrt", factor: float = 1.0
    ) -> None:
        owner = "ConcaveOfModular"
        self.weights = checks.nonnegative(owner, "weights", vector(owner, "weights", weights))
        self.factor = checks.positive_number(owner, "factor", factor, quoted=False)
        self.n = self.weights.size
        self._most = float(self.weights.sum())
        self.shape, self._g = _concave_shape(shape, self._most)

    def range(self) -> tuple[float, float]:
        kind, *parameters = self.shape
        spots = np.array([0.0, self._most])
        if kind == "piecewise":
            spots = np.concatenate((spots, np.clip(parameters[0], 0.0, self._most)))
        values = self.factor * self._g(spots)
        return float(values.min()), float(values.max())

    def _value(self, mask: BoolArray) -> float:
        return float(self.factor * self._g(self.weights[mask].sum()))

    def _chain(self, order: IntArray) -> FloatArray:
        return self.factor * self._g(np.cumsum(np.concatenate(([0.0], self.weights[order]))))

    def _scaled(self, factor: float) -> ConcaveOfModular:
        return ConcaveOfModular(self.weights, self.shape, self.factor * factor)

    def concave_form(self) -> ConcaveForm:
        return ConcaveForm(direction=self.weights, linear=np.zeros(self.n))


class Iwata(SetFunction):
    """S -> |S| |V minus S| - sum over j in S of (5j - 2n), items counted from j = 1: a usual benchmark."""

    integer_valued = True

    def __init__(self, n: int) -> None:
        self.n = checks.integer("Iwata", "n", n, 0)
        self._weights = frozen(2.0 * n - 5.0 * np.arange(1.0, n + 1.0))

    def range(self) -> tuple[float, float]:
        """Attained, for some cardinality, by the last and by the first items."""
        last_first = np.arange(self.n)[::-1]
        return float(self._chain(last_first).min()), float(self._chain(last_first[::-1]).max())

    def _value(self, mask: BoolArray) -> float:
        size = int(np.count_nonzero(mask))
        return size * (self.n - size) + float(self._weights[mask].sum())

    def _chain(self, order: IntArray) -> FloatArray:
        sizes = np.arange(self.n + 1, dtype=float)
        return sizes * (self.n - sizes) + np.concatenate(([0.0], np.cumsum(self._weights[order])))

    def concave_form(self) -> ConcaveForm:
        return ConcaveForm(direction=np.ones(self.n), linear=self._weights)


def _concave_shape(
    shape: str | Sequence[Any], most: float
) -> tuple[tuple[Any, ...], Callable[[Any], FloatArray]]:
    """A canonical description of g and g itself."""
    owner = "ConcaveOfModular"
    kind, *parameters = (shape,) if isinstance(shape, str) else tuple(shape)
    if kind in ("sqrt", "log1p") and not parameters:
        return (kind,), np.sqrt if kind == "sqrt" else np.log1p
    if kind == "power" and len(parameters) == 1:
        exponent = checks.positive_number(owner, "shape", parameters[0], quoted=False)
        if exponent > 1:
            raise checks.invalid_argument(owner, "shape", "a power of at most 1")
        return ("power", exponent), lambda y: np.power(y, exponent)
    if kind == "truncate" and len(parameters) == 1:
        cap = checks.finite_number(owner, "shape", parameters[0], quoted=False)
        return ("truncate", cap), lambda y: np.minimum(y, cap)
    if kind == "piecewise" and len(parameters) == 2:
        knots = checks.finite_vector(owner, "shape (knots)", parameters[0])
        values = checks.finite_vector(owner, "shape (values)", parameters[1], knots.size)
        # A sum in another order may pass the last knot by a rounding error; interp holds the last value.
        covered = knots.size > 0 and knots[0] <= 0 and knots[-1] >= most * (1 - CONCAVITY_SLACK)
        if not covered or np.any(np.diff(knots) <= 0):
            raise InvalidArgument("The knots of a shape must increase and cover [0, sum of weights].")
        _require_concave(owner, knots, values)
        return ("piecewise", knots.tolist(), values.tolist()), lambda y: np.interp(y, knots, values)
    wanted = "'sqrt', 'log1p', ('power', p), ('truncate', c) or ('piecewise', knots, values)"
    raise checks.invalid_argument(owner, "shape", wanted)


def _require_concave(owner: str, knots: FloatArray, values: FloatArray) -> None:
    slopes = np.diff(values) / np.diff(knots)
    slack = CONCAVITY_SLACK * (1.0 + float(np.abs(values).max(initial=0.0)))
    if np.any(np.diff(slopes) > slack):
        raise InvalidArgument(f"The values of {owner} must be concave. Their slope increases somewhere.")
