"""How far one round can move a sum: bounds that are enforced in exact integers, without raising anything."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from discreet.checks import FloatArray, IntArray, integer, invalid_argument, positive_number
from discreet.compiled import lean_kernel
from discreet.errors import InvalidType
from discreet.privacy import grid
from discreet.privacy.grid import DEFAULT_UNITS, MOST_UNITS, Grid
from discreet.privacy.guarantee import Neighbours

LARGEST_SUM = (1 << 62) - 1  # of released numbers: two such sums still add up to less than 2^63
#: Limits under which exact Euclidean norms fit 64 bits.
MOST_L2_UNITS = 1 << 24
MOST_L2_COORDINATES = 1 << 14

#: `privacy.grid.to_units`, compiled.
to_units: Callable[[float, float, float, int], int] = lean_kernel(grid.to_units)


@dataclasses.dataclass(frozen=True)
class VectorBound:
    """What every private vector is forced to satisfy: |g_i| <= coordinate and |g|_1 <= l1.

    Bounds are integers, in grid units, so the sensitivities are exact; `step` is the value of one unit. The
    largest Euclidean norm is `l2`, or what the other two imply.
    """

    coordinate: int
    l1: int
    step: float = 1.0
    l2: int | None = None

    def __post_init__(self) -> None:
        most = {"coordinate": 2 * MOST_UNITS, "l1": 4 * MOST_UNITS, "l2": MOST_L2_UNITS}
        for name, limit in most.items():
            given = getattr(self, name)
            if name != "l2" or given is not None:
                # Python's own integers: those of numpy would wrap around in the sensitivities below.
                object.__setattr__(self, name, integer("VectorBound", name, given, least=1, most=limit))
        object.__setattr__(self, "step", positive_number("VectorBound", "step", self.step))

    @classmethod
    def for_costs(cls, low: float, high: float, *, units: int = DEFAULT_UNITS) -> "VectorBound":
        """The bound for gradients along a chain of sets whose costs lie in [low, high].

        With M half the width of the range: differences of two costs are at most 2 M, and for submodular costs
        those along a chain add up to at most 4 M.
        """
        return cls(coordinate=2 * units, l1=4 * units, step=Grid(low, high, units).step)

    @property
    def squared_l2(self) -> int:
        """Largest squared L2 norm: the convex maximum at a corner, as many full coordinates as fit."""
        full, rest = divmod(self.l1, min(self.coordinate, self.l1))
        implied = full * min(self.coordinate, self.l1) ** 2 + rest**2
        return implied if self.l2 is None else min(implied, self.l2**2)

    def l1_distance(self, neighbours: Neighbours = Neighbours.REPLACE_ONE_ROUND) -> int:
        """How far, in L1, two inputs of one round can lie apart."""
        return 2 * self.l1 if neighbours is Neighbours.REPLACE_ONE_ROUND else self.l1

    def squared_l2_distance(self, neighbours: Neighbours = Neighbours.REPLACE_ONE_ROUND) -> int:
        """The square of how far, in L2, two inputs of one round can lie apart."""
        return 4 * self.squared_l2 if neighbours is Neighbours.REPLACE_ONE_ROUND else self.squared_l2

    def enforce(self, vector: FloatArray | IntArray) -> IntArray:
        """The vector in grid units, inside the bound: floats are values, integers are units already."""
        if not isinstance(vector, np.ndarray) or vector.ndim != 1 or vector.dtype.kind not in "fi":
            raise InvalidType("A private vector must be a one-dimensional array of floats or integers.")
        units = np.empty(vector.size, dtype=np.int64)
        if vector.dtype.kind == "f":
            with np.errstate(all="ignore"):  # a warning would depend on private values
                values = vector.astype(np.float64, copy=False)
            values_to_units(values, self.step, self.coordinate, units)
        else:
            units[:] = vector
        if self.l2 is not None:
            if units.size > MOST_L2_COORDINATES:
                wanted = f"of at most {MOST_L2_COORDINATES} coordinates"
                raise invalid_argument("VectorBound", "vector", wanted, units.size)
            bound_l2_in_place(units, self.l2)
        bound_in_place(units, self.coordinate, self.l1)
        return units


@dataclasses.dataclass(frozen=True)
class EachBound:
    """Each number is within [-coordinate, coordinate]; nothing is known of their sum. For noisy minima."""

    coordinate: int
    step: float = 1.0

    def __post_init__(self) -> None:  # sums must not wrap around: no noise would hide that in a minimum
        integer("EachBound", "coordinate", self.coordinate, least=1, most=MOST_UNITS)


@lean_kernel
def values_to_units(values: FloatArray, step: float, limit: int, out: IntArray) -> None:
    """Each value as an integer number of steps, clipped to [-limit, limit]; zero if it is not finite."""
    for i in range(values.size):
        out[i] = to_units(values[i], -limit * step, limit * step, limit)


@lean_kernel
def bound_in_place(units: IntArray, coordinate: int, l1: int) -> None:
    """Clip each coordinate, then shrink all of them alike if the sum of absolute values exceeds `l1`.

    |g_i| -> floor(|g_i| l1 / |g|_1): the new sum is at most l1 exactly. Bounds below 2^31 keep it exact.
    """
    norm = 0
    for i in range(units.size):
        units[i] = min(max(units[i], -coordinate), coordinate)
        norm += abs(units[i])
    if norm > l1:
        _shrink(units, l1, norm)


@lean_kernel
def bound_l2_in_place(units: IntArray, l2: int) -> None:
    """Clip each coordinate to [-l2, l2], then shrink all alike if the Euclidean norm exceeds `l2`.

    |g_i| -> floor(|g_i| l2 / r) with r the norm rounded up to an integer, so the new norm is at
    most l2 exactly. With l2 <= 2^24 and at most 2^14 coordinates the squares add up to below 2^62.
    """
    square = 0
    for i in range(units.size):
        units[i] = min(max(units[i], -l2), l2)
        square += units[i] * units[i]
    if square > l2 * l2:
        root = int(math.sqrt(square))
        while root * root < square:
            root += 1
        _shrink(units, l2, root)


@lean_kernel
def _shrink(units: IntArray, limit: int, norm: int) -> None:
    for i in range(units.size):
        share = abs(units[i]) * limit // norm
        units[i] = share if units[i] >= 0 else -share


@lean_kernel
def chain_gradient(
    costs: FloatArray, order: IntArray, low: float, high: float, units: int, out: IntArray
) -> None:
    """The gradient along a chain of sets, from the n+1 private costs; `bound_in_place` must follow."""
    before = to_units(costs[0], low, high, units)
    for i in range(order.size):
        after = to_units(costs[i + 1], low, high, units)
        out[order[i]] = after - before
        before = after


@lean_kernel
def bounded_sum(total: int, more: int) -> int:
    """The sum of two released numbers, cut off at plus and minus `LARGEST_SUM`: it never wraps around."""
    more = min(max(more, -LARGEST_SUM), LARGEST_SUM)
    return min(max(total + more, -LARGEST_SUM), LARGEST_SUM)
