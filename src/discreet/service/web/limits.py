"""Limits of requests: a token bucket for each key, and the size of bodies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from starlette.types import Receive

from discreet.service.web.errors import HttpError


class RateLimiter:
    """Requests per second, for each key separately; a second's worth may come at once.

    Args:
        rate: Requests per second.
        clock: Seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._most, self._clock = rate, max(1.0, rate), clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Count a request of a key, or refuse it."""
        now = self._clock()
        tokens, since = self._buckets.get(key, (self._most, now))
        tokens = min(self._most, tokens + (now - since) * self._rate)
        if tokens < 1:
            self._buckets[key] = tokens, now
            seconds = math.ceil((1 - tokens) / self._rate)
            raise HttpError("rate_limited", headers=[(b"retry-after", str(seconds).encode())])
        self._buckets[key] = tokens - 1, now

    def keep_only(self, keys: set[str]) -> None:
        """Forget the buckets of other keys."""
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if key in keys}


async def read_body(receive: Receive, announced: bytes | None, most: int) -> bytes:
    """Read the body of a request; refuse it as soon as it is known to be too long.

    Args:
        receive: Of the request.
        announced: Its header Content-Length, if there is one.
        most: Bytes.
    """
    if announced is not None and announced.isdigit() and int(announced[:20]) > most:
        raise _too_large(most)
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise HttpError("invalid_request", "The connection was closed.")
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        more = message.get("more_body", False)
    return bytes(body)


def _too_large(most: int) -> HttpError:
    return HttpError("too_large", f"A body may have at most {most} bytes.", [(b"connection", b"close")])
