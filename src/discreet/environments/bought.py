"""Environments made of what people bought, from files."""

from __future__ import annotations

import os

import numpy as np

from discreet.environments.basket_customers import customers_from_baskets
from discreet.environments.basket_files import Path, read_baskets, read_invoices
from discreet.environments.customers import CustomerStream
from discreet.environments.environment import Environment


def baskets(
    path: Path, n: int = 10, price: float | None = None, bonus: float = 1.0, pairs: int | None = None
) -> Environment:
    r"""What people bought, in the order of time, as customers: one basket a line, items separated by commas.

    See :func:`customers_from_baskets` for the costs. Items, pairs, price and so the range are chosen by
    looking at the data. That is not private: it is for experiments only.

    Args:
        path: The file, plain or gzipped.
        n: How many items to offer, the most frequent ones.
        price: What showing an item costs; set from the data if not given.
        bonus: What a complete pair is worth, where an item is worth 1.
        pairs: How many pairs count, the most frequent ones; n by default.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "day.csv")
        >>> _ = file.write_text("milk,tea\ntea\n")
        >>> baskets(file, n=2).items, baskets(file, n=2).most_rounds
        (('tea', 'milk'), 2)
    """
    return _bought("baskets", path, read_baskets(path), n, price, bonus, pairs)


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
    r"""What people bought, in the order of time, as customers: a CSV file with a header and an item a line.

    See :func:`customers_from_baskets` for the costs. Items, pairs, price and so the range are chosen by
    looking at the data. That is not private: it is for experiments only.

    Args:
        path: The file, plain or gzipped.
        n: How many items to offer, the most frequent ones.
        price: What showing an item costs; set from the data if not given.
        bonus: What a complete pair is worth, where an item is worth 1.
        pairs: How many pairs count, the most frequent ones; n by default.
        invoice: The column of invoice numbers.
        item: The column of items.
        quantity: The column of quantities, if there is one; returned goods are left out.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "lines.csv")
        >>> _ = file.write_text("InvoiceNo,StockCode\n1,tea\n1,milk\n2,tea\n")
        >>> invoices(file, n=2).items
        ('tea', 'milk')
    """
    bought = read_invoices(path, invoice=invoice, item=item, quantity=quantity)
    return _bought("invoices", path, bought, n, price, bonus, pairs)


def _bought(
    name: str,
    path: Path,
    bought: list[tuple[str, ...]],
    n: int,
    price: float | None,
    bonus: float,
    pairs: int | None,
) -> Environment:
    items, people = customers_from_baskets(bought, n, price=price, bonus=bonus, pairs=pairs, owner=name)
    used = {"price": float(people.prices[0]), "bonus": bonus, "pairs": n if pairs is None else pairs}
    return Environment(
        name,
        lambda rounds, seed: CustomerStream(people, np.arange(rounds)),
        items,
        people.cost_range,
        "What people bought, one basket a round, in the order of time.",
        {"path": os.fspath(path), **used},
        most_rounds=len(people),
        fixed=True,
    )
