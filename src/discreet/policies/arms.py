"""Exponential weights over all subsets: every set is an arm of its own."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.kernel.phase import Phase
from discreet.policies.base import CompiledPolicy, learn, plan, put_first
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomness import BitArray


class ArmsConstants(NamedTuple):
    """Public numbers.

    Attributes:
        unit: The value of one released unit.
        eta: The learning rate.
        gamma: The share of rounds that go to uniformly random sets.
    """

    unit: float
    eta: float
    gamma: float


class ArmsState(NamedTuple):
    """One estimated loss per subset, coded by its bits; `x` stays in the middle."""

    x: FloatArray
    losses: FloatArray


class Arms(CompiledPolicy):
    """The policy for a query of one cost.

    Args:
        n: The number of items.
        eta: The learning rate.
        gamma: The share of rounds that go to uniformly random sets.
        unit: The value of one released unit.
    """

    chooses_among = False

    def __init__(self, n: int, *, eta: float, gamma: float, unit: float) -> None:
        first = ArmsState(np.full(n, 0.5), np.zeros(1 << n))
        super().__init__(ArmsConstants(unit, eta, gamma), first, notes=2)

    def point(self, state: ArmsState) -> FloatArray:
        """The probability with which each item is chosen next."""
        gamma = self.constants.gamma
        weights = np.exp(-self.constants.eta * (state.losses - state.losses.min()))
        chances = (1 - gamma) * weights / weights.sum() + gamma / weights.size
        members = np.arange(weights.size)[:, None] >> np.arange(state.x.size) & 1
        levels: FloatArray = chances @ members
        return levels

    def best(self, state: ArmsState) -> IntArray:
        """The set of least estimated loss."""
        return np.flatnonzero(int(state.losses.argmin()) >> np.arange(state.x.size) & 1)


@plan.register(ArmsConstants)
@kernel
def _plan_arm(policy: ArmsConstants, state: ArmsState, phase: Phase, coins: BitArray, cursor: int) -> int:
    if cursor >= coins.size:
        return NEED_MORE_BITS
    # Weights relative to the best arm cannot overflow.
    least = state.losses.min()
    weights = np.exp(-policy.eta * (state.losses - least))
    total, arms = weights.sum(), state.losses.size
    uniform = uniform_float(coins[cursor])
    arm, probability = arms - 1, 0.0
    for candidate in range(arms):
        probability = (1.0 - policy.gamma) * weights[candidate] / total + policy.gamma / arms
        if uniform < probability:
            arm = candidate
            break
        uniform -= probability
    chosen = np.empty(state.x.size, dtype=np.bool_)
    for i in range(chosen.size):
        chosen[i] = (arm >> i) & 1 == 1
    put_first(chosen, phase)
    phase.chance[0, phase.size[0]] = probability
    phase.note[0, 0], phase.note[0, 1] = arm, probability
    return cursor + 1


@learn.register(ArmsConstants)
@lean_kernel
def _learn_arms(
    policy: ArmsConstants, state: ArmsState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(rounds.size):
        arm = int(note[k, 0])
        if 0 <= arm < state.losses.size:
            state.losses[arm] += values[k, 0] * policy.unit / note[k, 1]
