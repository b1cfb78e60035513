"""Policies that move a point after every round: the paper's leader, dual averaging, projected descent.

Each round draws a prefix of the point's chain. What is released of it is a gradient, or an estimate of one
from the cost of the chosen set (`kernel.queries.OnePoint`), whose coin is then noted with the slot.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.phase import Phase
from discreet.policies.base import CompiledPolicy, clip_to_cube, learn, plan, plan_prefix
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

LEADER, DUAL_AVERAGING, DESCENT = 0, 1, 2


class _Constants(NamedTuple):
    kind: int  # LEADER, DUAL_AVERAGING or DESCENT
    unit: float
    gamma: float
    coin: bool
    rate: float
    start: FloatArray


class PointState(NamedTuple):
    """The point, what items are sorted by, the sum of what was released in values, the number of rounds."""

    x: FloatArray
    levels: FloatArray
    released: FloatArray
    rounds: IntArray


class PointPolicy(CompiledPolicy):
    """What the three share.

    The `unit` is the value of a released one, `gamma` the exploration, and a `coin` is noted if a query needs
    one. The rate is the step, or the strong convexity of losses.
    """

    kind: int

    def __init__(
        self, start: FloatArray, rate: float, *, unit: float, gamma: float = 0.0, coin: bool = False
    ) -> None:
        first = PointState(start.copy(), start.copy(), np.zeros(start.size), np.zeros(1, dtype=np.int64))
        constants = _Constants(self.kind, unit, gamma, coin, rate, start)
        super().__init__(constants, first, notes=1, numbers=start.size)


class Leader(PointPolicy):
    """Follow the approximate leader on losses g.x + H/2 |x|^2, where the rate is H.

    The leader minimises sum of (g_j + H x_j).x + H/2 |x - x_j|^2. The terms H x_j cancel (erratum E5), which
    leaves x = clip(-(sum of g_j) / (H t), 0, 1): only gradients need to be released.
    """

    kind = LEADER


class DualAveraging(PointPolicy):
    """x = clip(start - rate * sum of gradients, 0, 1)."""

    kind = DUAL_AVERAGING


class Descent(PointPolicy):
    """x = clip(x - rate * last gradient, 0, 1), as in Hazan and Kale."""

    kind = DESCENT


@plan.register(_Constants)
@lean_kernel
def _plan_round(policy: _Constants, state: PointState, phase: Phase, coins: BitArray, cursor: int) -> int:
    if cursor + 2 > coins.size:
        return NEED_MORE_BITS
    cursor = plan_prefix(state.x, state.levels, policy.gamma, phase, coins, cursor)
    if policy.coin:
        heads = coins[cursor] >> np.uint64(63) == np.uint64(1)
        phase.note[0, 0] = 1.0 if heads else -1.0
        cursor += 1
    return cursor


@learn.register(_Constants)
@lean_kernel
def _move(
    policy: _Constants, state: PointState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(values.shape[0]):
        state.rounds[0] += 1
        for i in range(state.x.size):
            new = values[k, i] * policy.unit
            state.released[i] += new
            if policy.kind == DUAL_AVERAGING:
                state.levels[i] = policy.start[i] - policy.rate * state.released[i]
            elif policy.kind == DESCENT:
                state.levels[i] = clip_to_cube(state.x[i] - policy.rate * new)
            else:
                state.levels[i] = clip_to_cube(-state.released[i] / (policy.rate * state.rounds[0]))
            state.x[i] = clip_to_cube(state.levels[i])
