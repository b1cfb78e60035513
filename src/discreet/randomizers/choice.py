"""Which randomizer to use: the one of least second moment, computed."""

from fractions import Fraction

from discreet.privacy.grid import DEFAULT_UNITS
from discreet.randomizers.blocks import Blocks
from discreet.randomizers.laplace import LaplaceOnGrid
from discreet.randomizers.one_bit import OneBit
from discreet.randomness import BitSource

Randomizer = OneBit | LaplaceOnGrid | Blocks


def best_randomizer(
    epsilon: float | Fraction,
    *,
    local: bool = True,
    cost_range: tuple[float, float] = (-1.0, 1.0),
    units: int = DEFAULT_UNITS,
    source: BitSource | None = None,
) -> Randomizer:
    """The randomizer of least second moment per round.

    Args:
        epsilon: Privacy loss of one value.
        local: Whether each value must be randomised on its own. Otherwise blocks are
            considered too, which keep exact sums for a while.
        cost_range: The declared range of the values.
        units: Grid steps in half the range.
        source: Random bits.

    Examples:
        >>> best_randomizer(1.0)
        OneBit(epsilon=1, cost_range=(-1.0, 1.0))
        >>> best_randomizer(0.25, local=False)
        Blocks(epsilon=0.25, length=11, private=True)
    """
    candidates: list[Randomizer] = [
        OneBit(epsilon, cost_range, units=units, source=source),
        LaplaceOnGrid(epsilon, cost_range, units=units, source=source),
    ]
    if not local:
        candidates.append(Blocks(epsilon, cost_range, units=units, source=source))
    return min(candidates, key=lambda randomizer: randomizer.second_moment)
