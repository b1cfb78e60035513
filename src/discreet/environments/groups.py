"""Environments of customers with wishes, who pay for items that come together."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.environments.stream import Environment, Stream, chain_costs, named, part_costs, prefix_cost
from discreet.errors import InvalidArgument
from discreet.set_functions import Bundles
from discreet.set_functions.groups import groups_chain, groups_value

#: Items that go together; a small shop has the first few.
THEMES = (
    ("bread", "butter", "jam"),
    ("pasta", "sauce", "cheese"),
    ("coffee", "milk", "sugar"),
    ("tea", "lemon", "honey"),
    ("rice", "curry", "coconut milk"),
    ("flour", "eggs", "yeast"),
    ("crisps", "salsa", "beer"),
    ("noodles", "tofu", "soy sauce"),
    ("oats", "apples", "cinnamon"),
    ("soap", "sponge", "candles"),
)


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

    f(S) = sum of prices over S minus the values of the groups within S that the customer wants. Prices and
    values are rounded down to multiples of 2^-30, so that sums over millions of rounds are exact.

    The `groups` are all that anybody may want; the `wishes` of a customer are values by index in `groups`.
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
        if not all(group.size for group in self.groups):
            raise InvalidArgument("The 'groups' of Customers must have items. Got an empty one.")
        if not wishes:
            raise InvalidArgument("The 'wishes' of Customers must be those of at least one. Got none.")
        kinds = [group for wanted in wishes for group in wanted]
        self.kinds = checks.index_array("Customers", "wishes", kinds, len(self.groups))
        self.values = _on_grid("wishes", [value for wanted in wishes for value in wanted.values()])
        self.firsts: IntArray = np.cumsum([0, *map(len, wishes)], dtype=np.int64)
        members = [self.groups[kind] for kind in self.kinds]
        self.starts: IntArray = np.cumsum([0, *map(len, members)], dtype=np.int64)
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


class CustomerStream(Stream):
    """A stream with one customer per round: `choice` has their indices."""

    def __init__(self, customers: Customers, choice: Sequence[int] | IntArray) -> None:
        self.customers, self.n, self.cost_range = customers, customers.n, customers.cost_range
        who = checks.index_array("CustomerStream", "choice", choice, len(customers))
        self.rounds = checks.integer("CustomerStream", "number of rounds", who.size, 1)
        self.compiled = CustomerRounds(
            customers.firsts, customers.starts, customers.members, customers.values, customers.prices, who
        )

    def sum_of(self, rounds: slice) -> Bundles:
        return self.customers.total(np.bincount(self.compiled.choice[rounds], minlength=len(self.customers)))


@named
def checkout(
    n: int = 10, shop: int = 0, price: float = 1.0, popular: float = 0.9, customers: int = 512
) -> Environment:
    """Customers want some items, and some of them only together; showing an item costs attention.

    Items come in themes of up to three; up to half of them are popular. A customer has wishes worth 1 in
    total: for some items of one theme, each by itself and all together, and for one more item, each time of
    a popular theme with the probability `popular`. Showing every item costs `price`, at most 1. `shop` is the
    seed of prices and popular themes; the stream's seed draws its `customers`.
    """
    made = Shop(
        checks.integer("checkout", "n", n, 2),
        checks.integer("checkout", "shop", shop, 0),
        checks.unit_number("checkout", "price", price),
        checks.unit_number("checkout", "popular", popular),
    )
    customers = checks.integer("checkout", "customers", customers, 1)

    def make(rounds: int, seed: int) -> Stream:
        people = made.customers(customers, seed)
        return CustomerStream(people, np.random.default_rng([seed, 1]).integers(customers, size=rounds))

    return Environment("checkout", make, made.names)


class Shop:
    """The items of `checkout`: their names, themes and prices, and which themes are popular."""

    def __init__(self, n: int, seed: int, price: float, popular: float) -> None:
        rng = np.random.default_rng(seed)
        self.popular = popular
        size = min(3, n // 2)
        self.themes = [tuple(range(k, min(k + size, n))) for k in range(0, n, size)]
        groceries = [name for theme in THEMES for name in theme[:size]]
        self.names = tuple(groceries[:n] + [f"item {k}" for k in range(len(groceries) + 1, n + 1)])
        self.is_popular, items = [False] * len(self.themes), 0
        for k in rng.permutation(len(self.themes)).tolist():  # what fits into half of the items, at least one
            if items == 0 or items + len(self.themes[k]) <= (n + 1) // 2:
                self.is_popular[k] = True
                items += len(self.themes[k])
        weights = rng.uniform(0.8, 1.2, n)
        self.prices: FloatArray = price * weights / weights.sum()

    def customers(self, count: int, seed: int) -> Customers:
        """Customers drawn independently."""
        rng = np.random.default_rng(seed)
        sized = itertools.product(self.themes, range(1, len(self.themes[0]) + 1))
        groups = [group for theme, size in sized for group in itertools.combinations(theme, size)]
        place = {group: k for k, group in enumerate(groups)}
        drawn = [self._wishes(rng) for _ in range(count)]
        wishes = [{place[group]: value for group, value in wanted.items()} for wanted in drawn]
        return Customers(self.prices, groups, wishes)

    def _wishes(self, rng: np.random.Generator) -> dict[tuple[int, ...], float]:
        elsewhere, together = rng.uniform(0.0, 0.3), rng.uniform(0.3, 0.7)
        theme, other = self._theme(rng), self._theme(rng)
        size = int(rng.integers(min(2, len(theme)), len(theme) + 1))
        wanted = tuple(sorted(rng.choice(theme, size, replace=False).tolist()))
        worth = collections.defaultdict[tuple[int, ...], float](float)
        worth[wanted] = (1 - elsewhere) * together
        worth[(int(rng.choice(other)),)] += elsewhere
        for item in wanted:
            worth[(item,)] += (1 - elsewhere) * (1 - together) / size
        return worth

    def _theme(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A popular theme or another one, with a probability proportional to its size."""
        popular = all(self.is_popular) or rng.random() < self.popular
        among = [theme for theme, flag in zip(self.themes, self.is_popular, strict=True) if flag == popular]
        sizes = np.array([len(theme) for theme in among])
        return among[rng.choice(len(among), p=sizes / sizes.sum())]


