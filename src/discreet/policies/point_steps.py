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


class LeaderConstants(NamedTuple):
    """Of :class:`Leader`."""

    unit: float
    gamma: float
    coin: bool
    H: float


class DualAveragingConstants(NamedTuple):
    """Of :class:`DualAveraging`."""

    unit: float
    gamma: float
    coin: bool
    eta: float
    start: FloatArray


class DescentConstants(NamedTuple):
    """Of :class:`Descent`."""

    unit: float
    gamma: float
    coin: bool
    eta: float


class PointState(NamedTuple):
    """What was learned.

    Attributes:
        x: The present point.
        levels: What items are sorted by; x is these, clipped.
        released: The sum of all that was released, in values.
        rounds: How many rounds were released, in its one entry.
    """

    x: FloatArray
    levels: FloatArray
    released: FloatArray
    rounds: IntArray


def _first(start: FloatArray) -> PointState:
    return PointState(start.copy(), start.copy(), np.zeros(start.size), np.zeros(1, dtype=np.int64))


class Leader(CompiledPolicy):
    """Follow the approximate leader on losses g.x + H/2 |x|^2.

    The leader minimises sum of (g_j + H x_j).x + H/2 |x - x_j|^2. The terms H x_j cancel (erratum E5), which
    leaves x = clip(-(sum of g_j) / (H t), 0, 1): only gradients need to be released.

    Args:
        start: The first point.
        H: Strong convexity.
        unit: The value of one released unit.
        gamma: Exploration; 0 draws level sets.
        coin: Whether to note a fair coin for the paper's one-point estimate.
    """

    def __init__(
        self, start: FloatArray, H: float, *, unit: float, gamma: float = 0.0, coin: bool = False
    ) -> None:
        super().__init__(LeaderConstants(unit, gamma, coin, H), _first(start), 1, start.size)


class DualAveraging(CompiledPolicy):
    """x = clip(start - eta * sum of gradients, 0, 1), with a fixed step eta.

    Args:
        start: The first point.
        eta: The step.
        unit: The value of one released unit.
    """

    def __init__(self, start: FloatArray, eta: float, *, unit: float) -> None:
        super().__init__(DualAveragingConstants(unit, 0.0, False, eta, start), _first(start), 1, start.size)


class Descent(CompiledPolicy):
    """x = clip(x - eta * last gradient, 0, 1), as in Hazan and Kale.

    Args:
        start: The first point.
        eta: The step.
        unit: The value of one released unit.
        gamma: Exploration; 0 draws level sets.
        coin: Whether to note a fair coin for the paper's one-point estimate.
    """

    def __init__(
        self, start: FloatArray, eta: float, *, unit: float, gamma: float = 0.0, coin: bool = False
    ) -> None:
        super().__init__(DescentConstants(unit, gamma, coin, eta), _first(start), 1, start.size)


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
        state.x[i] = state.levels[i] = clip_to_cube(-state.released[i] / (policy.H * state.rounds[0]))


@learn.register(DualAveragingConstants)
@lean_kernel
def _average(
    policy: DualAveragingConstants,
    state: PointState,
    note: FloatArray,
    rounds: IntArray,
    values: npt.NDArray[Any],
) -> None:
    add_released(policy.unit, state, values)
    for i in range(state.x.size):
        state.levels[i] = policy.start[i] - policy.eta * state.released[i]
        state.x[i] = clip_to_cube(state.levels[i])


@learn.register(DescentConstants)
@lean_kernel
def _descend(
    policy: DescentConstants, state: PointState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    add_released(policy.unit, state, values)
    for k in range(values.shape[0]):
        for i in range(state.x.size):
            state.levels[i] = state.x[i] - policy.eta * values[k, i] * policy.unit
            state.x[i] = state.levels[i] = clip_to_cube(state.levels[i])


@lean_kernel
def add_released(unit: float, state: PointState, values: npt.NDArray[Any]) -> None:
    """Add released gradients to their sum, in values."""
    for k in range(values.shape[0]):
        for i in range(state.x.size):
            state.released[i] += values[k, i] * unit
    state.rounds[0] += values.shape[0]
