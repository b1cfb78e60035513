"""Rows of benchmarks as text for a terminal, and as Markdown for a page."""

import math
import os
import platform
from collections.abc import Iterable, Iterator

from benchmarks.measure import Row

HEADER = ("what", "ours", "limit", "peer", "ratio", "wanted", "reached", "note")
_LINE = "{:<62} {:>10} {:>10}  {:<28} {:>8} {:>8}  {:<7}  {}"


def text_line(cells: Iterable[str]) -> str:
    """Cells in columns for a terminal."""
    return _LINE.format(*cells).rstrip()


def markdown(rows: Iterable[Row]) -> str:
    """A table for a page; columns that hold nothing are left out."""
    body = [cells(row) for row in rows]
    kept = [k for k in range(len(HEADER)) if any(row[k] for row in body)]
    lines = ["| " + " | ".join(row[k].replace("|", "\\|") for k in kept) + " |" for row in (HEADER, *body)]
    return "\n".join([lines[0], "|" + "---|" * len(kept), *lines[1:]])


def cells(row: Row) -> tuple[str, ...]:
    """One text for each column."""
    stated = row.limit is not None or row.least_ratio is not None
    return (
        row.name,
        shown(row.value, row.unit),
        "" if row.limit is None else shown(row.limit, row.unit),
        row.peer,
        "" if row.ratio is None else f"{row.ratio:.3g}x",
        "" if row.least_ratio is None else f"{row.least_ratio:.3g}x",
        "" if not stated else "yes" if row.reached else "MISSED",
        row.note if row.unit == "s" else f"{row.note} ({row.unit})".strip(),
    )


def shown(value: float, unit: str = "s") -> str:
    """A quantity in few digits; a time with a unit that keeps it between 1 and 1000.

    Examples:
        >>> shown(0.0123), shown(2.5e-7), shown(0.0123, "regret per round")
        ('12.3 ms', '250 ns', '0.0123')
    """
    if math.isnan(value):
        return ""
    if unit != "s":
        return f"{value:.3g}"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def machine() -> str:
    """What the figures were measured on."""
    return f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"


def printed(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as they come, each printed at once."""
    for row in rows:
        print(text_line(cells(row)), flush=True)
        yield row
