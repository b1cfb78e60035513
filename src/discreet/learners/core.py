"""One round of a learner, compiled: choose a set, then learn from what it cost.

A core is a named tuple of parts: a mechanism that sums gradients in private, a rule that moves the
point, and the constants that bound the feedback. `ask`/`tell` objects call `choose` and the `learn_...`
functions one round at a time; the simulator calls the very same functions in a compiled loop.

Every function takes ``(bits, cursor)`` and returns the new cursor, or NEED_MORE_BITS before it has changed
anything that matters, so that a round can be replayed with more bits (`discreet.randomness`).

This module has the core that sums whole gradients in private: the paper's algorithms, the baselines and
the tree. `bandit_core` and `batched_core` have the others.

Which values are secret: the feedback, `vector` and `estimate` (cleared at the end of each round), and the
state inside `mechanism`. Everything else, `released` and `x` among it, is a function of released
values and of public coins.
"""

from typing import Any, NamedTuple

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import generic, lean_kernel
from discreet.estimators import draw_prefix, one_point, one_point_with_coin
from discreet.learners.draw import PROBABILITY, SIZE, Draw
from discreet.learners.limits import Limits
from discreet.learners.update_rules import enter, next_point
from discreet.lovasz import sort_by_level
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.privacy.sensitivity import bound_in_place, chain_gradient, to_units, values_to_units
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomness import BitArray


@generic
def choose(core: Any, draw: Draw, bits: BitArray, cursor: int) -> int:
    """Draw a set among `draw.order`, and write down how; nothing else is changed.

    A draw that serves for several rounds is left as it is until all of them have been told.
    """
    raise AssertionError("declares a generic function")


