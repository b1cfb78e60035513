"""How much memory a description would take, before anything is built from it.

An `n` of a few digits allocates arrays of any length, at every level of nested functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FREE = 1_000_000  # how many numbers may be built from any description, however short
_PER_NUMBER = 4  # how many more may be built for each number in the description
_OTHER_ITEMS = ("Restriction", "Contraction")  # kinds whose items differ from those of the function inside


def affordable(description: Mapping[str, Any], items: int) -> bool:
    """Whether a function of so many items can be built within memory in proportion to its description."""
    given, built, parts = 0, 0, 0  # numbers in the description, numbers built from it, parts seen
    rest: list[tuple[Any, int, bool]] = [(description, 1, True)]
    while rest:
        part, depth, same_items = rest.pop()
        parts += 1
        if parts > FREE:  # a description that contains itself never ends
            return False
        if not isinstance(part, Mapping):  # nothing is built from it
            continue
        n = part.get("n", 0)
        if not isinstance(n, int) or not 0 <= n <= FREE or ("n" in part and same_items and n != items):
            return False
        here = sum(_entries(value) for value in part.values())
        given += here
        built += depth * max(here, n)
        same_items = same_items and part.get("kind") not in _OTHER_ITEMS
        inner = part.get("functions")
        listed = inner if isinstance(inner, list | tuple) else []
        rest += [(each, depth + 1, same_items) for each in (*listed, part.get("function"))]
    return built <= FREE + _PER_NUMBER * given


def _entries(value: Any) -> int:
    """How many numbers a field holds: in a list, or in a list of lists."""
    if not isinstance(value, list | tuple):
        return 1
    return len(value) + sum(len(row) for row in value if isinstance(row, list | tuple))
