"""Policies that learn from gradients: over slots that adapt to what was released, and round by round.

`Averaging` holds a point for a slot of rounds, then moves to x = clip(start - eta * (sum of all that was
released)). The step is eta = alpha * R / D, where R bounds |x - start|^2 / 2 on the cube and D adds up how
much more each slot has cost than it would have, had it been known beforehand (`docs/guarantees.md#regret`,
Lemma 2). For items that sit at 0 or 1 beyond doubt that is nothing, and the step stays large: easy streams
are cheap. The length of a slot adapts so that noise and gradients have about the same energy.

The others draw a prefix of the point's chain in every round. What is released of it is a gradient, or an
estimate of one from the cost of the chosen set (`kernel.queries.OnePoint`), whose coin is then noted.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.phase import EACH_ROUND, Phase, chain_chances
from discreet.lovasz import sort_by_level
from discreet.policies.base import CompiledPolicy, clip_to_cube, learn, plan, plan_prefix
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

#: The step's alpha: `discreet.bounds.batched` says what it costs in the worst case.
ALPHA = 0.5
#: How fast lengths change, and the largest change in one slot (in units of the rate).
PACE, FASTEST_GROWTH, FASTEST_FALL = 0.1, 1.0, 4.0

#: Places in `AveragingState.adapted`: D, and the length before rounding.
SPENT, LENGTH = 0, 1


class _Slots(NamedTuple):
    unit: float
    shortest: int
    longest: int
    noise_energy: float
    range: float  # R, the largest value of |x - start|^2 / 2 on the cube
    start: FloatArray


def start_range(start: FloatArray) -> float:
    """R, the largest value of |x - start|^2 / 2 on the cube: n/8 from its middle."""
    return float((np.maximum(start, 1 - start) ** 2).sum() / 2)


class AveragingState(NamedTuple):
    """The point, its levels before clipping, the sum of what was released in values; SPENT and LENGTH."""

    x: FloatArray
    levels: FloatArray
    released: FloatArray
    adapted: FloatArray


class Averaging(CompiledPolicy):
    """For a query of gradients. Slots have `shortest` to `longest` rounds; D starts as `first_spent`.

    The `unit` is the value of one unit of a gradient, the `noise_energy` the mean squared norm of a slot's
    noise; if it is 0, lengths stay fixed.
    """

    def __init__(
        self,
        start: FloatArray,
        *,
        unit: float,
        shortest: int,
        longest: int,
        noise_energy: float,
        first_spent: float,
    ) -> None:
        constants = _Slots(unit, shortest, longest, noise_energy, start_range(start), start)
        adapted = np.array([first_spent, float(shortest)])
        first = AveragingState(start.copy(), start.copy(), np.zeros(start.size), adapted)
        super().__init__(constants, first, numbers=start.size)


@plan.register(_Slots)
@lean_kernel
def _plan_slot(policy: _Slots, state: AveragingState, phase: Phase, coins: BitArray, cursor: int) -> int:
    sort_by_level(state.levels, phase.order[0])
    chain_chances(state.x, phase.order[0], 0.0, phase.chance[0])
    phase.size[0] = EACH_ROUND
    phase.rounds[0] = int(state.adapted[LENGTH])
    return cursor


@learn.register(_Slots)
@lean_kernel
def _learn_slots(
    policy: _Slots,
    state: AveragingState,
    note: FloatArray,
    rounds: IntArray,
    values: npt.NDArray[Any],
) -> None:
    for k in range(rounds.size):
        eta = ALPHA * policy.range / state.adapted[SPENT]
        energy = 0.0
        for i in range(state.x.size):
            new = values[k, i] * policy.unit
            energy += new * new
            before = potential(state.released[i], eta, policy.start[i])
            state.released[i] += new
            least = potential(state.released[i], eta, policy.start[i]) - before
            state.adapted[SPENT] += max(0.0, new * state.x[i] - least)
        eta = ALPHA * policy.range / state.adapted[SPENT]
        for i in range(state.x.size):
            state.levels[i] = policy.start[i] - eta * state.released[i]
            state.x[i] = clip_to_cube(state.levels[i])
        if policy.noise_energy > 0.0:
            drift = min(max(2.0 - energy / policy.noise_energy, -FASTEST_FALL), FASTEST_GROWTH)
            length = state.adapted[LENGTH] * math.exp(PACE * drift)
            state.adapted[LENGTH] = min(max(length, float(policy.shortest)), float(policy.longest))


@lean_kernel
def potential(total: float, eta: float, start: float) -> float:
    """The least value of total * x + (x - start)^2 / (2 eta) over x in [0, 1]."""
    x = clip_to_cube(start - eta * total)
    return total * x + (x - start) ** 2 / (2.0 * eta)


LEADER, DUAL_AVERAGING, DESCENT = 0, 1, 2


class _Points(NamedTuple):
    kind: int  # LEADER, DUAL_AVERAGING or DESCENT
    unit: float
    gamma: float
    coin: bool  # whether one is noted for the query
    rate: float  # the step, or the strong convexity of losses
    start: FloatArray


class PointState(NamedTuple):
    """The point, what items are sorted by, the sum of what was released in values, the number of rounds."""

    x: FloatArray
    levels: FloatArray
    released: FloatArray
    rounds: IntArray


class PointPolicy(CompiledPolicy):
    """What the three share. The `unit` is the value of a released one, `gamma` the exploration."""

    kind: int

    def __init__(
        self, start: FloatArray, rate: float, *, unit: float, gamma: float = 0.0, coin: bool = False
    ) -> None:
        first = PointState(start.copy(), start.copy(), np.zeros(start.size), np.zeros(1, dtype=np.int64))
        constants = _Points(self.kind, unit, gamma, coin, rate, start)
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


@plan.register(_Points)
@lean_kernel
def _plan_round(policy: _Points, state: PointState, phase: Phase, coins: BitArray, cursor: int) -> int:
    if cursor + 2 > coins.size:
        return NEED_MORE_BITS
    cursor = plan_prefix(state.x, state.levels, policy.gamma, phase, coins, cursor)
    if policy.coin:
        heads = coins[cursor] >> np.uint64(63) == np.uint64(1)
        phase.note[0, 0] = 1.0 if heads else -1.0
        cursor += 1
    return cursor


@learn.register(_Points)
@lean_kernel
def _move(
    policy: _Points, state: PointState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
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