@lean_kernel
def choose_many(
    core: Any,
    orders: IntArray,
    numbers: IntArray,
    chances: FloatArray,
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    """Draw many sets, one in each row of arrays like those of `Draw`; goes on after `done` of them."""
    while done < orders.shape[0]:
        after = choose(core, Draw(orders[done], numbers[done], chances[done]), bits, cursor)
        if after == NEED_MORE_BITS:
            break
        cursor = after
        done += 1
    return done, cursor


@generic
def learn_function(core: Any, draw: Draw, costs: FloatArray, bits: BitArray, cursor: int) -> int:
    """Full information: learn from the costs of the prefixes of `draw.order`, the empty one first."""
    raise AssertionError("declares a generic function")


@generic
def learn_cost(core: Any, draw: Draw, cost: float, bits: BitArray, cursor: int) -> int:
    """Bandit: learn from the cost of the set that was drawn."""
    raise AssertionError("declares a generic function")


class Core(NamedTuple):
    """The parts and the public state of a learner.

    Attributes:
        mechanism: Sums gradients and releases the sums.
        rule: Moves the point.
        limits: What feedback is forced into.
        horizon: How many rounds the mechanism can take; what is told after that is not learnt from.
        gamma: Exploration; 0 draws level sets.
        coin: Whether one-point estimates use the paper's coin.
        x: The present point.
        levels: What items are sorted by; x is these, clipped to [0, 1].
        rounds: How many rounds have been learnt from, in its one entry.
        vector: Room for a gradient in units; secret while a round lasts.
        estimate: Room for a gradient in values; likewise.
        released: The last released sum, in values.
    """

    mechanism: Any
    rule: Any
    limits: Limits
    horizon: int
    gamma: float
    coin: bool
    x: FloatArray
    levels: FloatArray
    rounds: IntArray
    vector: IntArray
    estimate: FloatArray
    released: FloatArray


def new_core(
    *,
    mechanism: Any,
    rule: Any,
    limits: Limits,
    start: FloatArray,
    horizon: int = MOST_ROUNDS,
    gamma: float = 0.0,
    coin: bool = False,
) -> Core:
    """A core before its first round, at the point `start`.

    Examples:
        >>> from discreet.learners.limits import subgradient_limits
        >>> from discreet.learners.update_rules import DualAveraging
        >>> from discreet.prefix_sums.plain import no_noise
        >>> start, (limits, _) = np.full(2, 0.5), subgradient_limits(-1.0, 1.0)
        >>> core = new_core(mechanism=no_noise(2), rule=DualAveraging(0.1, start), limits=limits, start=start)
        >>> core.x, core.rounds
        (array([0.5, 0.5]), array([0]))
    """
    n = start.size
    return Core(
        mechanism=mechanism,
        rule=rule,
        limits=limits,
        horizon=horizon,
        gamma=gamma,
        coin=coin,
        x=start.astype(np.float64),
        levels=start.astype(np.float64),
        rounds=np.zeros(1, dtype=np.int64),
        vector=np.zeros(n, dtype=np.int64),
        estimate=np.zeros(n),
        released=np.zeros(n),
    )


def horizon_of(core: Any) -> int:
    """How many rounds a core can take; one that sums nothing takes as many as any."""
    return int(getattr(core, "horizon", MOST_ROUNDS))


@lean_kernel
def draw_from_chain(
    x: FloatArray, levels: FloatArray, gamma: float, draw: Draw, bits: BitArray, cursor: int
) -> int:
    """Sort the items by level and draw a prefix of their chain, each with at least gamma / (n+1)."""
    if cursor >= bits.size:
        return NEED_MORE_BITS
    sort_by_level(levels, draw.order)
    size, probability = draw_prefix(x, draw.order, gamma, uniform_float(bits[cursor]))
    draw.numbers[SIZE] = size
    draw.chances[PROBABILITY] = probability
    return cursor + 1


@choose.register(Core)
@lean_kernel
def _choose_prefix(core: Core, draw: Draw, bits: BitArray, cursor: int) -> int:
    return draw_from_chain(core.x, core.levels, core.gamma, draw, bits, cursor)


@learn_function.register(Core)
@lean_kernel
def _learn_gradient(core: Core, draw: Draw, costs: FloatArray, bits: BitArray, cursor: int) -> int:
    if core.rounds[0] >= core.horizon:
        return cursor
    done, cursor = draw_noise(core.mechanism, 0, bits, cursor)
    if done < samples_needed(core.mechanism):
        return NEED_MORE_BITS
    limits = core.limits
    chain_gradient(costs, draw.order, limits.low, limits.high, limits.units, core.vector)
    absorb(core)
    return cursor


@learn_cost.register(Core)
@lean_kernel
def _learn_estimate(core: Core, draw: Draw, cost: float, bits: BitArray, cursor: int) -> int:
    if core.rounds[0] >= core.horizon:
        return cursor
    heads = True
    if core.coin:
        if cursor >= bits.size:
            return NEED_MORE_BITS
        heads = bits[cursor] >> np.uint64(63) == np.uint64(1)
        cursor += 1
    done, cursor = draw_noise(core.mechanism, 0, bits, cursor)
    if done < samples_needed(core.mechanism):
        return NEED_MORE_BITS
    limits = core.limits
    # Centred and on the grid: a number in [-M, M] whatever the feedback was.
    half = 0.5 * limits.high - 0.5 * limits.low
    centred = to_units(cost, limits.low, limits.high, limits.units) * (half / limits.units)
    size, probability = draw.numbers[SIZE], draw.chances[PROBABILITY]
    if core.coin:
        one_point_with_coin(draw.order, size, probability, centred, heads, core.estimate)
    else:
        one_point(draw.order, size, probability, centred, core.estimate)
    values_to_units(core.estimate, limits.step, limits.coordinate, core.vector)
    absorb(core)
    return cursor


@lean_kernel
def absorb(core: Core) -> None:
    """Bound the gradient in `vector`, sum it in private, and move the point by what is released."""
    limits = core.limits
    bound_in_place(core.vector, limits.coordinate, limits.l1)
    enter(core.rule, core.x, limits.step, core.vector)
    add_secret(core.mechanism, core.vector, core.released)
    for i in range(core.x.size):
        core.released[i] *= limits.step
        core.vector[i] = 0
        core.estimate[i] = 0.0
    core.rounds[0] += 1
    next_point(core.rule, core.released, core.rounds[0], core.x, core.levels)


@lean_kernel
def put_first(chosen: BoolArray, draw: Draw) -> None:
    """Write a set down as a draw: an order of all items that begins with its members, and their number."""
    size, place = 0, draw.order.size - 1
    for i in range(chosen.size):
        if chosen[i]:
            draw.order[size] = i
            size += 1
    draw.numbers[SIZE] = size
    for i in range(chosen.size - 1, -1, -1):
        if not chosen[i]:
            draw.order[place] = i
            place -= 1
