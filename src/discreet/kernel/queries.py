"""What is measured of one person's feedback, as bounded integers.

A query enforces its bound for every input, without raising: an exception would depend on private numbers.
Units are steps of a grid around the middle of the declared range: a missing report counts as 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, lean_kernel
from discreet.kernel.phase import Ticket
from discreet.privacy.grid import DEFAULT_UNITS
from discreet.privacy.sensitivity import EachBound, VectorBound, bound_in_place, chain_gradient, to_units

GRADIENT_UNITS = 1 << 24  # grid steps in half the range of costs, for gradients
GRADIENT = 1.0  # the first note of tickets of which `CostsOfSets` measures the gradient
COST_SHARE = 10  # where items are told as well, the cost has this part of the bound


@generic
def measure(query: Any, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    """Write what is measured of a ticket's feedback into `out`, which is zero, in bounded units.

    The costs are one private cost (and what each item brought), or those of all prefixes of the order, the
    empty one first, or those of all (or of listed) sets, coded by their bits.
    """
    raise AssertionError("declares a generic function")


class CostOfSet(NamedTuple):
    """The cost of the chosen set, a number in [-units, units]."""

    low: float
    high: float
    units: int = DEFAULT_UNITS

    @property
    def whole(self) -> bool:
        return False

    @property
    def bound(self) -> VectorBound:
        half = 0.5 * self.high - 0.5 * self.low
        return VectorBound(coordinate=self.units, l1=self.units, step=half / self.units)

    def dimension(self, n: int) -> int:
        return 1


class CostAndItems(NamedTuple):
    """The cost of the chosen set, and what each of its items brought: n + 1 numbers.

    The cost is a number in [-units, units]. What the items brought adds up to at most `most` units of their
    own in absolute values: where it would be more, all of it is scaled down. Items outside of the set count
    as 0. So all numbers together are within `units + most`.
    """

    low: float
    high: float
    total: float  # the most that all items of a round bring, in absolute values
    units: int = DEFAULT_UNITS // COST_SHARE
    most: int = DEFAULT_UNITS - DEFAULT_UNITS // COST_SHARE

    @property
    def whole(self) -> bool:
        return False

    @property
    def bound(self) -> VectorBound:
        half = 0.5 * self.high - 0.5 * self.low
        return VectorBound(coordinate=self.most, l1=self.units + self.most, step=half / self.units)

    @property
    def item_step(self) -> float:
        """What a unit of an item is worth."""
        return self.total / self.most

    def dimension(self, n: int) -> int:
        return n + 1


class ChainGradient(NamedTuple):
    """The gradient along the ticket's order: n numbers with a bounded sum of absolute values."""

    low: float
    high: float
    units: int
    coordinate: int
    l1: int
    step: float

    @property
    def whole(self) -> bool:
        return True

    @classmethod
    def of(cls, low: float, high: float) -> ChainGradient:
        """|g_i| <= 2M and |g|_1 <= 4M with M half the width of the range."""
        bound = VectorBound.for_costs(low, high, units=GRADIENT_UNITS)
        return cls(low, high, GRADIENT_UNITS, bound.coordinate, bound.l1, bound.step)

    @property
    def bound(self) -> VectorBound:
        return VectorBound(coordinate=self.coordinate, l1=self.l1, step=self.step)

    def dimension(self, n: int) -> int:
        return n


class MagnifiedGradient(NamedTuple):
    """The gradient along the ticket's order, doubled if the ticket's first note is positive; n + 1 numbers.

    What is doubled is scaled down to the same bound. So noise counts half, and gradients with |g|_1 above
    half the bound are cut. The last number says by how much they exceeded it: the policy can see whether
    doubling pays.
    """

    low: float
    high: float
    units: int
    l1: int
    step: float

    @property
    def whole(self) -> bool:
        return True

    @classmethod
    def of(cls, plain: ChainGradient) -> MagnifiedGradient:
        """With the bound of `plain`."""
        return cls(plain.low, plain.high, plain.units, plain.l1, plain.step)

    @property
    def bound(self) -> VectorBound:
        return VectorBound(coordinate=self.l1, l1=self.l1, step=self.step)

    def dimension(self, n: int) -> int:
        return n + 1


class OnePoint(NamedTuple):
    """The paper's gradient estimate from the cost of the chosen prefix; its coin is the ticket's first note.

    The subgradient has the entries `f(B_i) - f(B_{i-1})`, so the cost of the chosen prefix B_k appears twice:
    with a plus at the k-th item of the order, with a minus at the next. A fair coin picks one of them, with
    twice the weight, divided by the probability of B_k. Its size, at most 2M (n+1) / gamma, is enforced.
    """

    low: float
    high: float
    units: int
    step: float

    @property
    def whole(self) -> bool:
        return False

    @classmethod
    def of(cls, low: float, high: float, n: int, gamma: float) -> OnePoint:
        largest = largest_estimate(low, high, n, gamma)
        return cls(low, high, GRADIENT_UNITS, largest / GRADIENT_UNITS)

    @property
    def bound(self) -> VectorBound:
        return VectorBound(coordinate=self.units, l1=self.units, step=self.step)

    def dimension(self, n: int) -> int:
        return n


