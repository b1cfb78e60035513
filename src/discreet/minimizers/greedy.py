"""Build an allowed set item by item: what is often good, for any function, and proves nothing by itself."""

from __future__ import annotations

import numpy as np

from discreet.constraints import Constraints
from discreet.set_functions import SetFunction


def greedy_set(f: SetFunction, constraints: Constraints) -> frozenset[int]:
    """Add the item that lowers f most, as long as one does or too few are there.

    If -f is monotone and submodular and only the size is limited, the set is worth at least 1 - 1/e of the
    best one, compared with the empty set (Nemhauser, Wolsey and Fisher, 1978).

    Examples:
        >>> from discreet.set_functions import Coverage
        >>> worth = Coverage([[0, 1, 2], [2, 3], [0, 1], [3, 4]])
        >>> sorted(greedy_set(-worth, Constraints(4, 2)))
        [0, 3]
    """
    members = np.zeros((1, constraints.n), dtype=np.bool_)
    members[0, list(constraints.required)] = True
    value = f(members[0])
    while members.sum() < constraints.at_most:
        candidates = np.flatnonzero(constraints.may_enter(members)[0])
        if candidates.size == 0:
            break
        values = [f(members[0] | (np.arange(constraints.n) == item)) for item in candidates]
        best = int(np.argmin(values))
        if values[best] >= value and members.sum() >= constraints.at_least:
            break
        value, members[0, candidates[best]] = values[best], True
    return frozenset(np.flatnonzero(members[0]).tolist())
