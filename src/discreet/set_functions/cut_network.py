"""A set function as a minimum cut: the description that the max-flow minimiser solves.

A network has the n items first and auxiliary nodes after them. For a set Y of nodes its cost is

    constant + sum of unary over Y + sum of capacity over arcs that leave Y,

and f(S) is the least cost over all Y whose items are S. An arc of infinite capacity says
"tail chosen implies head chosen". Sums, restrictions, contractions and complements of such
functions are again of this form, so they are minimised by one max-flow as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray

_NO_NODES: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class CutNetwork:
    """Items, auxiliary nodes and arcs.

    Attributes:
        items: How many of the nodes are items; they come first.
        unary: Cost of choosing each node.
        constant: Cost of choosing nothing.
        tails: Start of each arc.
        heads: End of each arc.
        capacities: What an arc costs when its tail is chosen and its head is not; may be inf.
    """

    items: int
    unary: FloatArray
    constant: float = 0.0
    tails: IntArray = field(default_factory=_NO_NODES.copy)
    heads: IntArray = field(default_factory=_NO_NODES.copy)
    capacities: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def nodes(self) -> int:
        """Items and auxiliary nodes together."""
        return self.unary.size

    def cost(self, chosen: BoolArray) -> float:
        """The cost of one set of nodes."""
        leaving = chosen[self.tails] & ~chosen[self.heads]
        return self.constant + float(self.unary[chosen].sum()) + float(self.capacities[leaving].sum())

    def scaled(self, factor: float) -> CutNetwork:
        """The network of factor * f."""
        unary, constant, capacities = self.unary * factor, self.constant * factor, self.capacities * factor
        return CutNetwork(self.items, unary, constant, self.tails, self.heads, capacities)

    def complemented(self) -> CutNetwork:
        """The network of S -> f(V minus S): every node changes sides, so every arc is reversed."""
        constant = self.constant + float(self.unary.sum())
        return CutNetwork(self.items, -self.unary, constant, self.heads, self.tails, self.capacities)

    def fixing(self, inside: BoolArray, outside: BoolArray) -> CutNetwork:
        """The network on the remaining items, with some always chosen and some never."""
        chosen, rejected = self._closure(inside, outside)
        free = ~(chosen | rejected)
        tails, heads, capacities = self.tails, self.heads, self.capacities
        unary = self.unary.copy()
        constant = self.constant + float(unary[chosen].sum())
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
        chosen = np.zeros(self.nodes, dtype=np.bool_)
        rejected = np.zeros(self.nodes, dtype=np.bool_)
        chosen[: self.items] = inside
        rejected[: self.items] = outside
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
    if len(known) < len(networks) or not known:
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
