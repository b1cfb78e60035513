"""Times of the service: milliseconds since 1970, and minutes of its counts."""

from __future__ import annotations

import time

_MINUTE = 60_000


def milliseconds() -> int:
    """The present time."""
    return time.time_ns() // 1_000_000


def minute_of(now: int) -> int:
    """The start of the minute of a time.

    Examples:
        >>> minute_of(125_000)
        120000
    """
    return now - now % _MINUTE
