"""Environments made of what people bought, from files."""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from discreet import checks
from discreet.environments.basket_files import Path, read_baskets, read_invoices
from discreet.environments.customers import Customers, CustomerStream
from discreet.environments.environment import Environment, named
from discreet.errors import InvalidArgument

Thing = TypeVar("Thing", str, tuple[int, ...])


@named
def baskets(
    path: Path, n: int = 10, price: float | None = None, bonus: float = 1.0, pairs: int | None = None
) -> Environment:
    r"""What people bought, in the order of time, from a file with one basket per line.

    Items are separated by commas. :func:`customers_from_baskets` defines the costs. Items, pairs, price and
    so the range are chosen by looking at the data. That is not private: it is for experiments only.

    Args:
        path: The file, plain or gzipped.
        n: The number of items to offer, the most frequent ones.
        price: The cost of showing an item; set from the data if not given.
        bonus: The value of a complete pair, where an item is worth 1.
        pairs: The number of pairs that count, the most frequent ones; n by default.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "day.csv")
        >>> _ = file.write_text("milk,tea\ntea\n")
        >>> baskets(file, n=2).items, baskets(file, n=2).most_rounds
        (('tea', 'milk'), 2)
    """
    return _purchases("baskets", path, read_baskets(path), n=n, price=price, bonus=bonus, pairs=pairs)


@named
def invoices(
    path: Path,
    n: int = 10,
    price: float | None = None,
    bonus: float = 1.0,
    pairs: int | None = None,
    invoice: str = "InvoiceNo",
    item: str = "StockCode",
    quantity: str = "Quantity",
) -> Environment:
    r"""What people bought, in the order of time, from a CSV file with a header and one item per line.

    `invoice`, `item` and `quantity` are the names of its columns. That of quantities is optional; returned
    goods are left out. The other arguments are those of :func:`baskets`.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "lines.csv")
        >>> _ = file.write_text("InvoiceNo,StockCode\n1,tea\n1,milk\n2,tea\n")
        >>> invoices(file, n=2).items
        ('tea', 'milk')
    """
    bought = read_invoices(path, invoice=invoice, item=item, quantity=quantity)
    return _purchases("invoices", path, bought, n=n, price=price, bonus=bonus, pairs=pairs)


def _purchases(name: str, path: Path, bought: Sequence[Sequence[str]], **options: Any) -> Environment:
    items, people = customers_from_baskets(bought, owner=name, **options)
    n = options.pop("n")
    options["price"] = float(people.prices[0])
    options["pairs"] = n if options["pairs"] is None else options["pairs"]
    return Environment(
        name,
        lambda rounds, seed: CustomerStream(people, np.arange(rounds)),
        items,
        people.cost_range,
        parameters={"path": os.fspath(path), **options},
        most_rounds=len(people),
        fixed=True,
    )


def customers_from_baskets(
    baskets: Sequence[Sequence[str]],
    n: int,
    *,
    price: float | None = None,
    bonus: float = 1.0,
    pairs: int | None = None,
    owner: str = "customers_from_baskets",
) -> tuple[tuple[str, ...], Customers]:
    """The n items that are in most baskets, and a customer for every basket who wants what is in it.

    A customer's reward is the part of their wishes that is fulfilled, from 0 to 1: each wanted item that is
    shown counts 1, each frequent pair of wanted items that is shown counts `bonus` on top, and the sum is
    divided by what showing everything would give. A customer who wants none of the n items gets no reward.
    Every item shown costs `price`. By default that is the mean reward of showing everything, divided by n:
    then showing everything costs nothing on average, like showing nothing, and the best set is in between.

    Items, pairs and price are chosen by looking at all baskets. That is not private: it is for experiments
    only.

    Args:
        baskets: The items that each customer took.
        n: The number of items to offer.
        price: The cost of showing an item; by the rule above if not given.
        bonus: The value of a complete pair, where an item is worth 1.
        pairs: The number of pairs that count, the most frequent ones; n by default.
        owner: The name to use in error messages.

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
    pairs = itertools.combinations(items, 2)
    worth = {numbers[(item,)]: 1.0 for item in items} | {numbers[p]: bonus for p in pairs if p in numbers}
    total = sum(worth.values())
    return {group: value / total for group, value in worth.items()}


def _most_frequent(things: Iterable[Thing]) -> list[Thing]:
    """Each thing once, the most frequent first, in alphabetic order where equally frequent."""
    counts = collections.Counter(things)
    return sorted(counts, key=lambda thing: (-counts[thing], thing))
