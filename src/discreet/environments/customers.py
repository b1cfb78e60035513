"""Customers with complementary wishes, and the stream in which they come one a round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.environments.exact_numbers import towards_zero
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.errors import InvalidArgument
from discreet.set_functions import Bundles
from discreet.set_functions.groups import groups_chain, groups_value


class CustomerRounds(NamedTuple):
    """The compiled form. Wishes stand in one row, those of a customer side by side, and so do their items.

    Wish w concerns the items `members[starts[w]:starts[w + 1]]`; customer c has the wishes from `firsts[c]`
    up to `firsts[c + 1]`. Round t has the customer `choice[t]`.
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

    Prices and values are rounded down to multiples of 2^-30. Sums of costs over millions of rounds are then
    exact, whatever their order, and so is the range.

    Args:
        prices: What it costs to show each item; nonnegative.
        groups: The groups that anybody may want, each a sequence of items.
        wishes: For each customer, the value of each group wanted, by its place in `groups`.

    Attributes:
        n: Items.
        cost_range: No cost of any customer lies outside it.

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
        self.prices = _on_grid("prices", checks.finite_vector("Customers", "prices", prices))
        self.n = checks.integer("Customers", "number of items", self.prices.size, 1)
        self.groups = [
            np.unique(checks.index_array("Customers", "groups", group, self.n)) for group in groups
        ]
        if any(group.size == 0 for group in self.groups):
            raise InvalidArgument("The 'groups' of Customers must have items. Got an empty one.")
        if not wishes:
            raise InvalidArgument("The 'wishes' of Customers must be those of at least one. Got none.")
        listed = [group for wanted in wishes for group in wanted]
        self.kinds = checks.index_array("Customers", "wishes", listed, len(self.groups))
        worth = [value for wanted in wishes for value in wanted.values()]
        self.values = _on_grid("wishes", checks.finite_vector("Customers", "wishes", worth))
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
        one = np.zeros(len(self))
        one[customer] = 1.0
        return self.total(one)

    def total(self, counts: FloatArray) -> Bundles:
        """The sum of the customers' functions, each taken so many times."""
        values = np.bincount(self.kinds, self.values * counts[self.owners], minlength=len(self.groups))
        return Bundles(self.n, self.groups, values, self.prices * counts.sum())


class CustomerStream(Stream):
    """A customer a round.

    Iterating gives the customers' functions round by round.

    Args:
        customers: The customers.
        choice: Who comes in each round.

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

    def total_until(self, rounds: int) -> Bundles:
        """The sum of the functions of the first so many rounds."""
        counts = np.bincount(self.compiled.choice[:rounds], minlength=len(self.customers))
        return self.customers.total(counts.astype(np.float64))

    def __iter__(self) -> Iterator[Bundles]:
        return (self.customers.function(customer) for customer in self.compiled.choice)


def _on_grid(name: str, numbers: FloatArray) -> FloatArray:
    if numbers.min(initial=0.0) < 0:
        raise checks.invalid_argument("Customers", name, "nonnegative", float(numbers.min()))
    return towards_zero(numbers)


@chain_costs.register(CustomerRounds)
@lean_kernel
def _customer_chain(
    stream: CustomerRounds, t: int, x: FloatArray, order: IntArray, costs: FloatArray
) -> None:
    first, last = stream.firsts[stream.choice[t]], stream.firsts[stream.choice[t] + 1]
    starts, values = stream.starts[first : last + 1], stream.values[first:last]
    groups_chain(starts, stream.members, values, stream.prices, 0.0, -1.0, order, costs)


@prefix_cost.register(CustomerRounds)
@kernel
def _customer_prefix(stream: CustomerRounds, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    shown = np.zeros(order.size, dtype=np.bool_)
    for k in range(size):
        shown[order[k]] = True
    first, last = stream.firsts[stream.choice[t]], stream.firsts[stream.choice[t] + 1]
    starts, values = stream.starts[first : last + 1], stream.values[first:last]
    return groups_value(starts, stream.members, values, stream.prices, 0.0, -1.0, shown)
