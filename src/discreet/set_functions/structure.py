"""Structure of set functions that the minimiser can use.

**Concave form.** f(S) = g(a(S)) + b(S), g concave and a >= 0. Let S* minimise and let s be a supergradient of
g at a(S*). For every S, ``f(S) <= g(a(S*)) - s a(S*) + (s a + b)(S)``. The right side is least at
``{i : s a_i + b_i < 0}``, where it is at most the minimum; so that set is optimal. It is a prefix of the
order by b_i / a_i (with a_i = 0 first when b_i < 0 and last otherwise): one chain pass finds the minimum.

**Cut network.** The n items come first and auxiliary nodes after them. For a set Y of nodes the cost is

    constant + sum of unary over Y + sum of capacity over arcs that leave Y,

and f(S) is the least cost over all Y whose items are S. An arc of infinite capacity says "tail chosen implies
head chosen". One max-flow finds the minimum.

**Group form.** f(S) = g(|S|) + prices(S) + sum over groups: its first weight if S has a member of it, its
last weight if S has all. Simulations play functions of this form in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray

_NO_NODES: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class ConcaveForm:
    """The a (None where there is no g) and b of g(a(S)) + b(S); g itself is not needed to find the order."""

    direction: FloatArray | None
    linear: FloatArray

    def minimizing_order(self) -> IntArray:
        """An order one of whose prefixes is a minimiser."""
        if self.direction is None:
            return np.argsort(self.linear, kind="stable")
        ratio = np.where(self.linear < 0, -np.inf, np.inf)
        np.divide(self.linear, self.direction, out=ratio, where=self.direction > 0)
        return np.argsort(ratio, kind="stable")

    def scaled(self, factor: float) -> ConcaveForm:
        return ConcaveForm(self.direction, self.linear * factor)

    def fixing(self, inside: BoolArray, outside: BoolArray, offset: float) -> ConcaveForm:
        """The form of S -> f(S + inside) - offset on the other items: constants do not matter."""
        free = ~(inside | outside)
        return ConcaveForm(None if self.direction is None else self.direction[free], self.linear[free])

    def complemented(self) -> ConcaveForm:
        """The form of S -> f(V minus S): g(a(V) - y) is concave in y too."""
        return ConcaveForm(self.direction, -self.linear)


def sum_of_forms(forms: Sequence[ConcaveForm | None]) -> ConcaveForm | None:
    """The form of a sum of functions, or None if it has none."""
    known = [form for form in forms if form is not None]
    directions = [form.direction for form in known if form.direction is not None]
    # a and c a give one function of a(S), but they must agree exactly, not up to rounding.
    unit = [direction / (direction.max(initial=0.0) or 1.0) for direction in directions]
    if len(known) < len(forms) or any(not np.array_equal(unit[0], other) for other in unit[1:]):
        return None
    linear: FloatArray = np.sum([form.linear for form in known], axis=0)
    return ConcaveForm(directions[0] if directions else None, linear)


@dataclass(frozen=True)
class CutNetwork:
    """The number of items, what each node costs, the constant, and the arcs by tail, head and capacity."""

    items: int
    unary: FloatArray
    constant: float = 0.0
    tails: IntArray = field(default_factory=_NO_NODES.copy)
    heads: IntArray = field(default_factory=_NO_NODES.copy)
    capacities: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def nodes(self) -> int:
        return self.unary.size

    def scaled(self, factor: float) -> CutNetwork:
        unary, constant, capacities = self.unary * factor, self.constant * factor, self.capacities * factor
        return CutNetwork(self.items, unary, constant, self.tails, self.heads, capacities)

    def complemented(self) -> CutNetwork:
        """The network of S -> f(V minus S): every node changes sides, so every arc is reversed."""
        constant = self.constant + float(self.unary.sum())
        return CutNetwork(self.items, -self.unary, constant, self.heads, self.tails, self.capacities)

    def fixing(self, inside: BoolArray, outside: BoolArray, offset: float) -> CutNetwork:
        """The network of S -> f(S + inside) - offset on the items that are neither inside nor outside."""
        chosen, rejected = self._closure(inside, outside)
        free = ~(chosen | rejected)
        tails, heads, capacities = self.tails, self.heads, self.capacities
        unary = self.unary.copy()
        constant = self.constant - offset + float(unary[chosen].sum())
        # free -> rejected: paid exactly when the free tail is chosen.
        to_rejected = free[tails] & rejected[heads]
        np.add.at(unary, tails[to_rejected], capacities[to_rejected])
        # chosen -> free: paid exactly when the free head is not chosen.
        from_chosen = chosen[tails] & free[heads]
        constant += float(capacities[from_chosen].sum())
        np.subtract.at(unary, heads[from_chosen], capacities[from_chosen])
        constant += float(capacities[chosen[tails] & rejected[heads]].sum())
        kept = free[tails] & free[heads]
        label = np.cumsum(free) - 1
        items = int(np.count_nonzero(free[: self.items]))
        arcs = label[tails[kept]], label[heads[kept]], capacities[kept]
        return CutNetwork(items, unary[free], constant, *arcs)

    def _closure(self, inside: BoolArray, outside: BoolArray) -> tuple[BoolArray, BoolArray]:
        """What is chosen and rejected once implications (infinite arcs) are followed."""
        auxiliary = np.zeros(self.nodes - self.items, dtype=np.bool_)
        chosen, rejected = np.append(inside, auxiliary), np.append(outside, auxiliary)
        implied = np.isinf(self.capacities)
        tails, heads = self.tails[implied], self.heads[implied]
        while True:
            forward = chosen[tails] & ~chosen[heads]
            backward = rejected[heads] & ~rejected[tails]
            if not (forward.any() or backward.any()):
                return chosen, rejected
            chosen[heads[forward]] = True
            rejected[tails[backward]] = True


def sum_of_networks(networks: Sequence[CutNetwork | None]) -> CutNetwork | None:
    """The network of a sum of functions on the same items, or None if one of them has none."""
    known = [network for network in networks if network is not None]
    if len(known) < len(networks):
        return None
    items = known[0].items
    unary = np.sum([network.unary[:items] for network in known], axis=0)
    tails, heads, extra = [], [], items
    for network in known:
        # Items keep their numbers; this network's auxiliary nodes move behind those already placed.
        label = np.concatenate((np.arange(items), np.arange(extra, extra + network.nodes - items)))
        tails.append(label[network.tails])
        heads.append(label[network.heads])
        extra += network.nodes - items
    return CutNetwork(
        items,
        np.concatenate([unary, *(network.unary[items:] for network in known)]),
        sum(network.constant for network in known),
        np.concatenate(tails),
        np.concatenate(heads),
        np.concatenate([network.capacities for network in known]),
    )


@dataclass(frozen=True)
class GroupForm:
    """The n+1 values of g (or one, if it is constant), the prices, and the groups, one after another.

    Group k has the items `members[starts[k]:starts[k + 1]]`.
    """

    by_size: FloatArray
    prices: FloatArray
    starts: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    members: IntArray = field(default_factory=_NO_NODES.copy)
    first: FloatArray = field(default_factory=lambda: np.empty(0))
    last: FloatArray = field(default_factory=lambda: np.empty(0))

    def scaled(self, factor: float) -> GroupForm:
        by_size, prices = self.by_size * factor, self.prices * factor
        return GroupForm(by_size, prices, self.starts, self.members, self.first * factor, self.last * factor)


def sum_of_group_forms(forms: Sequence[GroupForm | None]) -> GroupForm | None:
    """The form of a sum of functions, or None if one of them has none."""
    known = [form for form in forms if form is not None]
    if len(known) < len(forms):
        return None
    by_size, prices = known[0].by_size, known[0].prices
    for form in known[1:]:
        by_size, prices = by_size + form.by_size, prices + form.prices
    return GroupForm(
        by_size,
        prices,
        joined_starts([form.starts for form in known]),
        np.concatenate([form.members for form in known]),
        np.concatenate([form.first for form in known]),
        np.concatenate([form.last for form in known]),
    )


def joined_starts(starts: Sequence[IntArray]) -> IntArray:
    """Where groups start, and the last ends, when the members of all lists are put one after another."""
    sizes = np.concatenate([np.diff(each) for each in starts])
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)))
