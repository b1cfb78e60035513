"""Frames of pandas, polars and others, read and made without depending on them; sets in their cells."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import narwhals
import numpy as np
from narwhals.exceptions import DuplicateError

from discreet.checks import one_of
from discreet.errors import InvalidArgument, MissingExtra

Library = Literal["polars", "pandas"]
_LIBRARIES: tuple[Library, ...] = ("polars", "pandas")


def is_frame(given: Any) -> bool:
    """Whether this is a frame of pandas, polars, pyarrow or the like, or a lazy one."""
    return isinstance(_wrapped(given), narwhals.DataFrame | narwhals.LazyFrame)


def columns_of(frame: Any) -> dict[Hashable, list[Any]]:
    """The columns of a frame as lists, by their names."""
    return {column.name: column.to_list() for column in _wrapped(frame).lazy().collect().iter_columns()}


def _wrapped(given: Any) -> Any:
    """A frame as one of narwhals; anything else as it is."""
    try:
        return narwhals.from_native(given, pass_through=True)
    except DuplicateError:
        raise InvalidArgument("The columns of a frame must have different names.") from None


def members(cell: Any, items: Sequence[Hashable]) -> frozenset[Hashable]:
    """A set of items, written as a list of them or as text: tea+milk."""
    if isinstance(cell, str):
        by_text = {str(item): item for item in items}
        parts = [cell.strip()] if cell.strip() in by_text else _parts(cell)
        found: list[Any] = [by_text.get(part, part) for part in parts]
    elif isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        found = list(cell)
    else:
        raise InvalidArgument("A set of items is a list of them, or written with plus signs, as in tea+milk.")
    unknown = [str(item) for item in found if item not in items]
    if unknown:
        raise InvalidArgument(f"A set of items must be of {', '.join(map(str, items))}. Got {unknown[0]}.")
    return frozenset(found)


def _parts(text: str) -> list[str]:
    inner = re.sub(r"^[\[({]|[\])}]$", "", text.strip())
    return [part for part in (each.strip(" '\"") for each in re.split(r"[+,]", inner)) if part]


def items_in(cells: Iterable[Any]) -> set[Any]:
    """All items that are named in these sets, lists of items or text."""
    return {item for cell in cells for item in (_parts(cell) if isinstance(cell, str) else cell)}


def make_frame(columns: Mapping[str, Any], library: Library | None = None) -> Any:
    """A frame of polars or pandas; by default of the first of them that is installed."""
    wanted = _LIBRARIES if library is None else (one_of("to_frame", "library", library, _LIBRARIES),)
    for name in wanted:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).DataFrame(dict(columns))
    if library == "pandas":
        raise MissingExtra("A data frame of pandas needs it: pip install pandas.", "report")
    raise MissingExtra("A data frame needs the extra 'report': pip install 'discreet[report]'.", "report")
