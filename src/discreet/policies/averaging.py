"""The worst-case policy for full information: dual averaging over slots that adapt to what was released.

The point is held for a slot of rounds, then moves to x = clip(start - eta * (sum of all that was released)).

**The step.** eta = alpha * R / D, where R bounds |x - start|^2 / 2 on the cube and D adds up how much more
each slot has cost than it would have, had it been known beforehand: with m(L) = min over the cube of
L.x + |x - start|^2 / (2 eta), a slot that is released as l adds l.x - (m(L + l) - m(L)) >= 0. Inside the cube
that is eta |l|^2 / 2. For items that sit at 0 or 1 beyond doubt nothing is added any more, and the step stays
large: that is what makes easy streams cheap.

**The length of a slot** adapts so that noise and gradients have about the same energy.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.bounds import start_range
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.phase import EACH_ROUND, Phase, chain_chances
from discreet.lovasz import sort_by_level
from discreet.policies.base import CompiledPolicy, clip_to_cube, learn, plan
from discreet.randomness import BitArray

#: The step's alpha: `discreet.bounds.batched` says what it costs in the worst case.
ALPHA = 0.5
#: How fast lengths change, and the largest change in one slot (in units of the rate).
PACE, FASTEST_GROWTH, FASTEST_FALL = 0.1, 1.0, 4.0

#: Places in `AveragingState.adapted`: D, and the length before rounding.
SPENT, LENGTH = 0, 1


class _Constants(NamedTuple):
    unit: float
    shortest: int
    longest: int
    noise_energy: float
    range: float  # R, the largest value of |x - start|^2 / 2 on the cube
    start: FloatArray


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
        constants = _Constants(unit, shortest, longest, noise_energy, start_range(start), start)
        adapted = np.array([first_spent, float(shortest)])
        first = AveragingState(start.copy(), start.copy(), np.zeros(start.size), adapted)
        super().__init__(constants, first, numbers=start.size)


@plan.register(_Constants)
@lean_kernel
def _plan_slot(policy: _Constants, state: AveragingState, phase: Phase, coins: BitArray, cursor: int) -> int:
    sort_by_level(state.levels, phase.order[0])
    chain_chances(state.x, phase.order[0], 0.0, phase.chance[0])
    phase.size[0] = EACH_ROUND
    phase.rounds[0] = int(state.adapted[LENGTH])
    return cursor


@learn.register(_Constants)
@lean_kernel
def _learn_slots(
    policy: _Constants,
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
