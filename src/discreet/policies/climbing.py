"""Settings of largest evidence, by steps along grids."""

from collections.abc import Callable, Sequence

import numpy as np

from discreet.checks import FloatArray


def climbed(
    evidence: Callable[[tuple[float, ...]], float], first: Sequence[float], grids: Sequence[FloatArray]
) -> tuple[float, ...]:
    """The settings that steps to better neighbours on the grids lead to, one setting after the other, twice.

    Settings without a grid stay as they are.
    """
    settings = tuple(first)
    best = evidence(settings)
    for _ in range(2):
        before = settings
        for part, grid in enumerate(grids):
            at = int(np.abs(np.log(grid / settings[part])).argmin())
            for step in (-1, 1):
                place = at + step
                while 0 <= place < grid.size:
                    tried = (*settings[:part], float(grid[place]), *settings[part + 1 :])
                    found = evidence(tried)
                    if found <= best:
                        break
                    best, settings = found, tried
                    place += step
        if settings == before:
            break
    return settings
