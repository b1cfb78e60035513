"""Thompson sampling: draw costs from what is believed of them, and choose the set that is best by that draw.

`SetSampling` believes in one mean per subset, `ItemSampling` in a cost that adds up over items. Beliefs are
normal; costs are counted in halves of the range around its middle. The variance of a released number is
learned, too: it begins as a guess that weighs as much as `GUESS` numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.kernel.phase import Phase
from discreet.policies.base import CompiledPolicy, learn, plan
from discreet.policies.sets import choose
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomness import BitArray

GUESS = 10.0
#: Variance of a set's mean before anything is known: that of a uniform number in [-1, 1].
PRIOR = 1.0 / 3.0

#: Places in `spread`: a sum of squares, and how many numbers are in it.
SQUARES, COUNT = 0, 1


class _Constants(NamedTuple):
    unit: float  # the value of one released unit
    rounds: int
    noise: float  # the guess at the variance


class _SetConstants(_Constants):
    pass


class _ItemConstants(_Constants):
    pass


class SetState(NamedTuple):
    """Of each subset, coded by its bits, the sum and the number of released means; `x` stays 1/2."""

    x: FloatArray
    sums: FloatArray
    counts: FloatArray
    spread: FloatArray


class SetSampling(CompiledPolicy):
    """Every subset by itself. The `noise` is a guess at the variance of a mean over a slot's `rounds`."""

    chooses_among = False

    def __init__(self, n: int, *, unit: float, rounds: int, noise: float) -> None:
        first = SetState(np.full(n, 0.5), np.zeros(1 << n), np.zeros(1 << n), np.zeros(2))
        super().__init__(_SetConstants(unit, rounds, noise), first, notes=1)

    def best(self, state: SetState) -> IntArray:
        """The set of least expected cost."""
        prior = _variance(self.constants.noise, state.spread) / PRIOR
        arm = int((state.sums / (state.counts + prior)).argmin())
        return np.flatnonzero(arm >> np.arange(state.x.size) & 1)


class ItemState(NamedTuple):
    """Of features (+1 for items in the set, -1 for others, 1): sums of products, and of those with costs."""

    x: FloatArray
    products: FloatArray
    costs: FloatArray
    spread: FloatArray


class ItemSampling(CompiledPolicy):
    """Costs that add up over items; the arguments are those of `SetSampling`."""

    def __init__(self, n: int, *, unit: float, rounds: int, noise: float) -> None:
        first = ItemState(np.full(n, 0.5), np.zeros((n + 1, n + 1)), np.zeros(n + 1), np.zeros(2))
        super().__init__(_ItemConstants(unit, rounds, noise), first, notes=n + 1)

    def point(self, state: ItemState) -> FloatArray:
        """The probability with which each item is chosen next."""
        ridge = self.constants.noise * state.costs.size / PRIOR
        inverse = np.linalg.inv(state.products + ridge * np.eye(state.costs.size))
        mean = inverse @ state.costs
        rest = np.array([state.spread[SQUARES] - state.costs @ mean, state.spread[COUNT]])
        deviation = np.sqrt(_variance(self.constants.noise, rest) * inverse.diagonal())
        from scipy.special import ndtr  # takes long to import

        return np.asarray(ndtr(-(mean / deviation)[:-1]))


@lean_kernel
def _variance(guess: float, spread: FloatArray) -> float:
    return float((GUESS * guess + max(0.0, spread[SQUARES])) / (GUESS + spread[COUNT]))


@lean_kernel
def _normal_radius(drawn: np.uint64) -> float:
    """Half of the method of Box and Muller: the length of a vector of two standard normal numbers."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform_float(drawn)))


@plan.register(_SetConstants)
@kernel
def _plan_set(policy: _SetConstants, state: SetState, phase: Phase, coins: BitArray, cursor: int) -> int:
    arms = state.sums.size
    if cursor + arms > coins.size:
        return NEED_MORE_BITS
    variance = _variance(policy.noise, state.spread)
    best, least = 0, np.inf
    for pair in range(0, arms, 2):
        radius = _normal_radius(coins[cursor + pair])
        angle = 2.0 * math.pi * uniform_float(coins[cursor + pair + 1])
        for arm in range(pair, pair + 2):
            weight = state.counts[arm] + variance / PRIOR
            normal = radius * (math.cos(angle) if arm == pair else math.sin(angle))
            draw = state.sums[arm] / weight + normal * math.sqrt(variance / weight)
            if draw < least:
                best, least = arm, draw
    levels = np.empty(state.x.size)
    for i in range(levels.size):
        levels[i] = (best >> i) & 1
    choose(levels, 1.0, phase)
    phase.rounds[0] = policy.rounds
    phase.note[0, 0] = best
    return cursor + arms


@learn.register(_SetConstants)
@lean_kernel
def _learn_sets(
    policy: _SetConstants, state: SetState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(rounds.size):
        arm = int(note[k, 0])
        if 0 <= arm < state.sums.size:
            mean = values[k, 0] * policy.unit / rounds[k]
            count = state.counts[arm]
            if count > 0.0:
                state.spread[SQUARES] += (mean - state.sums[arm] / count) ** 2 * count / (count + 1.0)
                state.spread[COUNT] += 1.0
            state.sums[arm] += mean
            state.counts[arm] += 1.0


@plan.register(_ItemConstants)
@kernel
def _plan_items(policy: _ItemConstants, state: ItemState, phase: Phase, coins: BitArray, cursor: int) -> int:
    size = state.costs.size
    if cursor + 2 * size > coins.size:
        return NEED_MORE_BITS
    # The root of a matrix, row by row (Cholesky), and on the way what it takes to make the costs of it.
    ridge = policy.noise * size / PRIOR
    root, draw = np.zeros((size, size)), np.zeros(size)
    explained = 0.0
    for i in range(size):
        for j in range(i + 1):
            rest = state.products[i, j] + (ridge if i == j else 0.0)
            for k in range(j):
                rest -= root[i, k] * root[j, k]
            root[i, j] = math.sqrt(max(rest, ridge)) if i == j else rest / root[j, j]
        rest = state.costs[i]
        for k in range(i):
            rest -= root[i, k] * draw[k]
        draw[i] = rest / root[i, i]
        explained += draw[i] ** 2
    squares = max(0.0, state.spread[SQUARES] - explained)
    deviation = math.sqrt((GUESS * policy.noise + squares) / (GUESS + state.spread[COUNT]))
    for i in range(size):
        angle = 2.0 * math.pi * uniform_float(coins[cursor + 2 * i + 1])
        draw[i] += deviation * _normal_radius(coins[cursor + 2 * i]) * math.cos(angle)
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            draw[i] -= root[k, i] * draw[k]
        draw[i] /= root[i, i]
    levels = np.zeros(size - 1)
    for i in range(size):
        phase.note[0, i] = -1.0
    for item in phase.order[0]:
        if draw[item] < 0.0:
            levels[item] = phase.note[0, item] = 1.0
    phase.note[0, size - 1] = 1.0
    choose(levels, 1.0, phase)
    phase.rounds[0] = policy.rounds
    return cursor + 2 * size


@learn.register(_ItemConstants)
@lean_kernel
def _learn_items(
    policy: _ItemConstants, state: ItemState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(rounds.size):
        mean = values[k, 0] * policy.unit / rounds[k]
        for i in range(state.costs.size):
            for j in range(state.costs.size):
                state.products[i, j] += note[k, i] * note[k, j]
            state.costs[i] += note[k, i] * mean
        state.spread[SQUARES] += mean**2
        state.spread[COUNT] += 1.0
