"""Reading what people bought: baskets and invoices, from plain or gzipped files."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterator

from discreet.checks import did_you_mean
from discreet.errors import InvalidArgument

Path = str | os.PathLike[str]

#: The first bytes of a gzipped file.
GZIP = b"\x1f\x8b"


def read_baskets(path: Path) -> list[tuple[str, ...]]:
    r"""Read a file with one basket per line, items separated by commas.

    Spaces around items are removed, and an item that is listed twice counts once.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "day.csv")
        >>> _ = file.write_text("milk,bread\ntea\n")
        >>> read_baskets(file)
        [('milk', 'bread'), ('tea',)]
    """
    baskets = []
    for number, row in _rows(path):
        items = tuple(dict.fromkeys(entry.strip() for entry in row))
        if not items or "" in items:
            wanted = "a basket is a list of items separated by commas, none of them empty"
            raise _malformed(path, number, wanted)
        baskets.append(items)
    if not baskets:
        raise InvalidArgument(f"{os.fspath(path)} holds no basket.")
    return baskets


def read_invoices(
    path: Path, *, invoice: str = "InvoiceNo", item: str = "StockCode", quantity: str = "Quantity"
) -> list[tuple[str, ...]]:
    r"""Read the items of each invoice, in the order in which invoices begin in the file.

    The first line names the columns. If there is a column of quantities, lines whose quantity is not positive
    (returned goods) are left out.

    Args:
        path: The file.
        invoice: The column of invoice numbers.
        item: The column of items.
        quantity: The column of quantities, which is optional.

    Examples:
        >>> import pathlib, tempfile
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
            found = _columns(wanted, names)
            raise _malformed(path, 1, f"the first line must name a column {wanted!r}.{found}")
    at_invoice, at_item = names.index(invoice), names.index(item)
    at_quantity = names.index(quantity) if quantity in names else None
    invoices: dict[str, dict[str, None]] = {}
    for number, row in rows:
        if len(row) != len(names):
            raise _malformed(path, number, f"there must be {len(names)} entries, as in the first line")
        key, what = row[at_invoice].strip(), row[at_item].strip()
        if not key or not what:
            raise _malformed(path, number, f"{invoice} and {item} must not be empty")
        amount = 1.0 if at_quantity is None else _number(row[at_quantity])
        if amount is None:
            raise _malformed(path, number, f"{quantity} must be a number")
        if amount > 0:
            invoices.setdefault(key, {})[what] = None
    if not invoices:
        raise InvalidArgument(f"{os.fspath(path)} holds no invoice.")
    return [tuple(items) for items in invoices.values()]


def _columns(wanted: str, names: list[str]) -> str:
    """What the header has instead. A line with a number in it is not quoted: it may be somebody's data."""
    if not names or any(_number(name) is not None for name in names):
        return " It is not a line of names"
    return f"{did_you_mean(wanted, names)} It names: {', '.join(names)}"


def _number(entry: str) -> float | None:
    try:
        return float(entry)
    except ValueError:
        return None


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file with their line numbers."""
    reader = csv.reader(_lines(path), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _malformed(path, reader.line_num, str(error)) from None


def _lines(path: Path) -> Iterator[str]:
    number = 0
    try:
        with open(path, "rb") as file:
            lines = gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == GZIP else file
            for number, line in enumerate(lines, 1):
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise _malformed(path, number, "the text is not UTF-8") from None
    except (OSError, EOFError, zlib.error, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidArgument(f"Cannot read {path!s}: {reason}.") from None


def _malformed(path: Path, number: int, wanted: str) -> InvalidArgument:
    return InvalidArgument(f"{os.fspath(path)}, line {number}: {wanted}.")
