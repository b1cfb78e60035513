"""Private numbers, one at a time: randomised on arrival or on a person's own device, without a compiler.

One bit has the least second moment of all local randomizers, at every epsilon. Reference: Duchi, Jordan,
Wainwright, "Local privacy and statistical minimax rates", 2013.

Examples:
    >>> bit = OneBit(epsilon=0.5, cost_range=(0.0, 1.0)).release(0.3)
    >>> bit in (0, 1), bit.randomizer
    (True, 'OneBit(epsilon=0.5, cost_range=(0.0, 1.0))')
"""

from __future__ import annotations

import math
import secrets
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .arguments import invalid_argument
from .privacy.grid import DEFAULT_UNITS, Grid
from .privacy.guarantee import Guarantee
from .privacy.rational import exponential_below, float_above, privacy_loss

if TYPE_CHECKING:
    from .randomness import BitSource

__all__ = ["Bit", "OneBit"]

#: The bit is 1 if a uniform integer below 2^63 is smaller than a threshold around 2^62.
CENTRE = 1 << 62


def bit_of(units: int, slope: int, uniform: int) -> bool:
    """The randomised bit of a grid value, from a uniform integer in [0, 2^63). Kernels compile this line."""
    return uniform < CENTRE + units * slope


class Bit(int):
    """A released bit, 0 or 1, that knows what it was made with; as JSON and in files it is a plain number."""

    randomizer: str = ""
    private: bool = True
    _law: tuple[int, Grid] | None = None


class OneBit:
    """Release y = +c or -c around the midpoint, with the mean at the private value.

    Each release costs epsilon. There are `units` grid steps in half the declared range.

    Formal guarantees:
        Neighbours: any two private values, of any kind. The probability of a 1 is (2^62 + v * slope) / 2^63
        for a grid value v in [-units, units]; the slope is rounded down, so all likelihood ratios are at most
        exp(epsilon) exactly. Proof: `docs/guarantees.md#one-bit`.
    """

    def __init__(
        self,
        epsilon: float | Fraction,
        cost_range: tuple[float, float] = (-1.0, 1.0),
        *,
        units: int = DEFAULT_UNITS,
        source: BitSource | None = None,
    ) -> None:
        self.epsilon = privacy_loss("OneBit", "epsilon", epsilon)
        self.grid = Grid(*cost_range, units)
        self.slope = steepest_slope(self.epsilon, self.grid.units)
        self._source = source  # the operating system's by default
        self._name = f"OneBit(epsilon={float(self.epsilon):g}, cost_range={(self.grid.low, self.grid.high)})"

    def release(self, value: Any) -> Bit:
        """One bit: all that is ever stored of a private value. A client that must send again sends it again.

        Values outside the range are clipped; whatever is not a finite number counts as the midpoint.
        """
        bits = secrets.randbits(64) if self._source is None else self._source.bits64()
        bit = Bit(bit_of(self.grid.of(value), self.slope, bits >> 1))
        bit.randomizer, bit.private = self._name, not self._void_because
        bit._law = self.slope, self.grid
        return bit

    def fits(self, bit: int) -> bool:
        """Whether a bit can be one of this randomizer's, by what it carries; a plain number always can."""
        return not isinstance(bit, Bit) or bit._law in (None, (self.slope, self.grid))

    def estimate(self, bit: int) -> float:
        """The unbiased estimate of the private value that a bit stands for."""
        return self.grid.value(float(self.magnitude if bit else -self.magnitude))

    @property
    def magnitude(self) -> Fraction:
        """How far from the midpoint both estimates lie, in units: c times `units`, exactly."""
        return Fraction(CENTRE, self.slope)

    def probability_of_one(self, units: int) -> Fraction:
        """The exact probability that the bit of a grid value is 1."""
        return Fraction(CENTRE + units * self.slope, 2 * CENTRE)

    @property
    def second_moment(self) -> float:
        """E(y - midpoint)^2 in units of half the range squared: c^2, whatever the value."""
        return float(self.magnitude / self.grid.units) ** 2

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to one person, per release."""
        loss, proof = float_above(self.epsilon), "docs/guarantees.md#one-bit"
        return Guarantee(epsilon=loss, local=True, proof=proof).void(self._void_because)

    @property
    def _void_because(self) -> str:
        return "" if self._source is None else self._source.not_private_because

    def __repr__(self) -> str:
        return self._name


def steepest_slope(epsilon: Fraction, units: int) -> int:
    """The largest whole slope for which no likelihood ratio exceeds exp(epsilon).

    With D = units * slope the extreme probabilities are (2^62 +- D) / 2^63, and (2^62 + D) / (2^62 - D) <= r
    holds exactly for D <= 2^62 (r - 1) / (r + 1). Here r is a rational number at or below exp(epsilon).
    """
    ratio = exponential_below(epsilon)
    slope = min(math.floor(CENTRE * (ratio - 1) / (ratio + 1) / units), (CENTRE - 1) // units)
    if slope < 1:
        wanted = f"large enough for a grid of {units} units"
        raise invalid_argument("OneBit", "epsilon", wanted, float(epsilon))
    return slope
