"""How sums of reports leave: the only part that holds secrets, and the only one with a guarantee.

Mechanisms are as `prefix_sums.steps` describes them. Noise comes in on arrival, where a local release
randomises each report by itself (`arrive`), or at closing, where a sum gets noise (`close`). Proofs:
`docs/guarantees.md#releases`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, lean_kernel
from discreet.errors import InvalidArgument
from discreet.kernel.phase import Ticket
from discreet.kernel.queries import Query, measure
from discreet.prefix_sums import steps
from discreet.prefix_sums.base import MOST_ROUNDS, PrefixSum
from discreet.prefix_sums.binary import BinarySteps
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.prefix_sums.steps import FreshNoise, NoNoise
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.noise import Law, fill, variance
from discreet.privacy.sensitivity import EachBound, VectorBound, to_units
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers import OneBit, bit_of
from discreet.randomness import BitArray
from discreet.state import copied

_bit_of: Callable[[int, int, int], bool] = lean_kernel(bit_of)
_ONE = np.uint64(1)


class Release(ABC):
    """A way to release sums of reports.

    Attributes:
        local: Whether each report is randomised by itself, on arrival or on the person's device.
        horizon: How many sums it can release.
    """

    local: bool = False
    horizon: int = MOST_ROUNDS
    dtype: type[np.int64] | type[np.float64] = np.int64

    @abstractmethod
    def mechanism(self, dimension: int) -> Any:
        """The compiled mechanism for sums of so many numbers, before the first of them."""

    def width(self, dimension: int) -> int:
        """How many numbers are released of a sum of so many."""
        return dimension

    def covers(self, query: Query, n: int) -> bool:
        """Whether its noise hides any report of a query over n items: in the norm that the noise is for."""
        return True

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised to each person, if the random bits are."""

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one released number, in squared units; of trees, of a prefix sum."""
        return 0.0


@generic
def arrive(mechanism: Any, units: IntArray, bits: BitArray, cursor: int) -> int:
    """Randomise one report in place, where that is done on arrival; the new cursor or NEED_MORE_BITS."""
    raise AssertionError("declares a generic function")


@generic
def announce(mechanism: Any, note: FloatArray) -> None:
    """Tell a mechanism the note of the slot that is closed next, where it treats them differently."""


@announce.register(object)
@lean_kernel
def _treat_alike(mechanism: Any, note: FloatArray) -> None:
    pass


@generic
def close(mechanism: Any, sums: IntArray, out: npt.NDArray[Any], bits: BitArray, cursor: int) -> int:
    """Release the sum of a slot into `out`; the new cursor, or NEED_MORE_BITS before anything has changed."""
    raise AssertionError("declares a generic function")


@close.register(object)
@lean_kernel
def _close_with_noise(
    mechanism: Any, sums: IntArray, out: npt.NDArray[Any], bits: BitArray, cursor: int
) -> int:
    after: int
    done, after = steps.draw_noise(mechanism, 0, bits, cursor)
    if done < steps.samples_needed(mechanism):
        return NEED_MORE_BITS
    steps.add_secret(mechanism, sums, out)
    return int(after)


@lean_kernel
def close_many(
    mechanism: Any,
    note: FloatArray,
    sums: IntArray,
    out: npt.NDArray[Any],
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    """Release the sums of several slots, one per row, after `done` of them."""
    while done < sums.shape[0]:
        announce(mechanism, note[done])
        after = close(mechanism, sums[done], out[done], bits, cursor)
        if after == NEED_MORE_BITS:
            break
        cursor = after
        done += 1
    return done, cursor


@lean_kernel
def measured(
    query: Any, mechanism: Any, costs: FloatArray, ticket: Ticket, out: IntArray, bits: BitArray, cursor: int
) -> int:
    """Measure a ticket's feedback into `out`, randomised where that is done on arrival; the new cursor."""
    measure(query, costs, ticket, out)
    after: int = arrive(mechanism, out, bits, cursor)
    return after


