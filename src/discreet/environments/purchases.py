"""Environments made of what people bought, from plain or gzipped files of baskets or invoices."""

from __future__ import annotations

import collections
import csv
import gzip
import io
import itertools
import os
import pathlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from discreet import checks
from discreet.environments.groups import Customers, CustomerStream
from discreet.environments.stream import Environment, named
from discreet.errors import InvalidArgument

Path = str | os.PathLike[str]
Thing = TypeVar("Thing", str, tuple[int, ...])


@named
def baskets(
    path: Path, n: int = 10, price: float | None = None, bonus: float = 1.0, pairs: int | None = None
) -> Environment:
    r"""What people bought, in the order of time, from a file with one basket per line.

    `customers_from_baskets` describes the costs and the arguments. For experiments only.
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

    `read_invoices` describes the file. The other arguments are those of `baskets`.
    """
    bought = read_invoices(path, invoice=invoice, item=item, quantity=quantity)
    return _purchases("invoices", path, bought, n=n, price=price, bonus=bonus, pairs=pairs)


def _purchases(name: str, path: Path, bought: Sequence[Sequence[str]], **options: Any) -> Environment:
    items, people = customers_from_baskets(bought, owner=name, **options)
    pairs = len(items) if options["pairs"] is None else options["pairs"]
    chosen = {"path": os.fspath(path), "price": float(people.prices[0]), "pairs": pairs}

    def make(rounds: int, seed: int) -> CustomerStream:
        return CustomerStream(people, np.arange(rounds))

    return Environment(name, make, items, people.cost_range, parameters=chosen, most_rounds=len(people))


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
    shown counts 1, each of the `pairs` (n by default) most frequent pairs counts `bonus` on top if it is
    wanted and shown, and the sum is divided by what showing everything would give. The `price` of showing an
    item is by default the mean reward of showing everything, divided by n: then showing everything costs
    nothing on average, like showing nothing. All this is chosen by looking at all baskets. That is not
    private: it is for experiments only. Errors name the `owner`.
    """
    names = _most_frequent(item for basket in baskets for item in set(basket))
    n = checks.integer(owner, "n", n, 1, len(names))
    bonus = checks.nonnegative_number(owner, "bonus", bonus)
    most_pairs = n if pairs is None else checks.integer(owner, "pairs", pairs, 0)
    place = {name: k for k, name in enumerate(names[:n])}
    wanted = [tuple(sorted({place[item] for item in basket if item in place})) for basket in baskets]
    frequent = _most_frequent(pair for items in wanted for pair in itertools.combinations(items, 2))
    groups = [(item,) for item in range(n)] + frequent[:most_pairs]
    numbers = {group: k for k, group in enumerate(groups)}
    wishes = []
    for items in wanted:
        worth = {numbers[(item,)]: 1.0 for item in items}
        worth |= {numbers[pair]: bonus for pair in itertools.combinations(items, 2) if pair in numbers}
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


def read_baskets(path: Path) -> list[tuple[str, ...]]:
    """Read a file with one basket per line, items separated by commas. What is listed twice counts once."""
    baskets = []
    for number, row in _rows(path):
        items = tuple(dict.fromkeys(entry.strip() for entry in row))
        if not items or "" in items:
            raise _malformed(path, number, "a basket is a list of items separated by commas, none empty")
        baskets.append(items)
    if not baskets:
        raise InvalidArgument(f"{os.fspath(path)} holds no basket.")
    return baskets


def read_invoices(
    path: Path, *, invoice: str = "InvoiceNo", item: str = "StockCode", quantity: str = "Quantity"
) -> list[tuple[str, ...]]:
    r"""Read the items of each invoice, in the order in which invoices begin in the file.

    The first line names the columns. Lines whose quantity is not positive (returned goods) are left out; a
    column of quantities is not needed.

    Examples:
        >>> import tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "lines.csv")
        >>> _ = file.write_text("InvoiceNo,StockCode,Quantity\n1,tea,2\n1,milk,1\n2,tea,1\n3,milk,-1\n")
        >>> read_invoices(file)
        [('tea', 'milk'), ('tea',)]
    """
    rows = _rows(path)
    _, header = next(rows, (0, []))
    names = [name.strip() for name in header]
    for wanted in (invoice, item):
        if wanted not in names:
            # A line with a number in it is not quoted: it may be somebody's data.
            data = not names or any(_number(name) is not None for name in names)
            listed = f"{checks.did_you_mean(wanted, names)} It names: {', '.join(names)}"
            found = " It is not a line of names" if data else listed
            raise _malformed(path, 1, f"the first line must name a column {wanted!r}.{found}")
    invoices: dict[str, dict[str, None]] = {}
    for number, row in rows:
        if len(row) != len(names):
            raise _malformed(path, number, f"there must be {len(names)} entries, as in the first line")
        entries = dict(zip(names, map(str.strip, row), strict=True))
        key, what = entries[invoice], entries[item]
        if not key or not what:
            raise _malformed(path, number, f"{invoice} and {item} must not be empty")
        amount = _number(entries.get(quantity, "1"))
        if amount is None:
            raise _malformed(path, number, f"{quantity} must be a number")
        if amount > 0:
            invoices.setdefault(key, {})[what] = None
    if not invoices:
        raise InvalidArgument(f"{os.fspath(path)} holds no invoice.")
    return [tuple(items) for items in invoices.values()]


def _number(entry: str) -> float | None:
    try:
        return float(entry)
    except ValueError:
        return None


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file with their line numbers."""
    content = b""
    try:
        content = pathlib.Path(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):  # gzipped
            content = gzip.decompress(content)
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig")), strict=True)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _malformed(path, line, "the text is not UTF-8") from None
    except (OSError, EOFError, zlib.error, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidArgument(f"Cannot read {path!s}: {reason}.") from None
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _malformed(path, reader.line_num, str(error)) from None


def _malformed(path: Path, number: int, wanted: str) -> InvalidArgument:
    return InvalidArgument(f"{os.fspath(path)}, line {number}: {wanted}.")
