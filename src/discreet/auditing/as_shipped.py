"""Whether compiled code may stand in for an object: only where its methods are this package's own.

A subclass, or an object with a method put on it, may do anything in its methods, and a compiled loop would
not see it.
"""

from __future__ import annotations

from typing import Any

from discreet.errors import InvalidArgument


def is_as_shipped(given: Any) -> bool:
    """Whether the class of an object is this package's; an object with methods of its own is refused.

    (What such an object does cannot be repeated by another one made like it.)
    """
    own = [name for name, value in vars(given).items() if callable(value) and hasattr(type(given), name)]
    if own:
        raise InvalidArgument(
            f"This {type(given).__name__} has a method of its own, {own[0]!r}. Write a class for it: an "
            "audit makes many like the one it is given."
        )
    return type(given).__module__.partition(".")[0] == "discreet"
