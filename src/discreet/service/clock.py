"""Times as the service keeps them: milliseconds since 1970, and the minutes in which things are counted."""

import time

_MINUTE = 60_000


def milliseconds() -> int:
    """Now."""
    return time.time_ns() // 1_000_000


def minute_of(now: int) -> int:
    """The start of the minute that a time is in.

    Examples:
        >>> minute_of(125_000)
        120000
    """
    return now - now % _MINUTE
