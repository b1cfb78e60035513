"""The compiled core of `BanditLearner`: privatise a number, then learn from what was released.

A set is drawn from the chain of the point; its cost is released once (or the sum of the costs of a block of
rounds in which that set was played); the one-point estimate made of what was released is added to a sum;
and the point is x = clip(start - eta_t * sum). All but the open blocks is post-processing of released
numbers.

**Schedules.** After t - 1 updates the exploration is gamma_t = min(1, exploration * t^(-1/3)) and the step
eta_t = step * t^(-2/3).

**Baseline.** The gradient does not change if a constant is taken off all costs, but the variance of its
estimate does. The constant is the mean of what was released, drawn towards the middle of the range while
there is little of it, and noted with the draw. So what a cost adds to the sum depends on its draw and on
what was released for it, and on nothing else: costs that come late or in another order add up to the same
integers.

**Arithmetic.** Sums are of 64-bit integers, over up to 2^32 rounds. With a tiny epsilon a single released
number can have more than 50 bits, and one divided by its probability still more. So every sum is bounded
(`privacy.bounded_sums`): it stays at plus or minus 2^62 - 1 where it would be beyond, and never changes its
sign by wrapping around. Only parameters with which nothing is learnt anyway lead there: with epsilon = 1 and
one round per person the sum of released numbers stays below 2^54.
"""

from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.learners.core import choose, draw_from_chain, learn_cost
from discreet.learners.draw import BASELINE, PROBABILITY, SIZE, TOLD, TOTAL, Draw
from discreet.learners.scalar_release import release
from discreet.learners.update_rules import clip_to_cube
from discreet.privacy.bounded_sums import bounded_sum
from discreet.privacy.sensitivity import to_units
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

#: Places in `BanditCore.rounds`, after the number of rounds.
UPDATES, RELEASED = 1, 2
#: No single estimate is larger than this many units; only absurd parameters reach it.
LARGEST_SHARE = float(1 << 61)


class BanditCore(NamedTuple):
    """The parts and the public state of a bandit learner.

    Attributes:
        kind: How numbers are released (`scalar_release`).
        low: Lower end of the range of costs.
        high: Upper end.
        units: Grid steps in half the range.
        length: Rounds in a block.
        exploration: The constant of gamma_t.
        step: The constant of eta_t, per unit of half the range.
        prior: How many released numbers the middle of the range weighs in the baseline.
        start: The first point.
        x: The present point.
        levels: What items are sorted by; x is these, clipped.
        rounds: How many rounds have been told about; UPDATES, how many numbers have been released; RELEASED,
            the sum of these, in units. (One array: compiled calls pay for each.)
        gradients: The sum of all estimates, in units.
    """

    kind: Any
    low: float
    high: float
    units: int
    length: int
    exploration: float
    step: float
    prior: float
    start: FloatArray
    x: FloatArray
    levels: FloatArray
    rounds: IntArray
    gradients: IntArray


def new_bandit_core(
    *,
    kind: Any,
    low: float,
    high: float,
    units: int,
    length: int,
    exploration: float,
    step: float,
    prior: float,
    start: FloatArray,
) -> BanditCore:
    """A core before its first round, at the point `start`."""
    return BanditCore(
        kind=kind,
        low=low,
        high=high,
        units=units,
        length=length,
        exploration=exploration,
        step=step,
        prior=prior,
        start=start.astype(np.float64),
        x=start.astype(np.float64),
        levels=start.astype(np.float64),
        rounds=np.zeros(3, dtype=np.int64),
        gradients=np.zeros(start.size, dtype=np.int64),
    )


@choose.register(BanditCore)
@lean_kernel
def _choose_for_a_block(core: BanditCore, draw: Draw, bits: BitArray, cursor: int) -> int:
    if 0 < draw.numbers[TOLD] < core.length:
        return cursor
    updates = core.rounds[UPDATES]
    gamma = min(1.0, core.exploration * (updates + 1.0) ** (-1.0 / 3.0))
    cursor = draw_from_chain(core.x, core.levels, gamma, draw, bits, cursor)
    if cursor != NEED_MORE_BITS:
        draw.numbers[TOLD] = 0
        draw.numbers[TOTAL] = 0
        mean = core.rounds[RELEASED] / (core.length * (updates + core.prior))
        draw.chances[BASELINE] = min(max(mean, -float(core.units)), float(core.units))
    return cursor


