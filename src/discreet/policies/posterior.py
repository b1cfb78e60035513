"""Thompson sampling: draw costs from what is believed of them, and choose the set that is best by that draw.

`ItemSampling` believes in a cost that adds up over items. Beliefs are normal; costs are counted in halves of
the range around its middle. The variance of a released number is learned, too: it begins as a guess that
weighs as much as `GUESS` numbers.
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


class ItemState(NamedTuple):
    """Of features (+1 for items in the set, -1 for others, 1): sums of products, and of those with costs."""

    x: FloatArray
    products: FloatArray
    costs: FloatArray
    spread: FloatArray


class ItemSampling(CompiledPolicy):
    """Costs that add up over items. The `noise` guesses at the variance of a mean over a slot's `rounds`."""

    def __init__(self, n: int, *, unit: float, rounds: int, noise: float) -> None:
        first = ItemState(np.full(n, 0.5), np.zeros((n + 1, n + 1)), np.zeros(n + 1), np.zeros(2))
        super().__init__(_Constants(unit, rounds, noise), first, notes=n + 1)

    def point(self, state: ItemState) -> FloatArray:
        """The probability with which each item is chosen next."""
        ridge = self.constants.noise * state.costs.size / PRIOR
        inverse = np.linalg.inv(state.products + ridge * np.eye(state.costs.size))
        mean = inverse @ state.costs
        rest = np.array([state.spread[SQUARES] - state.costs @ mean, state.spread[COUNT]])
        deviation = np.sqrt(_variance(self.constants.noise, rest) * inverse.diagonal())
        from scipy.special import ndtr  # takes long to import

        return np.asarray(ndtr(-(mean / deviation)[:-1]))


def _variance(guess: float, spread: FloatArray) -> float:
    return float((GUESS * guess + max(0.0, spread[SQUARES])) / (GUESS + spread[COUNT]))


@lean_kernel
def _normal_radius(drawn: np.uint64) -> float:
    """Half of the method of Box and Muller: the length of a vector of two standard normal numbers."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform_float(drawn)))


@plan.register(_Constants)
@kernel
def _plan_items(policy: _Constants, state: ItemState, phase: Phase, coins: BitArray, cursor: int) -> int:
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


@learn.register(_Constants)
@lean_kernel
def _learn_items(
    policy: _Constants, state: ItemState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(rounds.size):
        mean = values[k, 0] * policy.unit / rounds[k]
        for i in range(state.costs.size):
            for j in range(state.costs.size):
                state.products[i, j] += note[k, i] * note[k, j]
            state.costs[i] += note[k, i] * mean
        state.spread[SQUARES] += mean**2
        state.spread[COUNT] += 1.0
