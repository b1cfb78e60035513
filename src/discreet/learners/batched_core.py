"""The compiled core of `FullInformationLearner`: blocks of gradients, each released once.

The point is held for a block of rounds. At its end the sum of the block's gradients is released with noise,
and the point moves to x = clip(start - eta * (sum of all that was released)). Two numbers adapt to what was
released, which costs no privacy:

**The step.** eta = alpha * R / D, where R bounds the regulariser |x - start|^2 / 2 on the cube and D adds
up how much each block has cost more than it would have, had it been known beforehand: with m(L) = min over
the cube of L.x + |x - start|^2 / (2 eta), a block that is released as l adds l.x - (m(L + l) - m(L)) >= 0.
While the point lies inside the cube that is eta |l|^2 / 2, and the step falls like one over the square root
of the released energy. Once items sit at 0 or 1 beyond doubt nothing is added for them any more, and the
step stays large: that is what makes easy streams cheap.

**The length of a block.** Noise has the same energy for a short block and for a long one. The length grows
while what is released is hardly more than noise, and shrinks when gradients dominate, so that both have
about the same energy.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from discreet.bounds.dual_averaging import start_range
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.learners.core import choose, draw_from_chain, learn_function
from discreet.learners.draw import Draw
from discreet.learners.limits import Limits
from discreet.learners.update_rules import clip_to_cube
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.privacy.sensitivity import bound_in_place, chain_gradient
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

#: The step's alpha: see `discreet.bounds.batched` for what it costs in the worst case, and `benchmarks` for
#: what it gains.
ALPHA = 0.5
#: How fast block lengths change, and the largest change in one block (in units of the rate).
PACE, FASTEST_GROWTH, FASTEST_FALL = 0.1, 1.0, 4.0

#: Places in `BatchedCore.counts` and in `BatchedCore.adapted`.
IN_BLOCK, LENGTH, BLOCKS = 0, 1, 2
SPENT, EXACT_LENGTH = 0, 1


class BatchedCore(NamedTuple):
    """The parts and the state of a batched learner.

    Attributes:
        mechanism: Releases sums of blocks, with noise of their own.
        limits: What feedback is forced into.
        shortest: Least length of a block.
        longest: Greatest length.
        noise_energy: The mean squared norm of a block's noise; 0 keeps the length fixed.
        range: R, the largest value of |x - start|^2 / 2 on the cube.
        start: The first point.
        x: The present point.
        levels: What items are sorted by; x is these, clipped.
        rounds: How many rounds have been told about, in its one entry.
        vector: Room for a gradient in units; secret while a round lasts.
        block: The sum of the open block's gradients, in units; secret.
        counts: IN_BLOCK, rounds in the open block; LENGTH, how many it will have; BLOCKS, how many are
            closed.
        released: The sum of all released blocks, in values.
        before: The same before the last block.
        adapted: SPENT, the D of the step; EXACT_LENGTH, the length before rounding.
    """

    mechanism: Any
    limits: Limits
    shortest: int
    longest: int
    noise_energy: float
    range: float
    start: FloatArray
    x: FloatArray
    levels: FloatArray
    rounds: IntArray
    vector: IntArray
    block: IntArray
    counts: IntArray
    released: FloatArray
    before: FloatArray
    adapted: FloatArray


def new_batched_core(
    *,
    mechanism: Any,
    limits: Limits,
    shortest: int,
    longest: int,
    noise_energy: float,
    first_spent: float,
    start: FloatArray,
) -> BatchedCore:
    """A core before its first round, at the point `start`."""
    n = start.size
    return BatchedCore(
        mechanism=mechanism,
        limits=limits,
        shortest=shortest,
        longest=longest,
        noise_energy=noise_energy,
        range=start_range(start),
        start=start.astype(np.float64),
        x=start.astype(np.float64),
        levels=start.astype(np.float64),
        rounds=np.zeros(1, dtype=np.int64),
        vector=np.zeros(n, dtype=np.int64),
        block=np.zeros(n, dtype=np.int64),
        counts=np.array([0, shortest, 0], dtype=np.int64),
        released=np.zeros(n),
        before=np.zeros(n),
        adapted=np.array([first_spent, float(shortest)]),
    )


@choose.register(BatchedCore)
@lean_kernel
def _choose_level_set(core: BatchedCore, draw: Draw, bits: BitArray, cursor: int) -> int:
    return draw_from_chain(core.x, core.levels, 0.0, draw, bits, cursor)


@learn_function.register(BatchedCore)
@lean_kernel
def _learn_in_block(core: BatchedCore, draw: Draw, costs: FloatArray, bits: BitArray, cursor: int) -> int:
    closes = core.counts[IN_BLOCK] + 1 == core.counts[LENGTH]
    if closes:
        done, cursor = draw_noise(core.mechanism, 0, bits, cursor)
        if done < samples_needed(core.mechanism):
            return NEED_MORE_BITS
    limits = core.limits
    chain_gradient(costs, draw.order, limits.low, limits.high, limits.units, core.vector)
    bound_in_place(core.vector, limits.coordinate, limits.l1)
    for i in range(core.x.size):
        core.block[i] += core.vector[i]
        core.vector[i] = 0
    core.counts[IN_BLOCK] += 1
    core.rounds[0] += 1
    if closes:
        add_secret(core.mechanism, core.block, core.released)
        core.block[:] = 0
        move(core)
    return cursor


@lean_kernel
def move(core: BatchedCore) -> None:
    """Close a block: adapt the step and the length to what was released, and move the point."""
    eta = step_of(core)
    energy = 0.0
    for i in range(core.x.size):
        core.released[i] *= core.limits.step
        new = core.released[i] - core.before[i]
        energy += new * new
        least = potential(core.released[i], eta, core.start[i]) - potential(
            core.before[i], eta, core.start[i]
        )
        core.adapted[SPENT] += max(0.0, new * core.x[i] - least)
        core.before[i] = core.released[i]
    eta = step_of(core)
    for i in range(core.x.size):
        core.levels[i] = core.start[i] - eta * core.released[i]
        core.x[i] = clip_to_cube(core.levels[i])
    if core.noise_energy > 0.0:
        drift = min(max(2.0 - energy / core.noise_energy, -FASTEST_FALL), FASTEST_GROWTH)
        length = core.adapted[EXACT_LENGTH] * math.exp(PACE * drift)
        core.adapted[EXACT_LENGTH] = min(max(length, float(core.shortest)), float(core.longest))
    core.counts[IN_BLOCK] = 0
    core.counts[LENGTH] = int(core.adapted[EXACT_LENGTH])
    core.counts[BLOCKS] += 1


@lean_kernel
def step_of(core: BatchedCore) -> float:
    """The present step eta, which takes values of gradients."""
    eta: float = ALPHA * core.range / core.adapted[SPENT]
    return eta


@lean_kernel
def potential(total: float, eta: float, start: float) -> float:
    """The least value of total * x + (x - start)^2 / (2 eta) over x in [0, 1]."""
    x = clip_to_cube(start - eta * total)
    return total * x + (x - start) ** 2 / (2.0 * eta)
