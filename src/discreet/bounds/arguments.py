"""The checks and the search that bounds share."""

import math
from collections.abc import Callable

from discreet import checks


def sizes(owner: str, n: int, T: int) -> tuple[int, int]:
    """Items and rounds, at least one each."""
    return checks.integer(owner, "n", n, 1), checks.integer(owner, "T", T, 1)


def positive(owner: str, **values: float) -> None:
    """Refuse any that is not a positive number."""
    for name, value in values.items():
        checks.positive_number(owner, name, value)


def nonnegative(owner: str, **values: float) -> None:
    """Refuse any that is not a number of at least zero."""
    for name, value in values.items():
        if checks.finite_number(owner, name, value) < 0:
            raise checks.invalid_argument(owner, name, "a number of at least 0", value)


def best_on_grid(bound: Callable[[float], float]) -> float:
    """The number in (0, 1], in steps of 1%, at which a bound is least."""
    return min((math.pow(1.01, -k) for k in range(1500)), key=bound)
