"""How often and how much: a bucket of tokens for each key, and bodies that end in time."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from starlette.types import Receive

from discreet.service.web.memory import PER_BYTE, Held
from discreet.service.web.problems import Problem

#: Seconds in which a body must have arrived.
PATIENCE = 60.0


class Rates:
    """Requests per second, for each key by itself; a second's worth may come at once.

    Args:
        rate: Requests per second.
        clock: Seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._most, self._clock = rate, max(1.0, rate), clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Count a request of a key, or refuse it and say when to come again."""
        now = self._clock()
        tokens, then = self._buckets.get(key, (self._most, now))
        tokens = min(self._most, tokens + (now - then) * self._rate)
        if tokens < 1:
            self._buckets[key] = tokens, now
            seconds = math.ceil((1 - tokens) / self._rate)
            raise Problem("rate_limited", headers=[(b"retry-after", str(seconds).encode())])
        self._buckets[key] = tokens - 1, now

    def keep_only(self, keys: set[str]) -> None:
        """Forget the buckets of other keys."""
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if key in keys}


async def whole_body(receive: Receive, announced: bytes | None, most: int, held: Held) -> bytes:
    """The body of a request, refused as soon as it is known to be too long.

    Args:
        receive: Of the request.
        announced: Its header Content-Length, if there is one.
        most: Bytes.
        held: Counts the memory that it takes as it arrives: what is only announced takes none.
    """
    if announced is not None and announced.isdigit() and int(announced[:20]) > most:
        raise _too_large(most)
    body: bytes | bytearray = b""
    try:
        async with asyncio.timeout(PATIENCE):
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise Problem("timeout", "The connection was closed.")
                piece = message.get("body", b"")
                if not body:
                    body = piece
                else:  # added to in place: a body may come a byte at a time
                    body = bytearray(body) if isinstance(body, bytes) else body
                    body += piece
                more = message.get("more_body", False)
                if len(body) > most:
                    raise _too_large(most)
                held.to(len(body) * PER_BYTE)
    except TimeoutError:
        raise Problem("timeout") from None
    return bytes(body)


def _too_large(most: int) -> Problem:
    return Problem("too_large", f"A body may have {most} bytes.", [(b"connection", b"close")])
