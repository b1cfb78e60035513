"""Neighbours out of data: a stream as it happened, and the same with one round exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet import checks
from discreet.errors import InvalidArgument
from discreet.set_functions import SetFunction


def with_one_replaced(rounds: Sequence[Any], other: Any, *, position: int = 0) -> tuple[list[Any], list[Any]]:
    """The rounds, and the same with the one at `position` replaced by `other`.

    Examples:
        >>> with_one_replaced([1, 2, 3], 9, position=1)
        ([1, 2, 3], [1, 9, 3])
    """
    place = checks.integer("with_one_replaced", "position", position, 0, len(rounds) - 1)
    changed = list(rounds)
    changed[place] = other
    return list(rounds), changed


def from_functions(
    functions: Sequence[SetFunction], rounds: int
) -> tuple[list[SetFunction], list[SetFunction]]:
    """The first `rounds` functions of a data set, and the same with the first one replaced.

    It is replaced by the function of the data set whose difference from it varies most over the sets: a
    constant difference would move no gradient.

    Args:
        functions: Functions of at most 16 items.
        rounds: How many to take.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> seen = [Modular([1.0]), Modular([0.5]), Modular([-1.0])]
        >>> first, second = from_functions(seen, rounds=2)
        >>> [f([0]) for f in first], [f([0]) for f in second]
        ([1.0, 0.5], [-1.0, 0.5])
    """
    taken = checks.integer("from_functions", "rounds", rounds, 1, len(functions))
    if len({f.n for f in functions}) > 1:
        raise InvalidArgument("All functions of a data set must have the same number of items.")
    values = np.array([f.table().values for f in functions])
    farthest = int(np.argmax(np.ptp(values - values[0], axis=1)))
    return with_one_replaced(functions[:taken], functions[farthest])
