"""Frames of pandas, polars and others, read and made without depending on them; sets in their cells."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from discreet.checks import one_of
from discreet.errors import InvalidArgument, MissingExtra

Library = Literal["polars", "pandas"]
_LIBRARIES: tuple[Library, ...] = ("polars", "pandas")


def is_frame(given: Any) -> bool:
    """Whether this is a frame of pandas, polars, pyarrow or the like, or a lazy one."""
    if _is_lazy(given) or hasattr(given, "column_names"):
        return True
    return hasattr(given, "columns") and hasattr(given, "shape")


def _is_lazy(given: Any) -> bool:
    return hasattr(given, "collect_schema") and hasattr(given, "collect")


def columns_of(frame: Any) -> dict[Hashable, list[Any]]:
    """The columns of a frame as lists, by their names."""
    if _is_lazy(frame):
        frame = frame.collect()
    names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    if len(set(names)) < len(names):
        raise InvalidArgument("The columns of a frame must have different names.")
    return {name: _listed(frame[name]) for name in names}


def _listed(column: Any) -> list[Any]:
    method = next(name for name in ("to_list", "to_pylist", "tolist", "__iter__") if hasattr(column, name))
    return list(getattr(column, method)())


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