class CostsOfSets(NamedTuple):
    """The cost of every set, each a number in [-units, units]; bit i of its place says if item i is in it.

    Of a ticket whose first note is `GRADIENT`, the gradient is measured instead, as `ChainGradient` does,
    into the first numbers: the others stay zero. If only so many `listed` sets are allowed, their costs are
    measured in the order of the list, and never a gradient.
    """

    items: int
    gradient: ChainGradient
    listed: int = 0

    @classmethod
    def of(cls, items: int, low: float, high: float) -> CostsOfSets:
        """The costs are in [low, high]."""
        return cls(items, ChainGradient.of(low, high))

    @property
    def low(self) -> float:
        return self.gradient.low

    @property
    def high(self) -> float:
        return self.gradient.high

    @property
    def units(self) -> int:
        return self.gradient.units

    @property
    def whole(self) -> bool:
        return True

    @property
    def bound(self) -> EachBound:
        half = 0.5 * self.high - 0.5 * self.low
        return EachBound(coordinate=self.units, step=half / self.units)

    def dimension(self, n: int) -> int:
        return self.listed or 1 << n


#: `whole` says whether feedback is the costs along the ticket's order (or of all sets), not only that of the
#: chosen set, and `dimension` how many integers are measured; all these satisfy `bound`, which has the value
#: of one unit.
Query = CostOfSet | CostAndItems | ChainGradient | MagnifiedGradient | OnePoint | CostsOfSets


def numbers_told(query: Query, n: int, available: int) -> int:
    """How many costs are told of a round in which so many of n items could be chosen."""
    if isinstance(query, CostAndItems):
        return n + 1
    if isinstance(query, CostsOfSets):
        return query.dimension(n)
    return available + 1 if query.whole else 1


def largest_estimate(low: float, high: float, n: int, gamma: float) -> float:
    """M (n+1) / gamma, doubled by the coin where there are inner prefixes: with more than one item."""
    return (2.0 if n > 1 else 1.0) * (0.5 * high - 0.5 * low) * (n + 1) / gamma


@measure.register(CostOfSet)
@lean_kernel
def _measure_cost(query: CostOfSet, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    out[0] = to_units(costs[0], query.low, query.high, query.units)


@measure.register(CostAndItems)
@lean_kernel
def _measure_items(query: CostAndItems, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    for k in range(ticket.size):
        item = ticket.order[k]
        out[1 + item] = to_units(costs[1 + item], -query.total, query.total, query.most)
    bound_in_place(out, query.most, query.most)
    out[0] = to_units(costs[0], query.low, query.high, query.units)


@measure.register(ChainGradient)
@lean_kernel
def _measure_gradient(query: ChainGradient, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    chain_gradient(costs, ticket.order, query.low, query.high, query.units, out)
    bound_in_place(out, query.coordinate, query.l1)


@measure.register(CostsOfSets)
@lean_kernel
def _measure_all(query: CostsOfSets, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    gradient = query.gradient
    low, high, units = gradient.low, gradient.high, gradient.units
    if query.listed > 0 or not wants_gradient(ticket.note):
        for code in range(costs.size):
            out[code] = to_units(costs[code], low, high, units)
        return
    code, before = 0, to_units(costs[0], low, high, units)
    for k in range(ticket.order.size):
        code |= 1 << ticket.order[k]
        after = to_units(costs[code], low, high, units)
        out[ticket.order[k]] = after - before
        before = after
    bound_in_place(out, gradient.coordinate, gradient.l1)


@lean_kernel
def wants_gradient(note: FloatArray) -> bool:
    """Whether the gradient is measured of a ticket with this note, not the costs of all sets."""
    return note.size > 0 and note[0] == GRADIENT


@measure.register(MagnifiedGradient)
@lean_kernel
def _measure_magnified(query: MagnifiedGradient, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    chain_gradient(costs, ticket.order, query.low, query.high, query.units, out)
    excess = 0
    if ticket.note.size > 0 and ticket.note[0] > 0.0:
        norm = 0
        for i in range(out.size):
            norm += abs(out[i])
            out[i] *= 2
        half = query.l1 // 2
        excess = min(max(norm - half, 0), half)
    bound_in_place(out, query.l1, query.l1 - excess)
    out[out.size - 1] = excess


@measure.register(OnePoint)
@lean_kernel
def _measure_estimate(query: OnePoint, costs: FloatArray, ticket: Ticket, out: IntArray) -> None:
    half = 0.5 * query.high - 0.5 * query.low
    centred = to_units(costs[0], query.low, query.high, query.units) * (half / query.units)
    if ticket.order.size > 0:
        item, factor = _coin_entry(ticket.order, ticket.size, ticket.note[0] > 0.0)
        limit = query.units * query.step
        out[item] = to_units(factor * centred / ticket.chance, -limit, limit, query.units)


@lean_kernel
def _coin_entry(order: IntArray, size: int, heads: bool) -> tuple[int, float]:
    """Where the estimate is not zero: the item, and the factor of cost / probability there."""
    if size == 0:
        return order[0], -1.0
    if size == order.size:
        return order[size - 1], 1.0
    return (order[size - 1], 2.0) if heads else (order[size], -2.0)
