"""The mean of a block of private numbers plus noise: less noise than one bit each, for small epsilon."""

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet.checks import integer
from discreet.errors import InvalidArgument
from discreet.privacy import noise
from discreet.privacy.exclusive import Exclusive
from discreet.privacy.grid import DEFAULT_UNITS, Grid
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.rational import float_above, laplace_scale, privacy_loss
from discreet.randomness import BitSource

#: No block is longer, so that its sum fits 64 bits with room to spare.
LONGEST_BLOCK = 1 << 24


class Blocks(Exclusive):
    """Add up `length` private values, then release their mean with the noise of one.

    It is central: the exact sum of an open block is kept in memory, by somebody who is
    trusted. A block that never fills is never released.

    Args:
        epsilon: Privacy loss of one value.
        cost_range: The declared range of the values.
        length: Values in a block; by default the best, about sqrt(8) / epsilon.
        units: Grid steps in half the range.
        source: Random bits; cryptographic by default.

    Formal guarantees:
        Neighbours: histories that differ in one value, inputs adaptive. Sensitivity: a
        value enters one block sum, moved by at most 2 * units, exactly. Noise: discrete
        Laplace of scale 2 * units / epsilon per block. Proof: `docs/guarantees.md#factorisations`.

    Examples:
        >>> blocks = Blocks(epsilon=1.0, cost_range=(0.0, 1.0), length=2)
        >>> blocks.add(0.3) is None, isinstance(blocks.add(0.4), float)
        (True, True)
    """

    def __init__(
        self,
        epsilon: float | Fraction,
        cost_range: tuple[float, float] = (-1.0, 1.0),
        *,
        length: int | None = None,
        units: int = DEFAULT_UNITS,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(source or BitSource())
        self.epsilon = privacy_loss("Blocks", "epsilon", epsilon)
        self.grid = Grid(*cost_range, units)
        self.law = noise.laplace(laplace_scale(self.epsilon, 2 * self.grid.units))
        chosen = length if length is not None else best_length(self.epsilon)
        self.length = integer("Blocks", "length", chosen, least=1, most=LONGEST_BLOCK)
        self._sum = np.zeros(1, dtype=np.int64)
        self._count = np.zeros(1, dtype=np.int64)

    def add(self, value: Any) -> float | None:
        """Take a private value in; at the end of a block return the estimate of its mean, else None."""
        with self._alone():
            closing = self._count[0] + 1 == self.length
            drawn = noise.sample(self.law, 1, self._source)[0] if closing else 0
            with self._changing():
                self._sum[0] += self.grid.of(value)
                self._count[0] += 1
                if not closing:
                    return None
                released = noise.wrapped(int(self._sum[0]) + int(drawn))
                self._sum[0] = self._count[0] = 0
            return self.grid.value(released / self.length)

    @property
    def second_moment(self) -> float:
        """Block length times the largest E(y - midpoint)^2, in units of half the range squared.

        The length is a factor because a block yields one estimate where others yield
        `length` many; so regret bounds weigh it, and one may compare it with one bit.
        """
        return self.length * (1.0 + noise.variance(self.law) / (self.length * self.grid.units) ** 2)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to one person, per value."""
        promise = Guarantee(epsilon=float_above(self.epsilon), proof="docs/guarantees.md#factorisations")
        return promise.void(self._not_private_because)

    def _settings(self) -> dict[str, Any]:
        return {
            "epsilon": str(self.epsilon),
            "cost_range": [self.grid.low, self.grid.high],
            "length": self.length,
            "units": self.grid.units,
        }

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"sum": self._sum, "count": self._count}

    def _load(self, saved: Any) -> None:
        super()._load(saved)
        if not 0 <= self._count[0] < self.length:
            raise InvalidArgument("The saved state is damaged: its block holds more values than fit.")

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        own = settings | {
            "epsilon": Fraction(settings["epsilon"]),
            "cost_range": tuple(settings["cost_range"]),
        }
        return cls(**own, source=source)

    def __repr__(self) -> str:
        return (
            f"Blocks(epsilon={float(self.epsilon):g}, length={self.length}, private={self.guarantee.private})"
        )


def best_length(epsilon: Fraction) -> int:
    """The whole length that minimises length + 8 / (length epsilon^2).

    Examples:
        >>> best_length(Fraction(1, 4))
        11
    """
    ideal = math.sqrt(8) / float(epsilon)
    near = {min(max(1, math.floor(ideal)), LONGEST_BLOCK), min(max(1, math.ceil(ideal)), LONGEST_BLOCK)}
    return min(near, key=lambda length: length + 8 / (length * float(epsilon) ** 2))
