"""Simulations of people's data, from files: what must be said about their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def about_data(parameters: Iterable[Mapping[str, Any]]) -> str:
    """A warning about results of environments with such parameters; empty where none is read from a file.

    Examples:
        >>> about_data([{"gap": 0.5}])
        ''
        >>> about_data([{"path": "day.csv"}, {"path": "day.csv", "n": 4}])
        'These numbers are exact sums of the data in day.csv, without noise: treat them like the data.'
    """
    files = dict.fromkeys(str(given["path"]) for given in parameters if "path" in given)
    if not files:
        return ""
    listed = ", ".join(files)
    return f"These numbers are exact sums of the data in {listed}, without noise: treat them like the data."
