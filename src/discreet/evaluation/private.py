"""A private answer: the sum of weighted costs, with noise, and an interval that includes the noise.

What a round adds is an integer: its weight, rounded down to a grid, times its cost, on the grid of the
declared range. Weights are made of public numbers, so that replacing one cost moves the sum by at most twice
the largest weight times half the range, exactly. Proof: `docs/guarantees.md#evaluations`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.evaluation.bounds import deviation
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.grid import Grid
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitSource

#: Steps of half the range of costs, and of the largest weight.
COST_UNITS, WEIGHT_UNITS = 1 << 14, 1 << 14
#: The part of the error rate that is spent on the noise.
NOISE_SHARE = 0.1
#: Weights that are tried as the cap.
_CAPS = 64


class WeightedSum(NamedTuple):
    """A release of sum(w_i (c_i - m)) over the rounds of a log, m the middle of the range."""

    weights: IntArray  # in units: public
    unit: float  # what one unit of weight is
    grid: Grid
    budget: Budget

    @classmethod
    def of(
        cls, weights: FloatArray, cap: float, cost_range: tuple[float, float], budget: Budget
    ) -> WeightedSum:
        """The weights rounded down to multiples of cap / WEIGHT_UNITS, and to the cap."""
        unit = cap / WEIGHT_UNITS
        units = np.floor(np.minimum(weights, cap) / unit).astype(np.int64)
        return cls(np.minimum(units, WEIGHT_UNITS), unit, Grid(*cost_range, COST_UNITS), budget)

    @property
    def bound(self) -> VectorBound:
        """What a round adds to the sum, at most: the largest weight times half the range."""
        most = max(1, int(self.weights.max())) * self.grid.units
        return VectorBound(coordinate=most, l1=most, step=self.unit * self.grid.step)

    @property
    def law(self) -> noise.Law:
        """The noise on the sum."""
        return self.budget.law(self.bound)

    def release(self, costs: Sequence[Any], source: BitSource) -> int:
        """The sum with noise, in units. Costs are clipped; what is not a finite number is the middle."""
        units = np.fromiter(map(self.grid.of, costs), np.int64, len(costs))
        return int(self.weights @ units) + int(noise.sample(self.law, 1, source)[0])

    def interval(self, released: int, alpha: float) -> tuple[float, float, float]:
        """The estimate of the mean cost, and its interval (see `bounds`), whatever the cap has cut off."""
        total, margin = self._widths(alpha)
        found = released * self.bound.step / (self.grid.high - self.grid.low)
        low, high = (found + total / 2 - margin), (found - total / 2 + margin)
        rounds, width = self.weights.size, self.grid.high - self.grid.low
        value = self.grid.midpoint + width * found / rounds
        ends = self.grid.low + width * low / rounds, self.grid.high + width * high / rounds
        return value, max(ends[0], self.grid.low), min(ends[1], self.grid.high)

    def width(self, alpha: float) -> float:
        """How wide the interval is, as a share of the range; it is known before anything is released."""
        total, margin = self._widths(alpha)
        return 1 + (2 * margin - total) / self.weights.size

    def _widths(self, alpha: float) -> tuple[float, float]:
        """The sum of weights, and by how much the sum of (cost - low) / width may be off on one side."""
        weights = self.weights * self.unit
        squares = float(np.maximum(0.25, (weights - 0.5) ** 2).sum())  # as if each cost were at an end
        chance = deviation(squares, alpha / 2 * (1 - NOISE_SHARE))
        added = (
            float(self.law.scale) * math.log(2 / (alpha * NOISE_SHARE)) * self.unit / (2 * self.grid.units)
        )
        rounding = float(weights.sum()) / (4 * self.grid.units)
        return float(weights.sum()), chance + added + rounding


def best_cap(weights: FloatArray, cost_range: tuple[float, float], budget: Budget, alpha: float) -> float:
    """The cap of the narrowest interval. It depends on the public weights alone."""
    largest = float(weights.max())
    caps = np.unique(np.geomspace(min(1.0, largest), largest, _CAPS))
    return float(
        min(caps, key=lambda cap: WeightedSum.of(weights, float(cap), cost_range, budget).width(alpha))
    )
