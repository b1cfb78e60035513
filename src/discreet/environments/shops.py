"""A made-up shop: items that belong together, some of which most customers want."""

from __future__ import annotations

import itertools

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.environments.customers import Customers, CustomerStream

#: Items that go together; a small shop has the first few of them.
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
#: Prices of items lie within this part of each other's mean.
PRICE_SPREAD = 0.2


class Shop:
    """Items in themes of up to three that go together; up to half of the items are popular.

    A customer has wishes worth 1 in all. Most of them concern some items of one theme: part of their value
    is for each item by itself, the rest for having them all. The remainder is for one more item. Showing
    everything costs `price`, which is at most 1, so costs lie in [-1, 1].

    Args:
        n: The number of items.
        seed: Of the shop: of what is popular, and of the prices.
        price: What showing every item costs; at most 1.
        popular: The probability that a wish concerns a popular theme.
        owner: Whose arguments these are, for messages.

    Attributes:
        names: Of the items: groceries, and numbers where these do not suffice.
        themes: The items of each theme.
        is_popular: Whether each theme is.
        prices: What showing each item costs.

    Examples:
        >>> shop = Shop(4, seed=0)
        >>> shop.names
        ('bread', 'butter', 'pasta', 'sauce')
        >>> shop.themes
        ((0, 1), (2, 3))
        >>> shop.stream(rounds=100, seed=1).rounds
        100
    """

    def __init__(
        self, n: int, seed: int = 0, *, price: float = 1.0, popular: float = 0.9, owner: str = "Shop"
    ) -> None:
        self._owner = owner
        self.n = checks.integer(owner, "n", n, 2)
        rng = np.random.default_rng(checks.integer(owner, "seed", seed, 0))
        self.price = checks.unit_number(owner, "price", price)
        self.popular = checks.unit_number(owner, "popular", popular)
        size = min(3, self.n // 2)
        self.themes = tuple(tuple(range(k, min(k + size, self.n))) for k in range(0, self.n, size))
        self.names = _names(self.n, size)
        self.is_popular = self._half(rng)
        weights = rng.uniform(1 - PRICE_SPREAD, 1 + PRICE_SPREAD, self.n)
        self.prices: FloatArray = self.price * weights / weights.sum()

    def _half(self, rng: np.random.Generator) -> tuple[bool, ...]:
        """Themes in random order, as many as fit into half of the items, and at least one."""
        chosen, items = set[int](), 0
        for theme in rng.permutation(len(self.themes)).tolist():
            if not chosen or items + len(self.themes[theme]) <= (self.n + 1) // 2:
                chosen.add(theme)
                items += len(self.themes[theme])
        return tuple(theme in chosen for theme in range(len(self.themes)))

    def customers(self, count: int, seed: int = 0) -> Customers:
        """So many customers, drawn independently."""
        count = checks.integer(self._owner, "customers", count, 1)
        rng = np.random.default_rng(checks.integer(self._owner, "seed", seed, 0))
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
        """A theme, with a probability that goes with its size, among the popular ones or among the others."""
        popular = all(self.is_popular) or rng.random() < self.popular
        among = [theme for theme, flag in zip(self.themes, self.is_popular, strict=True) if flag == popular]
        sizes = np.array([len(theme) for theme in among])
        return among[rng.choice(len(among), p=sizes / sizes.sum())]

    def stream(self, rounds: int, seed: int = 0, *, customers: int = 512) -> CustomerStream:
        """Draw customers, and then for every round one of them."""
        rounds = checks.integer(self._owner, "rounds", rounds, 1)
        people = self.customers(customers, seed)
        rng = np.random.default_rng([checks.integer(self._owner, "seed", seed, 0), 1])
        choice: IntArray = rng.integers(len(people), size=rounds)
        return CustomerStream(people, choice)


def _names(n: int, size: int) -> tuple[str, ...]:
    """The first `size` groceries of each theme, then numbers."""
    groceries = [name for theme in THEMES for name in theme[:size]]
    return tuple(groceries[:n] + [f"item {k}" for k in range(len(groceries) + 1, n + 1)])
