"""The environment of a made-up shop: items that belong together, some of which most customers want."""

from __future__ import annotations

import itertools

import numpy as np

from discreet import checks
from discreet.checks import FloatArray
from discreet.environments.customers import Customers, CustomerStream
from discreet.environments.environment import Environment, named
from discreet.environments.stream import Stream

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
#: The part of a customer's wishes that is worth something only together, and the part of another single item.
TOGETHER, ELSEWHERE = (0.3, 0.7), (0.0, 0.3)
#: Prices differ from their mean by at most this part of it.
PRICE_SPREAD = 0.2


@named
def checkout(
    n: int = 10, shop: int = 0, price: float = 1.0, popular: float = 0.9, customers: int = 512
) -> Environment:
    """Customers want some items, and some of them only together; showing an item costs attention.

    Items come in themes of up to three that go together; up to half of the items are popular. A customer has
    wishes worth 1 in total. Most concern some items of one theme: part of their value is for each item by
    itself, the rest for having them all. The remainder is for one more item.

    Args:
        n: The number of items.
        shop: The seed of what is popular and what attention costs. The stream's seed draws the customers.
        price: The cost of showing every item, at most 1.
        popular: The probability that a wish concerns a popular theme.
        customers: The number of different customers; every round draws one of them.

    Examples:
        >>> checkout(n=4).items
        ('bread', 'butter', 'pasta', 'sauce')
    """
    n, shop = checks.integer("checkout", "n", n, 2), checks.integer("checkout", "shop", shop, 0)
    price = checks.unit_number("checkout", "price", price)
    popular = checks.unit_number("checkout", "popular", popular)
    customers = checks.integer("checkout", "customers", customers, 1)
    made = Shop(n, shop, price, popular)

    def make(rounds: int, seed: int) -> Stream:
        people = made.customers(customers, seed)
        return CustomerStream(people, np.random.default_rng([seed, 1]).integers(customers, size=rounds))

    parameters = {"shop": shop, "price": price, "popular": popular, "customers": customers}
    return Environment("checkout", make, made.names, (-1.0, 1.0), parameters=parameters)


class Shop:
    """The items of `checkout`.

    Attributes:
        names: Groceries, and numbers where these do not suffice.
        themes: The items of each theme.
        is_popular: Whether each theme is popular.
        prices: The cost of showing each item.
    """

    def __init__(self, n: int, seed: int, price: float, popular: float) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.popular = n, popular
        size = min(3, n // 2)
        self.themes = tuple(tuple(range(k, min(k + size, n))) for k in range(0, n, size))
        groceries = [name for theme in THEMES for name in theme[:size]]
        self.names = tuple(groceries[:n] + [f"item {k}" for k in range(len(groceries) + 1, n + 1)])
        self.is_popular = self._half(rng)
        weights = rng.uniform(1 - PRICE_SPREAD, 1 + PRICE_SPREAD, n)
        self.prices: FloatArray = price * weights / weights.sum()

    def _half(self, rng: np.random.Generator) -> tuple[bool, ...]:
        """Themes in random order that fit into half of the items, at least one."""
        chosen, items = set[int](), 0
        for theme in rng.permutation(len(self.themes)).tolist():
            if not chosen or items + len(self.themes[theme]) <= (self.n + 1) // 2:
                chosen.add(theme)
                items += len(self.themes[theme])
        return tuple(theme in chosen for theme in range(len(self.themes)))

    def customers(self, count: int, seed: int) -> Customers:
        """Customers drawn independently."""
        rng = np.random.default_rng(seed)
        groups = [
            group
            for theme in self.themes
            for size in range(1, len(theme) + 1)
            for group in itertools.combinations(theme, size)
        ]
        place = {group: k for k, group in enumerate(groups)}
        wishes = []
        for _ in range(count):
            worth = dict[int, float]()
            for group, value in self._wishes(rng):
                worth[place[group]] = worth.get(place[group], 0.0) + value
            wishes.append(worth)
        return Customers(self.prices, groups, wishes)

    def _wishes(self, rng: np.random.Generator) -> list[tuple[tuple[int, ...], float]]:
        elsewhere, together = rng.uniform(*ELSEWHERE), rng.uniform(*TOGETHER)
        theme, other = self._theme(rng), self._theme(rng)
        size = int(rng.integers(min(2, len(theme)), len(theme) + 1))
        wanted = tuple(sorted(rng.choice(theme, size, replace=False).tolist()))
        value = 1 - elsewhere
        wishes = [(wanted, value * together), ((int(rng.choice(other)),), elsewhere)]
        return wishes + [((item,), value * (1 - together) / size) for item in wanted]

    def _theme(self, rng: np.random.Generator) -> tuple[int, ...]:
        """A popular theme or another one, with a probability proportional to its size."""
        popular = all(self.is_popular) or rng.random() < self.popular
        among = [theme for theme, flag in zip(self.themes, self.is_popular, strict=True) if flag == popular]
        sizes = np.array([len(theme) for theme in among])
        return among[rng.choice(len(among), p=sizes / sizes.sum())]
