"""What a description asks for before anything is built: how much memory, and for how many items.

Most fields are data: what is built from them is about as large as they are. Two things are not. An `n` is a
few digits and makes arrays of any length, and functions of functions may hold arrays of the innermost one's
length at every level. Whoever takes descriptions from others asks :func:`affordable` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Numbers that any description may lead to, however short it is; long ones may lead to more.
FREE = 1_000_000
#: Numbers built for each that was given: more than this many levels need none.
_PER_NUMBER = 4
#: Kinds that have other items than the function they are made of.
_OTHER_ITEMS = ("Restriction", "Contraction")


def affordable(description: Mapping[str, Any], items: int) -> bool:
    """Whether a function can be built within memory in proportion to its description.

    Args:
        description: What `SetFunction.from_dict` takes, from anybody.
        items: How many items it must have. Where an `n` decides that and is another, it is not affordable.

    Examples:
        >>> affordable({"kind": "Iwata", "n": 5}, 5)
        True
        >>> affordable({"kind": "Iwata", "n": 10**9}, 10**9)
        False
    """
    given, built, parts = 0, 0, 0  # numbers in the description, and in what is made of them
    rest: list[tuple[Any, int, bool]] = [(description, 1, True)]
    while rest:
        part, depth, same_items = rest.pop()
        parts += 1
        if parts > FREE:  # one that holds itself never ends
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
