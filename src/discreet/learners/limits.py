"""What feedback is forced into, for costs in [low, high]: the two kinds of gradients and their bounds."""

from typing import NamedTuple

from discreet import checks
from discreet.privacy.sensitivity import VectorBound

#: Grid steps in half the range of costs, and in the largest one-point estimate.
UNITS = 1 << 24
#: With fewer units than this in a bound, shrinking would round most gradients to zero.
_FEWEST_UNITS = 1 << 12


class Limits(NamedTuple):
    """The declared range of costs and the bound that gradients are forced into, on an integer grid.

    Attributes:
        low: Lower end of the range.
        high: Upper end.
        units: Grid steps in half the range, for costs along a chain.
        step: The value of one unit of a gradient.
        coordinate: Largest absolute coordinate of a gradient, in units.
        l1: Largest L1 norm of a gradient, in units.
    """

    low: float
    high: float
    units: int
    step: float
    coordinate: int
    l1: int


def subgradient_limits(
    low: float, high: float, gradient_bound: float | None = None, *, owner: str = "subgradient_limits"
) -> tuple[Limits, VectorBound]:
    """For exact subgradients: |g_i| <= 2M and |g|_1 <= 4M, or less where a smaller bound is declared.

    M is half the width of the range. The bound is refused as an argument of `owner`.

    Examples:
        >>> limits, bound = subgradient_limits(0.0, 1.0)
        >>> limits.coordinate * limits.step, limits.l1 * limits.step
        (1.0, 2.0)
    """
    if gradient_bound is not None:
        least = _FEWEST_UNITS * (0.5 * high - 0.5 * low) / UNITS
        if not checks.positive_number(owner, "gradient_bound", gradient_bound) >= least:
            raise checks.invalid_argument(owner, "gradient_bound", f"at least {least:g}", gradient_bound)
    bound = VectorBound.for_costs(low, high, units=UNITS, gradient_bound=gradient_bound)
    return Limits(low, high, UNITS, bound.step, bound.coordinate, bound.l1), bound


def one_point_limits(
    low: float, high: float, n: int, gamma: float, *, coin: bool
) -> tuple[Limits, VectorBound]:
    """For one-point estimates with exploration gamma, whose probabilities are at least gamma / (n+1).

    Examples:
        >>> limits, _ = one_point_limits(-1.0, 1.0, n=4, gamma=0.5, coin=True)
        >>> limits.coordinate * limits.step  # 2M (n+1) / gamma
        20.0
    """
    largest = largest_estimate(low, high, n, gamma, coin=coin)
    entries = 1 if coin else min(n, 2)
    bound = VectorBound(coordinate=UNITS, l1=entries * UNITS, step=largest / UNITS)
    return Limits(low, high, UNITS, bound.step, bound.coordinate, bound.l1), bound


def largest_estimate(low: float, high: float, n: int, gamma: float, *, coin: bool) -> float:
    """The largest entry of a one-point estimate: M (n+1) / gamma, twice that where a coin doubles it.

    The coin doubles inner prefixes only, of which a single item has none.
    """
    doubled = 2.0 if coin and n > 1 else 1.0
    return doubled * (0.5 * high - 0.5 * low) * (n + 1) / gamma
