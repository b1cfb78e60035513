"""What commands print: text for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.atomic_files import check_place
from discreet.errors import InvalidArgument

#: Words are not broken into lines shorter than this.
LEAST_ROOM = 16


def print_json(value: Any) -> None:
    """Data as one JSON document on standard output."""
    print(json.dumps(plain(value), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON can hold it; numbers that are not finite become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(plain(entry) for entry in value)
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def table(header: list[str], rows: list[list[str]]) -> str:
    """Rows as aligned text: columns of numbers to the right, others to the left.

    Where a line would be wider than the terminal, the text of the last column continues below.
    """
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    numeric = [all(re.fullmatch(r"[-\d.,e+]*", cell) for cell in column) for column in columns]
    widths = [max(map(len, (name, *column))) for name, column in zip(header, columns, strict=True)]
    left = sum(width + 2 for width in widths[:-1])
    room = terminal_width() - left
    if numeric[-1] or room < LEAST_ROOM:
        room = widths[-1]
    lines = []
    for row in [header, *rows]:
        last, *more = _lines(row[-1], max(room, 1)) or [""]
        cells = zip([*row[:-1], last], widths, numeric, strict=True)
        lines.append("  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in cells).rstrip())
        lines += [" " * left + part for part in more]
    return "\n".join(lines)


def terminal_width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def wrapped(text: str) -> str:
    """Each line of a text as a paragraph that fits the terminal; what follows a dash is indented."""
    return "\n".join(
        part
        for line in text.splitlines()
        for part in _lines(line, terminal_width(), "  " if line.startswith("- ") else "") or [""]
    )


def _lines(text: str, width: int, indent: str = "") -> list[str]:
    """A text in lines; no word is broken."""
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def require_place(*files: pathlib.Path | None) -> None:
    """Refuse files that cannot be written, before a run whose result would be lost; None is skipped."""
    for file in files:
        if file is not None:
            try:
                check_place(file)
            except OSError as error:
                raise InvalidArgument(f"Cannot write {file}: {error.strerror}.") from None


def command_line() -> str:
    """The command line that is running, to be typed again."""
    return "discreet " + shlex.join(sys.argv[1:])
