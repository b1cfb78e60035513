"""A private number plus exact discrete Laplace noise, on the grid."""

from fractions import Fraction
from typing import Any

from discreet.privacy import noise
from discreet.privacy.grid import DEFAULT_UNITS, Grid
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.rational import float_above, laplace_scale, privacy_loss
from discreet.randomness import BitSource


class LaplaceOnGrid:
    """Release the grid value plus noise; better than one bit only for values near the midpoint.

    Args:
        epsilon: Privacy loss of one release.
        cost_range: The declared range of the value.
        units: Grid steps in half the range.
        source: Random bits; cryptographic by default.

    Formal guarantees:
        Neighbours: any two private values. Sensitivity: 2 * units, exactly. Noise:
        discrete Laplace of scale 2 * units / epsilon, rounded up. Proof:
        `docs/guarantees.md#finite-precision`.

    Examples:
        >>> randomizer = LaplaceOnGrid(epsilon=1.0, cost_range=(0.0, 1.0))
        >>> isinstance(randomizer.estimate(randomizer.release(0.3)), float)
        True
    """

    def __init__(
        self,
        epsilon: float | Fraction,
        cost_range: tuple[float, float] = (-1.0, 1.0),
        *,
        units: int = DEFAULT_UNITS,
        source: BitSource | None = None,
    ) -> None:
        self.epsilon = privacy_loss("LaplaceOnGrid", "epsilon", epsilon)
        self.grid = Grid(*cost_range, units)
        self.law = noise.laplace(laplace_scale(self.epsilon, 2 * self.grid.units))
        self._source = source or BitSource()

    def release(self, value: Any) -> int:
        """A noisy grid value; values are clipped, what is not a finite number counts as the midpoint."""
        return noise.wrapped(self.grid.of(value) + int(noise.sample(self.law, 1, self._source)[0]))

    def estimate(self, outcome: int) -> float:
        """The unbiased estimate of the private value that a released number stands for."""
        return self.grid.value(outcome)

    @property
    def second_moment(self) -> float:
        """The largest E(y - midpoint)^2 in units of half the range squared: for a value at the end of it."""
        return 1.0 + noise.variance(self.law) / self.grid.units**2

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to one person, per release."""
        return Guarantee(
            epsilon=float_above(self.epsilon), local=True, proof="docs/guarantees.md#finite-precision"
        ).void(self._source.not_private_because)

    def __repr__(self) -> str:
        return f"LaplaceOnGrid(epsilon={float(self.epsilon):g}, cost_range={(self.grid.low, self.grid.high)})"
