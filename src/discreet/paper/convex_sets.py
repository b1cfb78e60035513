"""Convex sets with exact Euclidean projections, for PFTAL."""

import math
from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray
from discreet.errors import InvalidArgument


class ConvexSet(ABC):
    """A convex and compact subset of R^n.

    Attributes:
        n: The dimension.

    Examples:
        >>> X: ConvexSet = Ball([0, 0], radius=2.0)
        >>> X.n, X.diameter, X.project(np.array([3.0, 0.0]))
        (2, 4.0, array([2., 0.]))
    """

    n: int

    @abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point of the set."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """The largest distance between two of its points: D_X."""

    @abstractmethod
    def start(self) -> FloatArray:
        """A point of the set."""


class Box(ConvexSet):
    """All points between two corners, coordinate by coordinate.

    Examples:
        >>> Box([0, 0], [1, 2]).project(np.array([3.0, -1.0]))
        array([1., 0.])
    """

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        self.low = checks.finite_vector("Box", "low", low)
        self.n = self.low.size
        self.high = checks.finite_vector("Box", "high", high, self.n)
        if np.any(self.low > self.high):
            raise InvalidArgument("The 'low' of Box must not exceed its 'high' in any coordinate.")

    def project(self, point: FloatArray) -> FloatArray:
        return np.clip(point, self.low, self.high)

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm(self.high - self.low))

    def start(self) -> FloatArray:
        return (self.low + self.high) / 2


class Ball(ConvexSet):
    """All points within a distance of a centre.

    Examples:
        >>> Ball([0, 0], 1.0).project(np.array([3.0, 4.0]))
        array([0.6, 0.8])
    """

    def __init__(self, centre: npt.ArrayLike, radius: float) -> None:
        self.centre = checks.finite_vector("Ball", "centre", centre)
        self.radius = checks.positive_number("Ball", "radius", radius)
        self.n = self.centre.size

    def project(self, point: FloatArray) -> FloatArray:
        away = point - self.centre
        distance = float(np.linalg.norm(away))
        return point.copy() if distance <= self.radius else self.centre + away * (self.radius / distance)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    def start(self) -> FloatArray:
        return self.centre.copy()


class Simplex(ConvexSet):
    """All nonnegative vectors of sum 1: distributions over n outcomes.

    The projection subtracts one number from all coordinates and drops what becomes negative; sorting
    finds the number (Held, Wolfe and Crowder 1974).

    Examples:
        >>> Simplex(3).project(np.array([1.0, 1.0, -5.0]))
        array([0.5, 0.5, 0. ])
    """

    def __init__(self, n: int) -> None:
        self.n = checks.integer("Simplex", "n", n, 1)

    def project(self, point: FloatArray) -> FloatArray:
        falling = np.sort(point)[::-1]
        excess = (np.cumsum(falling) - 1.0) / np.arange(1, self.n + 1)
        kept = int(np.flatnonzero(falling > excess)[-1])
        nearest: FloatArray = np.maximum(point - excess[kept], 0.0)
        return nearest

    @property
    def diameter(self) -> float:
        return math.sqrt(2.0) if self.n > 1 else 0.0

    def start(self) -> FloatArray:
        return np.full(self.n, 1.0 / self.n)
