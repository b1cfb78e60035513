"""Times of the service: milliseconds since 1970."""

from __future__ import annotations

import time


def milliseconds() -> int:
    """The present time."""
    return time.time_ns() // 1_000_000
