"""The worst-case bandit policy: dual averaging on one-point estimates from released costs.

A set is drawn from the chain of the point and held for a slot of rounds; the mean that is released of its
costs gives a one-point estimate of the gradient, and the point is x = clip(start - eta_t * sum). After t - 1
releases the exploration is gamma_t = min(1, exploration * t^(-1/3)) and the step eta_t = step * t^(-2/3).

To lower the variance, the mean of what was released so far is taken off a cost. That baseline is noted with
the slot: slots that close late or in another order add up to the same integers, which stay within 2^62 - 1.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.phase import Phase
from discreet.policies.base import CompiledPolicy, clip_to_cube, learn, plan, plan_prefix
from discreet.privacy.sensitivity import bounded_sum
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

#: Places in `ChainBanditState.counts`: how many numbers were released, and their sum in units.
UPDATES, RELEASED = 0, 1
#: Places in a slot's note: the two items of the chain between which the set ends (-1 where there is none).
RAISED, LOWERED, PROBABILITY, BASELINE = 0, 1, 2, 3
NOTES = 4
#: No single estimate is larger than this many units; only absurd parameters reach it.
LARGEST_SHARE = float(1 << 61)


class _Constants(NamedTuple):
    units: int
    rounds: int
    exploration: float
    step: float
    prior: float
    start: FloatArray


class ChainBanditState(NamedTuple):
    """The point, its levels before clipping, UPDATES and RELEASED, and the sum of all estimates in units."""

    x: FloatArray
    levels: FloatArray
    counts: IntArray
    gradients: IntArray


class ChainBandit(CompiledPolicy):
    """The policy for a query of one cost, with `units` grid steps in half its range.

    A slot has `rounds` rounds; `exploration` and `step` (in halves of the range) are the constants of gamma_t
    and eta_t; in the baseline the middle of the range weighs as much as `prior` released numbers.
    """

    def __init__(
        self, start: FloatArray, *, units: int, rounds: int, exploration: float, step: float, prior: float
    ) -> None:
        first = ChainBanditState(
            start.copy(), start.copy(), np.zeros(2, dtype=np.int64), np.zeros(start.size, dtype=np.int64)
        )
        constants = _Constants(units, rounds, exploration, step, prior, start)
        super().__init__(constants, first, notes=NOTES)
        self.unit = 1 / units

    def fits(self, note: FloatArray) -> bool:
        """Whether notes that were kept elsewhere can be this policy's: kernels index by them."""
        items, n = note[:, [RAISED, LOWERED]], self.constants.start.size
        chance = note[:, PROBABILITY]
        fit = (items == np.floor(items)) & (items >= -1) & (items < n)
        return bool(note.shape[1] == 4 and fit.all() and ((chance > 0) & (chance <= 1 + 1e-9)).all())

    def mean(self, state: ChainBanditState) -> float | None:
        """The mean of all released costs, in halves of the range around its middle; None before any."""
        updates, released = state.counts.tolist()
        return released / (updates * self.constants.rounds) / self.constants.units if updates else None


@plan.register(_Constants)
@lean_kernel
def _plan_slot(
    policy: _Constants, state: ChainBanditState, phase: Phase, coins: BitArray, cursor: int
) -> int:
    updates = state.counts[UPDATES]
    gamma = min(1.0, policy.exploration * (updates + 1.0) ** (-1.0 / 3.0))
    cursor = plan_prefix(state.x, state.levels, gamma, phase, coins, cursor)
    if cursor == NEED_MORE_BITS:
        return NEED_MORE_BITS
    phase.rounds[0] = policy.rounds
    size = phase.size[0]
    items = phase.order.shape[1]
    mean = state.counts[RELEASED] / (policy.rounds * (updates + policy.prior))
    phase.note[0, RAISED] = phase.order[0, size - 1] if size > 0 else -1.0
    phase.note[0, LOWERED] = phase.order[0, size] if size < items else -1.0
    phase.note[0, PROBABILITY] = phase.chance[0, size]
    phase.note[0, BASELINE] = min(max(mean, -float(policy.units)), float(policy.units))
    return cursor


@learn.register(_Constants)
@lean_kernel
def _learn_slots(
    policy: _Constants, state: ChainBanditState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(rounds.size):
        number = values[k, 0]
        share = (number / rounds[k] - note[k, BASELINE]) / note[k, PROBABILITY]
        whole: int = np.int64(round(min(max(share, -LARGEST_SHARE), LARGEST_SHARE)))  # type: ignore[assignment] # compiled: int64
        raised, lowered = int(note[k, RAISED]), int(note[k, LOWERED])
        if 0 <= raised < state.x.size:
            state.gradients[raised] = bounded_sum(state.gradients[raised], whole)
        if 0 <= lowered < state.x.size:
            state.gradients[lowered] = bounded_sum(state.gradients[lowered], -whole)
        state.counts[RELEASED] = bounded_sum(state.counts[RELEASED], number)
        state.counts[UPDATES] += 1
    eta = policy.step * (state.counts[UPDATES] + 1.0) ** (-2.0 / 3.0) / policy.units
    for i in range(state.x.size):
        state.levels[i] = policy.start[i] - eta * state.gradients[i]
        state.x[i] = clip_to_cube(state.levels[i])