@learn_cost.register(BanditCore)
@lean_kernel
def _learn_block(core: BanditCore, draw: Draw, cost: float, bits: BitArray, cursor: int) -> int:
    told, total = draw.numbers[TOLD] + 1, draw.numbers[TOTAL]
    total += to_units(cost, core.low, core.high, core.units)
    if told < core.length:
        draw.numbers[TOTAL] = total
    else:
        number, cursor = release(core.kind, total, bits, cursor)
        if cursor == NEED_MORE_BITS:
            return NEED_MORE_BITS
        draw.numbers[TOTAL] = 0
        learn_released(core, draw, number)
    draw.numbers[TOLD] = told
    core.rounds[0] += 1
    return cursor


@lean_kernel
def learn_released(core: BanditCore, draw: Draw, number: int) -> None:
    """Learn from a released number, which stands for the sum of a block's costs; move the point."""
    whole = share_of(core, number, draw.chances[PROBABILITY], draw.chances[BASELINE])
    size = draw.numbers[SIZE]
    if size > 0:
        raise_item(core, draw.order[size - 1], whole)
    if size < draw.order.size:
        raise_item(core, draw.order[size], -whole)
    core.rounds[RELEASED] = bounded_sum(core.rounds[RELEASED], number)
    core.rounds[UPDATES] += 1
    move_point(core)


@lean_kernel
def learn_many_released(
    core: BanditCore,
    raised: IntArray,
    lowered: IntArray,
    probabilities: FloatArray,
    baselines: FloatArray,
    numbers: IntArray,
) -> None:
    """Learn from many released numbers at once, whose draws were kept elsewhere; blocks of one round only.

    The sums are of integers, so this leaves what `learn_released` leaves when it is called for one after
    the other; in any order, as long as no sum meets its bound.

    Args:
        core: The learner's.
        raised: The last item of each chosen prefix, -1 where it was empty.
        lowered: The first item after it, -1 where it had all.
        probabilities: Those of the draws.
        baselines: Likewise.
        numbers: What was released.
    """
    for k in range(numbers.size):
        whole = share_of(core, numbers[k], probabilities[k], baselines[k])
        if raised[k] >= 0:
            raise_item(core, raised[k], whole)
        if lowered[k] >= 0:
            raise_item(core, lowered[k], -whole)
        core.rounds[RELEASED] = bounded_sum(core.rounds[RELEASED], numbers[k])
    core.rounds[0] += numbers.size
    core.rounds[UPDATES] += numbers.size
    if numbers.size > 0:
        move_point(core)


@lean_kernel
def raise_item(core: BanditCore, item: int, whole: int) -> None:
    """Add to the sum of an item's estimates."""
    core.gradients[item] = bounded_sum(core.gradients[item], whole)


@lean_kernel
def share_of(core: BanditCore, number: int, probability: float, baseline: float) -> int:
    """What a released number adds to the sum of estimates: over its draw's baseline, by its probability."""
    share = (number / core.length - baseline) / probability
    whole: int = np.int64(round(min(max(share, -LARGEST_SHARE), LARGEST_SHARE)))  # type: ignore[assignment] # compiled: int64
    return whole


@lean_kernel
def step_of(core: BanditCore) -> float:
    """The present step eta_t, which takes gradients in halves of the range."""
    eta: float = core.step * (core.rounds[UPDATES] + 1.0) ** (-2.0 / 3.0)
    return eta


@lean_kernel
def move_point(core: BanditCore) -> None:
    """The point that the sum of estimates leads to."""
    eta = step_of(core) / core.units
    for i in range(core.x.size):
        core.levels[i] = core.start[i] - eta * core.gradients[i]
        core.x[i] = clip_to_cube(core.levels[i])
