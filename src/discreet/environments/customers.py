"""Customers with complementary wishes, and the stream in which one comes per round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.environments.stream import SummedStream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument
from discreet.set_functions import Bundles
from discreet.set_functions.groups import groups_chain, groups_value


class CustomerRounds(NamedTuple):
    """The compiled form. Customer c has the wishes from `firsts[c]` up to `firsts[c + 1]`.

    Wish w concerns the items `members[starts[w]:starts[w + 1]]`. Round t has the customer `choice[t]`.
    """

    firsts: IntArray
    starts: IntArray
    members: IntArray
    values: FloatArray
    prices: FloatArray
    choice: IntArray


class Customers:
    """People who see a set of items: an item shown costs attention, a wish fulfilled is worth something.

    f(S) = sum of prices over S minus the values of the groups within S that the customer wants: a
    :class:`~discreet.set_functions.Bundles`. Groups of one item are plain wishes, larger ones complements.

    Prices and values are rounded down to multiples of 2^-30, so that sums over millions of rounds are exact.

    Args:
        prices: What it costs to show each item; nonnegative.
        groups: The groups that anybody may want, each a sequence of items.
        wishes: For each customer, the value of each wanted group, by its index in `groups`.

    Attributes:
        n: The number of items.
        cost_range: Bounds on the costs of all customers.

    Examples:
        >>> people = Customers([0.25, 0.25], groups=[[0], [0, 1]], wishes=[{0: 0.5}, {0: 0.25, 1: 0.5}])
        >>> len(people), people.cost_range
        (2, (-0.75, 0.5))
        >>> people.function(0)([0]), people.function(1)([0, 1])
        (-0.25, -0.25)
    """

    def __init__(
        self,
        prices: npt.ArrayLike,
        groups: Sequence[Sequence[int] | IntArray],
        wishes: Sequence[Mapping[int, float]],
    ) -> None:
        self.prices = _on_grid("prices", prices)
        self.n = checks.integer("Customers", "number of items", self.prices.size, 1)
        listed = [checks.index_array("Customers", "groups", group, self.n) for group in groups]
        self.groups = [np.unique(group) for group in listed]
        if any(group.size == 0 for group in self.groups):
            raise InvalidArgument("The 'groups' of Customers must have items. Got an empty one.")
        if not wishes:
            raise InvalidArgument("The 'wishes' of Customers must be those of at least one. Got none.")
        kinds = [group for wanted in wishes for group in wanted]
        self.kinds = checks.index_array("Customers", "wishes", kinds, len(self.groups))
        worth = [value for wanted in wishes for value in wanted.values()]
        self.values = _on_grid("wishes", worth)
        self.firsts: IntArray = np.cumsum([0, *map(len, wishes)], dtype=np.int64)
        members = [self.groups[kind] for kind in self.kinds]
        self.starts: IntArray = np.cumsum([0, *(group.size for group in members)], dtype=np.int64)
        self.members = np.concatenate([np.empty(0, dtype=np.int64), *members])
        self.owners = np.repeat(np.arange(len(self)), np.diff(self.firsts))
        most = np.bincount(self.owners, self.values, minlength=len(self)).max()
        self.cost_range = (-float(most), float(self.prices.sum()))

    def __len__(self) -> int:
        return self.firsts.size - 1

    def function(self, customer: int) -> Bundles:
        """The cost function of one customer."""
        return self.total(np.arange(len(self)) == customer)

    def total(self, counts: npt.NDArray[Any]) -> Bundles:
        """The sum of the customers' functions, each times its count."""
        values = np.bincount(self.kinds, self.values * counts[self.owners], minlength=len(self.groups))
        return Bundles(self.n, self.groups, values, self.prices * counts.sum())


class CustomerStream(SummedStream):
    """A stream with one customer per round.

    Args:
        customers: The customers.
        choice: The index of the customer of each round.

    Examples:
        >>> people = Customers([0.25, 0.25], groups=[[0], [0, 1]], wishes=[{0: 0.5}, {0: 0.25, 1: 0.5}])
        >>> stream = CustomerStream(people, [0, 1, 1])
        >>> stream.rounds, stream.total([0, 1]), stream.total_until(2)([0, 1])
        (3, -0.5, -0.25)
    """

    def __init__(self, customers: Customers, choice: Sequence[int] | IntArray) -> None:
        self.customers = customers
        who = checks.index_array("CustomerStream", "choice", choice, len(customers))
        self.n = customers.n
        self.rounds = checks.integer("CustomerStream", "number of rounds", who.size, 1)
        self.cost_range = customers.cost_range
        self.compiled = CustomerRounds(
            customers.firsts, customers.starts, customers.members, customers.values, customers.prices, who
        )

    def sum_of(self, rounds: slice) -> Bundles:
        return self.customers.total(np.bincount(self.compiled.choice[rounds], minlength=len(self.customers)))


def towards_zero(numbers: FloatArray) -> FloatArray:
    """Numbers rounded to multiples of 2^-30, whose sums below 2^22 are exact in any order."""
    return np.trunc(numbers * 2.0**30) / 2.0**30


def _on_grid(name: str, numbers: npt.ArrayLike) -> FloatArray:
    found = checks.finite_vector("Customers", name, numbers)
    return towards_zero(checks.nonnegative("Customers", name, found))


@chain_costs.register(CustomerRounds)
@lean_kernel
def _chain(stream: CustomerRounds, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    first, last = stream.firsts[stream.choice[t]], stream.firsts[stream.choice[t] + 1]
    starts, values = stream.starts[first : last + 1], stream.values[first:last]
    groups_chain(starts, stream.members, values, stream.prices, 0.0, -1.0, order, costs)


@prefix_cost.register(CustomerRounds)
@kernel
def _prefix(stream: CustomerRounds, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    shown = np.zeros(order.size, dtype=np.bool_)
    for k in range(size):
        shown[order[k]] = True
    first, last = stream.firsts[stream.choice[t]], stream.firsts[stream.choice[t] + 1]
    starts, values = stream.starts[first : last + 1], stream.values[first:last]
    return groups_value(starts, stream.members, values, stream.prices, 0.0, -1.0, shown)
