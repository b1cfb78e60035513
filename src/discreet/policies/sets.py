"""Policies that choose whole sets: exponential weights over all of them, one set for ever, a random one."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.kernel.phase import Phase
from discreet.lovasz import sort_by_level
from discreet.policies.base import CompiledPolicy, learn, plan
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomness import BitArray


class _ArmsConstants(NamedTuple):
    unit: float  # the value of one released unit
    eta: float
    gamma: float


class ArmsState(NamedTuple):
    """One estimated loss per subset, coded by its bits; `x` stays in the middle."""

    x: FloatArray
    losses: FloatArray


class Arms(CompiledPolicy):
    """Exponential weights for a query of one cost: learning rate `eta`, a share `gamma` of random sets."""

    chooses_among = False

    def __init__(self, n: int, *, eta: float, gamma: float, unit: float) -> None:
        first = ArmsState(np.full(n, 0.5), np.zeros(1 << n))
        super().__init__(_ArmsConstants(unit, eta, gamma), first, notes=2)

    def point(self, state: ArmsState) -> FloatArray:
        """The probability with which each item is chosen next."""
        gamma = self.constants.gamma
        weights = np.exp(-self.constants.eta * (state.losses - state.losses.min()))
        chances = (1 - gamma) * weights / weights.sum() + gamma / weights.size
        members = np.arange(weights.size)[:, None] >> np.arange(state.x.size) & 1
        return np.asarray(chances @ members)

    def best(self, state: ArmsState) -> IntArray:
        """The set of least estimated loss."""
        return np.flatnonzero(int(state.losses.argmin()) >> np.arange(state.x.size) & 1)


@plan.register(_ArmsConstants)
@kernel
def _plan_arm(policy: _ArmsConstants, state: ArmsState, phase: Phase, coins: BitArray, cursor: int) -> int:
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
    levels = np.empty(state.x.size)
    for i in range(levels.size):
        levels[i] = (arm >> i) & 1
    choose(levels, probability, phase)
    phase.note[0, 0], phase.note[0, 1] = arm, probability
    return cursor + 1


@learn.register(_ArmsConstants)
@lean_kernel
def _learn_arms(
    policy: _ArmsConstants, state: ArmsState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    for k in range(rounds.size):
        arm = int(note[k, 0])
        if 0 <= arm < state.losses.size:
            state.losses[arm] += values[k, 0] * policy.unit / note[k, 1]


class _FixedConstants(NamedTuple):
    random: bool  # whether each round has a random set


class _FixedState(NamedTuple):
    x: FloatArray  # the set itself, or all levels 1/2


class Fixed(CompiledPolicy):
    """The same set in every round; `chosen` says whether each item is in it."""

    chooses_among = False

    def __init__(self, chosen: BoolArray) -> None:
        super().__init__(_FixedConstants(random=False), _FixedState(chosen.astype(np.float64)))


class Uniform(CompiledPolicy):
    """A uniformly random set of n items in every round."""

    chooses_among = False

    def __init__(self, n: int) -> None:
        super().__init__(_FixedConstants(random=True), _FixedState(np.full(n, 0.5)))


@plan.register(_FixedConstants)
@kernel
def _plan_set(policy: _FixedConstants, state: _FixedState, phase: Phase, coins: BitArray, cursor: int) -> int:
    levels = state.x.copy()
    chance, n = 1.0, levels.size
    if policy.random:
        first = cursor
        cursor += (n + 63) // 64
        if cursor > coins.size:
            return NEED_MORE_BITS
        for i in range(n):
            levels[i] = (coins[first + i // 64] >> np.uint64(i % 64)) & np.uint64(1)
        chance = max(0.5**n, 1e-300)  # 2^-n is zero for many items
    choose(levels, chance, phase)
    return cursor


@lean_kernel
def choose(levels: FloatArray, chance: float, phase: Phase) -> None:
    """Write down a set, the items of level 1, that was drawn with this chance."""
    sort_by_level(levels, phase.order[0])
    phase.size[0] = int(levels.sum())
    phase.rounds[0] = 1
    phase.chance[0, phase.size[0]] = chance


@learn.register(_FixedConstants)
@lean_kernel
def learn_nothing(
    policy: Any, state: Any, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    """For policies without anything to learn."""
