"""When to retry, written once for blocking and asynchronous clients.

A request is a generator: it yields attempts and pauses, is sent replies, and returns the answer. The clients
only send and sleep.
"""

from __future__ import annotations

import dataclasses
import json
import random
import time
from collections.abc import Generator
from typing import Any, TypeVar

from discreet.client.errors import ServiceError, Unreachable, error_for

#: Status codes to retry.
_RETRIED = frozenset((429, 502, 503, 504))
#: Seconds of the first pause, and of the longest; each is twice the one before, minus up to a half.
_FIRST, _LONGEST = 0.05, 2.0
_LONGEST_MESSAGE = 1000

_chance = random.SystemRandom()  # clients with a shared seed would all retry at the same time


@dataclasses.dataclass(frozen=True, repr=False)
class Attempt:
    """A request to send now, once."""

    method: str
    path: str
    content: bytes | None
    timeout: float


@dataclasses.dataclass(frozen=True)
class Pause:
    """Sleep for so many seconds."""

    seconds: float


@dataclasses.dataclass(frozen=True, repr=False)
class Reply:
    """The result of an attempt. Without a status there was no response."""

    status: int | None = None
    content: bytes = b""
    retry_after: str = ""
    #: Why there was no response.
    failure: str = ""
    #: Whether a retry cannot help.
    permanent: bool = False


Answer = TypeVar("Answer")
Steps = Generator[Attempt | Pause, Reply, Answer]


@dataclasses.dataclass(frozen=True)
class Timeouts:
    """How long to retry.

    Attributes:
        timeout: Seconds for one attempt.
        deadline: Seconds for all of them.
    """

    timeout: float
    deadline: float


def answer(
    timeouts: Timeouts, method: str, path: str, content: bytes | None = None, *, quote: bool = False
) -> Steps[Any]:
    """The decoded response to a request that may be repeated.

    Args:
        timeouts: How long to retry.
        method: Of HTTP.
        path: Below the service's address.
        content: The body, the same for every attempt.
        quote: Whether errors may repeat the service's message: only if nothing private was sent.
    """
    end = time.monotonic() + timeouts.deadline
    attempts, longest, failure = 0, 0.0, ""
    while True:
        given = min(timeouts.timeout, max(end - time.monotonic(), 0.001))
        reply = yield Attempt(method, path, content, given)
        attempts += 1
        if reply.status is None and given >= longest:
            longest, failure = given, reply.failure  # an attempt cut short by the deadline tells less
        if reply.status is not None and 200 <= reply.status < 300:
            return _decoded(reply, attempts)
        pause = _pause(attempts, reply.retry_after)
        again = not reply.permanent and (reply.status is None or reply.status in _RETRIED)
        if not again or time.monotonic() + pause >= end:
            raise _error(dataclasses.replace(reply, failure=failure), attempts, quote)
        yield Pause(pause)


def _pause(attempts: int, retry_after: str) -> float:
    longest = min(_LONGEST, _FIRST * 2.0 ** min(attempts - 1, 20))
    drawn = longest * (1 - 0.5 * _chance.random())
    try:
        asked = float(retry_after)
    except ValueError:  # missing, or a date, which this service does not send
        return drawn
    return max(drawn, asked + 0.1 * _chance.random()) if 0 <= asked < 1e6 else drawn


def _decoded(reply: Reply, attempts: int) -> Any:
    try:
        return json.loads(reply.content)
    except (ValueError, RecursionError):
        pass  # raised below, without this as its context
    raise ServiceError("bad_answer", "The response is not from this service.", reply.status, attempts)


def _error(reply: Reply, attempts: int, quote: bool) -> ServiceError:
    if reply.status is None:
        times = "once" if attempts == 1 else f"{attempts} times"
        why = f"The service did not answer ({reply.failure}); tried {times}."
        return Unreachable("unreachable", why, attempts=attempts)
    code, message = "", ""
    try:
        error = json.loads(reply.content)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    if not code.replace("_", "").isalpha() or len(code) > 50:
        code = f"http_{reply.status}"  # not from the service but from something in front of it
    return error_for(code, reply.status, attempts, message[:_LONGEST_MESSAGE] if quote else "")
