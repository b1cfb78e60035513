"""What commands print: words for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np


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
    """Rows as aligned text: columns of numbers to the right, others to the left."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    numeric = [all(re.fullmatch(r"[-\d.,e+]*", cell) for cell in column) for column in columns]
    widths = [
        max(len(cell) for cell in (name, *column)) for name, column in zip(header, columns, strict=True)
    ]
    lines = []
    for row in [header, *rows]:
        cells = zip(row, widths, numeric, strict=True)
        lines.append("  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in cells).rstrip())
    return "\n".join(lines)


def command_line() -> str:
    """The command line that is running, to be typed again."""
    return "discreet " + shlex.join(sys.argv[1:])