@named
def groups_of_four(n: int = 8, price: float = 1.0, popular: float = 0.8, customers: int = 512) -> Environment:
    """Only four items together are worth something; no item or pair of items tells which four.

    Random items form groups of four; up to three are left over. Half of the groups are popular (rounded down,
    but at least one). A customer wants one group as a whole, worth 1 to them: a popular one with the
    probability `popular`. Showing every item costs `price`, at most 1. The stream's seed draws all of this.
    """
    n = checks.integer("groups-of-four", "n", n, 4)
    price = checks.unit_number("groups-of-four", "price", price)
    popular = checks.unit_number("groups-of-four", "popular", popular)
    customers = checks.integer("groups-of-four", "customers", customers, 1)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        groups = rng.permutation(n)[: n - n % 4].reshape(-1, 4)
        liked = max(1, len(groups) // 2)  # the first ones
        others = len(groups) - liked
        chances = np.full(len(groups), 1 / liked)
        if others:
            chances = np.repeat([popular / liked, (1 - popular) / others], [liked, others])
        weights = rng.uniform(0.8, 1.2, n)
        wanted = rng.choice(len(groups), size=customers, p=chances)
        wishes = [{group: 1.0} for group in wanted.tolist()]
        people = Customers(price * weights / weights.sum(), list(groups), wishes)
        return CustomerStream(people, rng.integers(customers, size=rounds))

    return Environment("groups-of-four", make, tuple(range(n)))


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


@part_costs.register(CustomerRounds)
@kernel
def _parts(
    stream: CustomerRounds, t: int, x: FloatArray, order: IntArray, size: int, parts: FloatArray
) -> None:
    """Its price, minus its equal share of each wish that is fulfilled."""
    shown = np.zeros(order.size, dtype=np.bool_)
    for k in range(size):
        shown[order[k]] = True
        parts[order[k]] = stream.prices[order[k]]
    for wish in range(stream.firsts[stream.choice[t]], stream.firsts[stream.choice[t] + 1]):
        wanted = stream.members[stream.starts[wish] : stream.starts[wish + 1]]
        fulfilled = True
        for item in wanted:
            fulfilled = fulfilled and shown[item]
        if fulfilled:
            for item in wanted:
                parts[item] -= stream.values[wish] / wanted.size
