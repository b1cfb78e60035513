"""Policies that do not learn: one set for ever, or a random one each round."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.kernel.phase import Phase
from discreet.policies.base import CompiledPolicy, learn, plan, put_first
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

#: Probabilities below this are stated as this: 2^-n is zero for many items.
LEAST_PROBABILITY = 1e-300


class FixedConstants(NamedTuple):
    """The set."""

    chosen: BoolArray


class UniformConstants(NamedTuple):
    """Nothing but the type."""

    n: int


class FixedState(NamedTuple):
    """The point: the set itself, or all levels 1/2."""

    x: FloatArray


class Fixed(CompiledPolicy):
    """The same set in every round.

    Args:
        chosen: Whether each item is in it.
    """

    chooses_among = False

    def __init__(self, chosen: BoolArray) -> None:
        super().__init__(FixedConstants(chosen), FixedState(chosen.astype(np.float64)))


class Uniform(CompiledPolicy):
    """A uniformly random set in every round.

    Args:
        n: The number of items.
    """

    chooses_among = False

    def __init__(self, n: int) -> None:
        super().__init__(UniformConstants(n), FixedState(np.full(n, 0.5)))


@plan.register(FixedConstants)
@lean_kernel
def _plan_fixed(policy: FixedConstants, state: FixedState, phase: Phase, coins: BitArray, cursor: int) -> int:
    put_first(policy.chosen, phase)
    phase.chance[0, phase.size[0]] = 1.0
    return cursor


@plan.register(UniformConstants)
@kernel
def _plan_uniform(
    policy: UniformConstants, state: FixedState, phase: Phase, coins: BitArray, cursor: int
) -> int:
    n = policy.n
    after = cursor + (n + 63) // 64
    if after > coins.size:
        return NEED_MORE_BITS
    chosen = np.empty(n, dtype=np.bool_)
    for i in range(n):
        chosen[i] = (coins[cursor + i // 64] >> np.uint64(i % 64)) & np.uint64(1) == np.uint64(1)
    put_first(chosen, phase)
    phase.chance[0, phase.size[0]] = max(0.5**n, LEAST_PROBABILITY)
    return after


@learn.register(FixedConstants)
@learn.register(UniformConstants)
@lean_kernel
def _learn_nothing(
    policy: Any, state: FixedState, note: FloatArray, rounds: IntArray, values: npt.NDArray[Any]
) -> None:
    pass
