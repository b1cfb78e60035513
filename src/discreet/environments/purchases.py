"""Environments made of what people bought, from files of baskets or invoices, lists, or frames."""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from discreet import checks
from discreet.environments.files import Path, malformed, number, rows, sheet_of
from discreet.environments.groups import Customers, CustomerStream
from discreet.environments.stream import Environment, named
from discreet.errors import InvalidArgument

Thing = TypeVar("Thing", str, tuple[int, ...])


@named
def baskets(
    path: Path | Iterable[Iterable[str]],
    n: int = 10,
    price: float | None = None,
    bonus: float = 1.0,
    pairs: int | None = None,
) -> Environment:
    r"""What people bought, in the order of time, from a file with a basket per line, or a list of baskets.

    `customers_from_baskets` describes the costs and the arguments. For experiments only.
    """
    return _purchases("baskets", path, read_baskets(path), n=n, price=price, bonus=bonus, pairs=pairs)


@named
def invoices(
    path: Any,
    n: int = 10,
    price: float | None = None,
    bonus: float = 1.0,
    pairs: int | None = None,
    invoice: str | Sequence[str] = "InvoiceNo",
    item: str = "StockCode",
    quantity: str = "Quantity",
    item_price: str | None = None,
) -> Environment:
    r"""What people bought, in the order of time, from a file or a frame with one item per line.

    `read_invoices` describes the columns, of which `item_price` is its `price`. The other arguments are those
    of `baskets`.
    """
    bought = read_invoices(path, invoice=invoice, item=item, quantity=quantity, price=item_price)
    return _purchases("invoices", path, bought, n=n, price=price, bonus=bonus, pairs=pairs)


def _purchases(name: str, path: Any, bought: Sequence[Iterable[str]], **options: Any) -> Environment:
    items, people = customers_from_baskets(bought, owner=name, **options)
    pairs = len(items) if options["pairs"] is None else options["pairs"]
    shown = os.fspath(path) if isinstance(path, str | os.PathLike) else f"the {type(path).__name__}"
    chosen = {"path": shown, "price": float(people.prices[0]), "pairs": pairs}

    def make(rounds: int, seed: int) -> CustomerStream:
        return CustomerStream(people, np.arange(rounds))

    return Environment(name, make, items, people.cost_range, parameters=chosen, most_rounds=len(people))


def customers_from_baskets(
    baskets: Sequence[Iterable[str] | Mapping[str, float]],
    n: int,
    *,
    price: float | None = None,
    bonus: float = 1.0,
    pairs: int | None = None,
    owner: str = "customers_from_baskets",
) -> tuple[tuple[str, ...], Customers]:
    """The n items that are in most baskets, and a customer for every basket who wants what is in it.

    A customer's reward is the part of their wishes that is fulfilled, from 0 to 1: each wanted item that is
    shown counts 1 (or what it is worth, where a basket is a mapping from items to that), each of the `pairs`
    (n by default) most frequent pairs counts `bonus` on top if it is wanted and shown (times what the lesser
    of its items is worth), and the sum is divided by what showing everything would give. The `price` of
    showing an item is by default the mean reward of showing everything, divided by n: then showing everything
    costs nothing on average, like showing nothing. All this is chosen by looking at all baskets. That is not
    private: it is for experiments only. Errors name the `owner`.
    """
    names = _most_frequent(item for basket in baskets for item in set(basket))
    n = checks.integer(owner, "n", n, 1, len(names))
    bonus = checks.nonnegative_number(owner, "bonus", bonus)
    most_pairs = n if pairs is None else checks.integer(owner, "pairs", pairs, 0)
    place = {name: k for k, name in enumerate(names[:n])}
    worths = [basket if isinstance(basket, Mapping) else dict.fromkeys(basket, 1.0) for basket in baskets]
    bought = [{place[item]: worth[item] for item in worth if item in place} for worth in worths]
    wanted = [tuple(sorted(worth)) for worth in bought]
    frequent = _most_frequent(pair for items in wanted for pair in itertools.combinations(items, 2))
    groups = [(item,) for item in range(n)] + frequent[:most_pairs]
    numbers = {group: k for k, group in enumerate(groups)}
    wishes = []
    for items, each in zip(wanted, bought, strict=True):
        worth = {numbers[(item,)]: each[item] for item in items}
        pairs_of = (pair for pair in itertools.combinations(items, 2) if pair in numbers)
        worth |= {numbers[pair]: bonus * min(each[item] for item in pair) for pair in pairs_of}
        total = sum(worth.values())
        wishes.append({group: value / total for group, value in worth.items()})
    if price is None:
        price = sum(map(bool, wishes)) / len(wishes) / n
    prices = np.full(n, checks.positive_number(owner, "price", price))
    return tuple(names[:n]), Customers(prices, groups, wishes)


