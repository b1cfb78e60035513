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


class PointConstants(NamedTuple):
    """Public numbers.

    Attributes:
        unit: The value of one released unit.
        gamma: Exploration; 0 draws level sets.
        coin: Whether to note a fair coin for the paper's one-point estimate.
        rate: The step, or the strong convexity of losses.
        start: The first point.
    """

    unit: float
    gamma: float
    coin: bool
    rate: float
    start: FloatArray


class LeaderConstants(PointConstants):
    """Of `Leader`."""


class DualAveragingConstants(PointConstants):
    """Of `DualAveraging`."""


class DescentConstants(PointConstants):
    """Of `Descent`."""


class PointState(NamedTuple):
    """The point, its levels before clipping, the sum of what was released in values, the number of rounds."""

    x: FloatArray
    levels: FloatArray
    released: FloatArray
    rounds: IntArray


class PointPolicy(CompiledPolicy):
    """What the three share; `PointConstants` says what the arguments are."""

    kind: type[PointConstants]

    def __init__(
        self, start: FloatArray, rate: float, *, unit: float, gamma: float = 0.0, coin: bool = False
    ) -> None:
        first = PointState(start.copy(), start.copy(), np.zeros(start.size), np.zeros(1, dtype=np.int64))
        super().__init__(self.kind(unit, gamma, coin, rate, start), first, notes=1, numbers=start.size)


class Leader(PointPolicy):
    """Follow the approximate leader on losses g.x + H/2 |x|^2, where the rate is H.

    The leader minimises sum of (g_j + H x_j).x + H/2 |x - x_j|^2. The terms H x_j cancel (erratum E5), which
    leaves x = clip(-(sum of g_j) / (H t), 0, 1): only gradients need to be released.
    """

    kind = LeaderConstants


class DualAveraging(PointPolicy):
    """x = clip(start - rate * sum of gradients, 0, 1)."""

    kind = DualAveragingConstants


class Descent(PointPolicy):
    """x = clip(x - rate * last gradient, 0, 1), as in Hazan and Kale."""

    kind = DescentConstants


@plan.register(LeaderConstants)
@plan.register(DualAveragingConstants)
@plan.register(DescentConstants)
@lean_kernel
def _plan_round(policy: Any, state: PointState, phase: Phase, coins: BitArray, cursor: int) -> int:
    if cursor + 2 > coins.size:
        return NEED_MORE_BITS
    cursor = plan_prefix(state.x, state.levels, policy.gamma, phase, coins, cursor)
    if policy.coin:
        heads = coins[cursor] >> np.uint64(63) == np.uint64(1)
        phase.note[0, 0] = 1.0 if heads else -1.0
        cursor += 1
    return cursor


@learn.register(LeaderConstants)
@lean_kernel
def _lead(
    policy: LeaderConstants, state: PointState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    add_released(policy.unit, state, values)
    for i in range(state.x.size):
        state.x[i] = state.levels[i] = clip_to_cube(-state.released[i] / (policy.rate * state.rounds[0]))


@learn.register(DualAveragingConstants)
@lean_kernel
def _average(
    policy: PointConstants, state: PointState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    add_released(policy.unit, state, values)
    for i in range(state.x.size):
        state.levels[i] = policy.start[i] - policy.rate * state.released[i]
        state.x[i] = clip_to_cube(state.levels[i])


@learn.register(DescentConstants)
@lean_kernel
def _descend(
    policy: DescentConstants, state: PointState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    add_released(policy.unit, state, values)
    for k in range(values.shape[0]):
        for i in range(state.x.size):
            state.x[i] = state.levels[i] = clip_to_cube(state.x[i] - policy.rate * values[k, i] * policy.unit)


@lean_kernel
def add_released(unit: float, state: PointState, values: npt.NDArray[Any]) -> None:
    """Add released gradients to their sum, in values."""
    for k in range(values.shape[0]):
        for i in range(state.x.size):
            state.released[i] += values[k, i] * unit
    state.rounds[0] += values.shape[0]