@dataclasses.dataclass(frozen=True)
class Exact(Release):
    """Sums as they are: not private. If `local`, a phase closes as soon as all its reports are there."""

    local: bool = False
    rounds_per_person: int = 1

    def mechanism(self, dimension: int) -> Any:
        return NoNoise(dimension)

    @property
    def guarantee(self) -> Guarantee:
        nothing = Guarantee(epsilon=float("inf"), rounds_per_person=self.rounds_per_person)
        return nothing.void("it adds no noise")


class Nothing(NamedTuple):
    """The mechanism of `Discard`: reports are dropped on arrival."""

    dimension: int


@dataclasses.dataclass(frozen=True)
class Discard(Release):
    """Drops reports on arrival and releases zeros: for policies that do not learn."""

    local = True

    def mechanism(self, dimension: int) -> Nothing:
        return Nothing(dimension)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=0.0, proof="docs/guarantees.md#setting")


class BitNoise(NamedTuple):
    """The mechanism of `Bits`: plus or minus `magnitude`."""

    slope: int
    magnitude: int


@dataclasses.dataclass(frozen=True)
class Bits(Release):
    """Each report, a number in `cost_range`, becomes one random bit; a sum of reports a sum of such bits.

    Formal guarantees:
        Local. Neighbours: any two values of one report. The probability of the bit is linear in the report,
        with ratios of at most exp(epsilon / k) for k rounds per person (`docs/guarantees.md#one-bit`), or, if
        the budget has a delta, of the loss that makes k of them (epsilon, delta)-private.
    """

    budget: Budget
    cost_range: tuple[float, float]
    local = True

    @property
    def randomizer(self) -> OneBit:
        """What makes the bits on a person's own device."""
        return OneBit(self.budget.per_round, self.cost_range)

    def mechanism(self, dimension: int) -> BitNoise:
        randomizer = self.randomizer
        return BitNoise(randomizer.slope, round(randomizer.magnitude))

    def covers(self, query: Query, n: int) -> bool:
        grid = self.randomizer.grid
        same_range = (query.low, query.high) == (grid.low, grid.high)
        return query.dimension(n) == 1 and query.bound.coordinate <= grid.units and same_range

    @property
    def guarantee(self) -> Guarantee:
        return self.budget.guarantee(proof="bandit-loop", local=True)

    @property
    def noise_variance(self) -> float:
        return float(self.randomizer.magnitude) ** 2  # of a report in the middle of the range: the largest


class ReportNoise(NamedTuple):
    """The mechanism of a local `Laplace`: fresh noise on every report."""

    law: Law
    fresh: IntArray


@dataclasses.dataclass(frozen=True)
class Laplace(Release):
    """Exact discrete Laplace noise on every slot's sum; if `local` on every report by itself, on arrival.

    Formal guarantees:
        Neighbours: histories that differ in one round's report, a value or nothing. A report enters one slot,
        whose sum it moves by at most D = `bound.l1_distance()` in L1; the noise has scale k D / epsilon for k
        rounds per person. Proof: `docs/guarantees.md#slots`. *Local*: the same noise on the report.
    """

    bound: VectorBound
    budget: Budget
    local: bool = False

    def _law(self) -> Law:
        budget = self.budget.one_round if self.local else self.budget
        replaced = dataclasses.replace(budget, neighbours=Neighbours.REPLACE_ONE_ROUND)
        return replaced.law(self.bound)  # enough for the other relation, too

    def __post_init__(self) -> None:
        if not self.local:
            self.budget.require_pure()

    def mechanism(self, dimension: int) -> FreshNoise | ReportNoise:
        law, fresh = self._law(), np.zeros(dimension, dtype=np.int64)
        return ReportNoise(law, fresh) if self.local else FreshNoise(law, fresh)

    def covers(self, query: Query, n: int) -> bool:
        return _within(query.bound, self.bound)

    @property
    def guarantee(self) -> Guarantee:
        promise = self.budget.guarantee(proof="slots", local=self.local)
        return dataclasses.replace(promise, absence_hidden=not self.local)

    @property
    def noise_variance(self) -> float:
        return variance(self._law())