def _most_frequent(things: Iterable[Thing]) -> list[Thing]:
    """Each thing once, the most frequent first, in alphabetic order where equally frequent."""
    counts = collections.Counter(things)
    return sorted(counts, key=lambda thing: (-counts[thing], thing))


def read_baskets(source: Path | Iterable[Iterable[str]]) -> list[tuple[str, ...]]:
    """Baskets from a file with one per line, items separated by commas, or from lists of items.

    What is listed twice counts once.
    """
    given = isinstance(source, str | os.PathLike) or not isinstance(source, Iterable)
    listed = rows(source) if given else enumerate(source, 1)  # type: ignore[arg-type] # rows refuses others
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "the list of baskets"
    baskets = []
    for line, row in listed:
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise malformed(name, line, "a basket is a list of items")
        items = tuple(dict.fromkeys(str(entry).strip() for entry in row))
        if not items or "" in items:
            raise malformed(name, line, "a basket is a list of items separated by commas, none empty")
        baskets.append(items)
    if not baskets:
        raise InvalidArgument(f"{name} holds no basket.")
    return baskets


def read_invoices(
    source: Any,
    *,
    invoice: str | Sequence[str] = "InvoiceNo",
    item: str = "StockCode",
    quantity: str = "Quantity",
    price: str | None = None,
) -> list[tuple[str, ...]] | list[dict[str, float]]:
    r"""Read the items of each invoice, in the order in which invoices begin.

    Lines whose quantity is not positive (returned goods) are left out; a column of quantities is not needed.

    Args:
        source: A CSV or Parquet file whose first line names the columns, or a frame, with one item per line.
        invoice: The column, or columns, that tell invoices apart.
        item: The column of items.
        quantity: The column of quantities.
        price: The column of prices. Then each invoice has its items with what they are worth: quantity times
            price, added up over lines; lines worth nothing are left out.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "lines.csv")
        >>> _ = file.write_text("InvoiceNo,StockCode,Quantity\n1,tea,2\n1,milk,1\n2,tea,1\n3,milk,-1\n")
        >>> read_invoices(file)
        [('tea', 'milk'), ('tea',)]
    """
    sheet = sheet_of(source)
    keys = [invoice] if isinstance(invoice, str) else list(invoice)
    numbers = [sheet.column(key) for key in keys]
    items = sheet.column(item)
    amounts = sheet.columns.get(quantity, itertools.repeat(1, len(items)))
    prices = itertools.repeat(1, len(items)) if price is None else sheet.column(price)
    invoices: dict[tuple[Any, ...], dict[str, float]] = {}
    for row, (key, what, many, each) in enumerate(
        zip(zip(*numbers, strict=True), items, amounts, prices, strict=True)
    ):
        if any(part is None or part != part or part == "" for part in (*key, what)):
            raise sheet.malformed(row, f"{', '.join(keys)} and {item} must not be empty")
        amount, worth = number(many), number(each)
        if amount is None or worth is None:
            raise sheet.malformed(row, f"{quantity if amount is None else price} must be a number")
        if amount > 0 and worth > 0:
            bought, name = invoices.setdefault(key, {}), str(what)
            bought[name] = bought.get(name, 0.0) + amount * worth
    if not invoices:
        raise InvalidArgument(f"{sheet.name} holds no invoice.")
    return list(invoices.values()) if price is not None else [tuple(bought) for bought in invoices.values()]
