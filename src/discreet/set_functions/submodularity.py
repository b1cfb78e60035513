"""Is a function submodular? Exact for few items, a random search for a counterexample otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet import checks
from discreet.set_functions.base import SetFunction

MOST_ITEMS_EXACT = 14  # up to this many items all pairs over all sets are compared


@dataclass(frozen=True)
class SubmodularityCheck:
    """The result of `is_submodular`; it is true or false in a condition.

    Attributes:
        exact: Whether every pair was compared; if not, true means "no violation found".
        counterexample: (A, B, i) where i adds more to B than to A, its subset, by the `violation`.

    Examples:
        >>> from discreet.set_functions import Table
        >>> found = is_submodular(Table([0, 1, 1, 3]))  # the second item adds 1, after the first 2
        >>> found.counterexample, found.violation
        ((frozenset(), frozenset({0}), 1), 1.0)
    """

    submodular: bool
    exact: bool
    counterexample: tuple[frozenset[int], frozenset[int], int] | None = None
    violation: float = 0.0

    def __bool__(self) -> bool:
        return self.submodular


def is_submodular(
    f: SetFunction, *, tolerance: float = 1e-9, trials: int = 1000, seed: int = 0
) -> SubmodularityCheck:
    """Check f(A + i) - f(A) >= f(B + i) - f(B) for all A within B: an item adds less to a larger set.

    Costs of complements pass; costs of substitutes, whose rewards have diminishing returns, do not. Beyond 14
    items `trials` random pairs of chains are compared. Violations up to `tolerance`, a fraction of 1 + the
    largest |value| seen, are taken for rounding.
    """
    checks.positive_number("is_submodular", "tolerance", tolerance)
    checks.integer("is_submodular", "trials", trials, 1)
    if f.n <= MOST_ITEMS_EXACT:
        return _every_pair(f, tolerance)
    return _random_pairs(f, tolerance, trials, np.random.default_rng(seed))


def _every_pair(f: SetFunction, tolerance: float) -> SubmodularityCheck:
    """It is enough to compare A with A + j: larger differences are sums of these."""
    values = f.table().values
    slack = tolerance * (1.0 + float(np.abs(values).max()))
    sets = np.arange(values.size)
    for j in range(f.n):
        for i in range(j + 1, f.n):
            base = sets[sets & (1 << i | 1 << j) == 0]
            early = values[base | 1 << i] - values[base]
            late = values[base | 1 << i | 1 << j] - values[base | 1 << j]
            excess = late - early
            worst = int(np.argmax(excess))
            if excess[worst] > slack:
                smaller = frozenset(np.flatnonzero(base[worst] >> np.arange(f.n) & 1).tolist())
                return SubmodularityCheck(False, True, (smaller, smaller | {j}, i), float(excess[worst]))
    return SubmodularityCheck(True, True)


def _random_pairs(
    f: SetFunction, tolerance: float, trials: int, generator: np.random.Generator
) -> SubmodularityCheck:
    """Compare the gain of a random item on top of every prefix of a random order."""
    for _ in range(trials):
        order = generator.permutation(f.n)
        item, others = order[0], order[1:]
        without = f.chain_values(np.append(others, item))
        included = f.chain_values(order)
        gains = included[1:] - without[:-1]
        slack = tolerance * (1.0 + float(np.abs(without).max()))
        lowest_so_far = np.minimum.accumulate(gains)
        late = int(np.argmax(gains - lowest_so_far))
        if gains[late] - lowest_so_far[late] > slack:
            early = int(np.argmin(gains[: late + 1]))
            smaller, larger = frozenset(others[:early].tolist()), frozenset(others[:late].tolist())
            found, excess = (smaller, larger, int(item)), float(gains[late] - gains[early])
            return SubmodularityCheck(False, False, found, excess)
    return SubmodularityCheck(True, False)