@dataclasses.dataclass(frozen=True)
class Tree(Release):
    """Noise that the tree of a prefix sum, which is only a pattern, shares among successive slots.

    Formal guarantees:
        Those of the prefix sum, for slots instead of rounds: a report enters one slot.
    """

    prefix_sum: PrefixSum

    def mechanism(self, dimension: int) -> Any:
        return copied(self.prefix_sum.steps)

    def covers(self, query: Query, n: int) -> bool:
        tree = self.prefix_sum
        return query.dimension(n) == tree.dimension and _within(query.bound, tree.bound)

    def __post_init__(self) -> None:
        if not isinstance(self.prefix_sum, PrefixSum) or self.prefix_sum.round:
            raise InvalidArgument("A Tree needs a new BinaryTree, or another tree of one mechanism.")
        object.__setattr__(self, "horizon", self.prefix_sum.horizon)
        object.__setattr__(self, "dtype", self.prefix_sum.dtype)

    @property
    def guarantee(self) -> Guarantee:
        return dataclasses.replace(self.prefix_sum.guarantee, absence_hidden=True)

    @property
    def noise_variance(self) -> float:
        return self.prefix_sum.mean_variance / self.prefix_sum.bound.step**2


def laplace_or_exact(bound: VectorBound, budget: Budget) -> Laplace | Exact:
    """Sums with Laplace noise; as they are, if the budget has no limit."""
    if budget.unlimited:
        return Exact(rounds_per_person=budget.rounds_per_person)
    return Laplace(bound, budget)


def _within(bound: VectorBound | EachBound, other: VectorBound) -> bool:
    """Whether vectors within one bound are no larger than another allows, in L1 and in L2."""
    if isinstance(bound, EachBound):
        return False
    return bound.l1 <= other.l1 and bound.squared_l2 <= other.squared_l2


@arrive.register(NoNoise)
@arrive.register(FreshNoise)
@arrive.register(BinarySteps)
@arrive.register(SphericalSteps)
@lean_kernel
def arrive_as_it_is(mechanism: Any, units: IntArray, bits: BitArray, cursor: int) -> int:
    """Noise comes at closing."""
    return cursor


@arrive.register(Nothing)
@lean_kernel
def _drop(mechanism: Nothing, units: IntArray, bits: BitArray, cursor: int) -> int:
    for i in range(units.size):
        units[i] = 0
    return cursor


@arrive.register(BitNoise)
@lean_kernel
def _arrive_as_bit(mechanism: BitNoise, units: IntArray, bits: BitArray, cursor: int) -> int:
    if cursor >= bits.size:
        return NEED_MORE_BITS
    one = _released_bit(units[0], mechanism.slope, bits[cursor])
    units[0] = mechanism.magnitude if one else -mechanism.magnitude
    return cursor + 1


@lean_kernel
def _released_bit(units: int, slope: int, drawn: np.uint64) -> bool:
    uniform: int = np.int64(drawn >> _ONE)  # type: ignore[assignment] # compiled: int64
    return _bit_of(units, slope, uniform)


@lean_kernel
def release_bits(
    values: FloatArray,
    low: float,
    high: float,
    units: int,
    slope: int,
    out: IntArray,
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    """The bits of many private values; of those after `done`, as many as there are random integers."""
    while done < values.size and cursor < bits.size:
        out[done] = _released_bit(to_units(values[done], low, high, units), slope, bits[cursor])
        done += 1
        cursor += 1
    return done, cursor


@arrive.register(ReportNoise)
@lean_kernel
def _arrive_with_noise(mechanism: ReportNoise, units: IntArray, bits: BitArray, cursor: int) -> int:
    done, after = fill(mechanism.law, mechanism.fresh, 0, bits, cursor)
    if done < mechanism.fresh.size:
        return NEED_MORE_BITS
    for i in range(units.size):
        units[i] += mechanism.fresh[i]
        mechanism.fresh[i] = 0
    return after


for _kind in (BitNoise, ReportNoise, Nothing):
    steps.samples_needed.register(_kind)(steps.no_samples)
    steps.draw_noise.register(_kind)(steps.draw_nothing)
    steps.add_secret.register(_kind)(steps.add_as_it_is)
