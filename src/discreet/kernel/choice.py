"""The release of choices: noisy minima over all sets, how well a set does that is held, and gradients."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.kernel.queries import GRADIENT, CostsOfSets, Query, wants_gradient
from discreet.kernel.releases import Exact, Laplace, Release, announce, arrive, arrive_as_it_is, close
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.noise import Law, fill, geometric, laplace
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray

#: What a slot's note says: `GRADIENT` or not, the set that is held, whether its phase ends with it, and the
#: number of that phase.
KIND, HELD, ENDS, PHASE = range(4)
#: What is released of a slot: by how much more the held set cost than the best in it, and the best set of the
#: phase if that ends with it, else -1.
DIFFERENCE, CHOSEN = range(2)
#: The share of epsilon for the first.
WATCHING = Fraction(1, 5)


class ChoiceSteps(NamedTuple):
    """The mechanism of `Choice`."""

    gradients: bool  # whether there are slots of gradients

    scale: int  # of the geometric noise on the totals of a phase, in units
    difference: Law
    gradient: Law
    totals: IntArray  # of the phase, secret
    fresh: IntArray  # room for the noise of a gradient, zero between slots
    drawn: IntArray  # the same for the noise of a difference
    slot: FloatArray  # what was announced, with PHASE as the number of phases that have ended


@dataclasses.dataclass(frozen=True)
class Choice(Release):
    """The set of least noisy cost over a phase, a series of slots; and what shows that it no longer is best.

    Sets are given by their codes, or by their places in the list if the query has one. Of a slot of costs are
    released: by how much more the held set cost than the best one, with noise; and, if
    a phase ends with it, the set of least noisy cost in the phase. Of a slot of gradients, their sum with
    Laplace noise.

    Formal guarantees:
        Neighbours: histories that differ in one round's report, a value or nothing. A report is of one slot,
        either of costs, where it moves each total by at most W = 2 `units`, or of gradients. The first goes
        into one difference (a fifth of epsilon) and at most one minimum (the rest), each of sensitivity 2 W.
        Noise is exact, discrete Laplace and geometric, of scale 2 W over that share of epsilon / k for k
        rounds per person. This holds for any functions and any policy. Proof: `docs/guarantees.md#choices`.
    """

    query: CostsOfSets
    budget: Budget

    def __post_init__(self) -> None:
        if self.budget.epsilon is None:
            raise InvalidArgument("A Choice needs a budget of 'epsilon': its noise is not Gaussian.")
        self.budget.require_pure()
        _ = self.query.bound  # refused here if sums could wrap around

    def mechanism(self, dimension: int) -> ChoiceSteps:
        """Before the first slot it is as if each slot were a phase."""
        return ChoiceSteps(
            self.query.listed == 0,
            self.scale,
            self.difference,
            self._gradients._law(),
            np.zeros(dimension, dtype=np.int64),
            np.zeros(self.query.items, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.array([0.0, 0.0, 1.0, 0.0]),
        )

    @property
    def scale(self) -> int:
        """Of the geometric noise on the totals of a phase, in units."""
        return math.ceil(4 * self.query.units / (self.budget.per_round * (1 - WATCHING)))

    @property
    def difference(self) -> Law:
        """The noise of a difference, in units."""
        return laplace(4 * self.query.units / (self.budget.per_round * WATCHING))

    @property
    def _gradients(self) -> Laplace:
        return Laplace(self.query.gradient.bound, self.budget)

    def width(self, dimension: int) -> int:
        return max(CHOSEN + 1, self.query.items)

    def covers(self, query: Query, n: int) -> bool:
        return query == self.query and n == self.query.items

    @property
    def guarantee(self) -> Guarantee:
        return dataclasses.replace(self.budget.guarantee(proof="choices"), absence_hidden=True)

    @property
    def noise_variance(self) -> float:
        """Of one number of a gradient."""
        return self._gradients.noise_variance


class ExactChoiceSteps(NamedTuple):
    """The mechanism of `ExactChoice`, with parts as in `ChoiceSteps`."""

    gradients: bool
    totals: IntArray
    slot: FloatArray


@dataclasses.dataclass(frozen=True)
class ExactChoice(Exact):
    """What a `Choice` releases, without noise: not private."""

    query: CostsOfSets = dataclasses.field(kw_only=True)

    def mechanism(self, dimension: int) -> ExactChoiceSteps:
        totals = np.zeros(dimension, dtype=np.int64)
        return ExactChoiceSteps(self.query.listed == 0, totals, np.array([0.0, 0.0, 1.0, 0.0]))

    def width(self, dimension: int) -> int:
        return max(CHOSEN + 1, self.query.items)

    def covers(self, query: Query, n: int) -> bool:
        return query == self.query and n == self.query.items


arrive.register(ChoiceSteps)(arrive_as_it_is)
arrive.register(ExactChoiceSteps)(arrive_as_it_is)


@announce.register(ChoiceSteps)
@announce.register(ExactChoiceSteps)
@lean_kernel
def _announce(mechanism: ChoiceSteps | ExactChoiceSteps, note: FloatArray) -> None:
    slot = mechanism.slot
    slot[KIND] = GRADIENT if mechanism.gradients and wants_gradient(note) else 0.0
    if note.size > PHASE:
        slot[HELD] = note[HELD] if 0.0 <= note[HELD] < mechanism.totals.size else 0.0
        # A slot that was planned before its phase ended is part of the next, and does not end that.
        slot[ENDS] = note[ENDS] if note[PHASE] == slot[PHASE] else 0.0


@close.register(ChoiceSteps)
@lean_kernel
def _close(mechanism: ChoiceSteps, sums: IntArray, out: npt.NDArray[Any], bits: BitArray, cursor: int) -> int:
    slot, totals = mechanism.slot, mechanism.totals
    if slot[KIND] == GRADIENT:
        return _close_gradient(mechanism, sums, out, bits, cursor)
    chosen, ends = -1, slot[ENDS] > 0.0
    done, cursor = fill(mechanism.difference, mechanism.drawn, 0, bits, cursor)
    if done == 0:
        return NEED_MORE_BITS
    least = sums[0]
    for code in range(sums.size):
        least = min(least, sums[code])
    difference = sums[int(slot[HELD])] - least + mechanism.drawn[0]
    mechanism.drawn[0] = 0
    if ends:
        chosen, cursor = noisy_minimum(mechanism.scale, totals, sums, bits, cursor)
        if cursor == NEED_MORE_BITS:
            return NEED_MORE_BITS
        slot[PHASE] += 1.0
    for code in range(totals.size):
        totals[code] = 0 if ends else totals[code] + sums[code]
    out[DIFFERENCE], out[CHOSEN] = difference, chosen
    return cursor


@close.register(ExactChoiceSteps)
@lean_kernel
def _close_exactly(
    mechanism: ExactChoiceSteps, sums: IntArray, out: npt.NDArray[Any], bits: BitArray, cursor: int
) -> int:
    slot, totals = mechanism.slot, mechanism.totals
    if slot[KIND] == GRADIENT:
        for i in range(out.size):
            out[i] = sums[i]
        return cursor
    least, best = sums[0], 0
    for code in range(sums.size):
        totals[code] += sums[code]
        least = min(least, sums[code])
        if totals[code] < totals[best]:
            best = code
    out[DIFFERENCE], out[CHOSEN] = sums[int(slot[HELD])] - least, -1
    if slot[ENDS] > 0.0:
        out[CHOSEN] = best
        totals[:] = 0
        slot[PHASE] += 1.0
    return cursor


@lean_kernel
def _close_gradient(
    mechanism: ChoiceSteps, sums: IntArray, out: npt.NDArray[Any], bits: BitArray, cursor: int
) -> int:
    fresh = mechanism.fresh
    done, cursor = fill(mechanism.gradient, fresh, 0, bits, cursor)
    if done < fresh.size:
        return NEED_MORE_BITS
    for i in range(fresh.size):
        out[i] = sums[i] + fresh[i]
        fresh[i] = 0
    return cursor


@lean_kernel
def noisy_minimum(
    scale: int, totals: IntArray, sums: IntArray, bits: BitArray, cursor: int
) -> tuple[int, int]:
    """The first place of the least of `totals + sums` minus geometric noise, and the new cursor.

    How many bits are drawn does not depend on the numbers. Noisy numbers are compared as pairs (multiples of
    the scale, rest): however large the noise is, nothing wraps around.
    """
    best, least, least_rest = 0, 0, 0
    for code in range(sums.size):
        whole, part, cursor = geometric(scale, bits, cursor)
        if cursor == NEED_MORE_BITS:
            return 0, NEED_MORE_BITS
        number = totals[code] + sums[code] - part
        multiple, rest = number // scale - whole, number % scale
        if code == 0 or multiple < least or (multiple == least and rest < least_rest):
            best, least, least_rest = code, multiple, rest
    return best, cursor
