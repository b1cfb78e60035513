"""Customers made from what people bought."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from discreet import checks
from discreet.environments.customers import Customers
from discreet.errors import InvalidArgument

Thing = TypeVar("Thing", str, tuple[int, ...])


def customers_from_baskets(
    baskets: Sequence[Sequence[str]],
    n: int,
    *,
    price: float | None = None,
    bonus: float = 1.0,
    pairs: int | None = None,
    owner: str = "customers_from_baskets",
) -> tuple[tuple[str, ...], Customers]:
    """The n items that are in most baskets, and for every basket a customer who wants what is in it.

    A customer's reward is the part of their wishes that is fulfilled, from 0 to 1: each wanted item that is
    shown counts 1, each frequent pair of wanted items that is shown counts `bonus` on top, and the sum is
    divided by what showing everything would give. Somebody who wants none of the n items gets no
    reward. Every item shown costs `price`.

    By default the price is the mean reward of showing everything, divided by n. Then showing everything
    costs nothing on average, like showing nothing, and the best set lies in between.

    Items, pairs and price are chosen by looking at all baskets. That is not private: it is for experiments
    only.

    Args:
        baskets: The items that each customer took.
        n: How many items to offer.
        price: What showing an item costs; by the rule above if not given.
        bonus: What a complete pair is worth, where an item is worth 1.
        pairs: How many pairs count, the most frequent ones; n by default.
        owner: Whose arguments these are, for messages.

    Returns:
        The items' names, most frequent first, and the customers in the order of the baskets.

    Examples:
        >>> names, people = customers_from_baskets([["tea", "milk"], ["tea"], ["jam"], ["tea", "milk"]], 2)
        >>> names, len(people), people.cost_range
        (('tea', 'milk'), 4, (-1.0, 0.75))
        >>> round(people.function(0)([0]), 3), round(people.function(0)([0, 1]), 3)
        (0.042, -0.25)
    """
    n = checks.integer(owner, "n", n, 1)
    bonus = checks.finite_number(owner, "bonus", bonus)
    if bonus < 0:
        raise checks.invalid_argument(owner, "bonus", "a nonnegative number", bonus)
    most_pairs = n if pairs is None else checks.integer(owner, "pairs", pairs, 0)
    names = _most_frequent(item for basket in baskets for item in set(basket))
    if len(names) < n:
        raise InvalidArgument(
            f"The 'n' of {owner} must be at most {len(names)}, the number of items. Got {n}."
        )
    place = {name: k for k, name in enumerate(names[:n])}
    wanted = [tuple(sorted({place[item] for item in basket if item in place})) for basket in baskets]
    frequent = _most_frequent(pair for items in wanted for pair in itertools.combinations(items, 2))
    groups = [(item,) for item in range(n)] + frequent[:most_pairs]
    numbers = {group: k for k, group in enumerate(groups)}
    wishes = [_wishes(items, numbers, bonus) for items in wanted]
    if price is None:
        each = sum(bool(wish) for wish in wishes) / len(wishes) / n
    else:
        each = checks.positive_number(owner, "price", price)
    return tuple(names[:n]), Customers(np.full(n, each), groups, wishes)


def _wishes(items: tuple[int, ...], numbers: dict[tuple[int, ...], int], bonus: float) -> dict[int, float]:
    worth = {numbers[(item,)]: 1.0 for item in items}
    for pair in itertools.combinations(items, 2):
        if pair in numbers:
            worth[numbers[pair]] = bonus
    total = sum(worth.values())
    return {group: value / total for group, value in worth.items()}


def _most_frequent(things: Iterable[Thing]) -> list[Thing]:
    """Without repetition, the most frequent first, and in alphabetic order where equally frequent."""
    counts = collections.Counter(things)
    return sorted(counts, key=lambda thing: (-counts[thing], thing))
