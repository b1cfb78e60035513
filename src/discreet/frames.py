"""Frames of pandas, polars and others, read and made without depending on any of them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Hashable, Mapping
from typing import Any, Literal

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


def make_frame(columns: Mapping[str, Any], library: Library | None = None) -> Any:
    """A frame of polars or pandas; by default of the first of them that is installed."""
    wanted = _LIBRARIES if library is None else (one_of("to_frame", "library", library, _LIBRARIES),)
    for name in wanted:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name).DataFrame(dict(columns))
    needed, installed = " or ".join(wanted), "pandas" if library == "pandas" else "'discreet[report]'"
    raise MissingExtra(f"A frame needs {needed}: pip install {installed}.", "report")
