"""Health checks: whether the process answers, and whether it can do its work. They need no key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from discreet.service.web.errors import HttpError

#: They are not counted by any rate limit.
HEALTH = frozenset({"/livez", "/readyz"})
#: Seconds for which an answer holds, and for which one is waited for.
_HOLDS, _TIMEOUT = 1.0, 5.0


class SharedCheck:
    """A check that runs once a second at most, and once at a time, however many ask for it.

    Args:
        check: Raises whatever is wrong.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._running: asyncio.Task[None] | None = None
        self._again = 0.0

    async def __call__(self) -> None:
        """The result of the latest check; raises `HttpError` if there is none in time."""
        if self._running is None or (self._running.done() and time.monotonic() >= self._again):
            self._running = asyncio.create_task(asyncio.to_thread(self._check))
            self._again = time.monotonic() + _HOLDS
        running = self._running
        await asyncio.wait({running}, timeout=_TIMEOUT)
        if not running.done():
            raise HttpError("store_unavailable", "The database does not answer.")
        running.result()
