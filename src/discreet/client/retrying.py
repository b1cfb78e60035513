"""When to try again, written once for clients that block and clients that do not.

A request is a generator: it yields attempts and pauses, is sent replies, and returns the answer. Whoever
drives it does nothing but send and sleep.
"""

from __future__ import annotations

import dataclasses
import json
import random
import time
from collections.abc import Generator
from typing import Any, TypeVar

from discreet.client.refusals import ServiceError, Unreachable, refusal

#: Answers that say: later. Nothing was changed, or the request can be repeated.
_LATER = frozenset((429, 502, 503, 504))
#: Seconds of the first pause, and of the longest; each is twice the one before, less up to a half.
_FIRST, _LONGEST = 0.05, 2.0
_LONGEST_MESSAGE = 1000

_chance = random.SystemRandom()  # clients that share a seed would all come again at the same time


@dataclasses.dataclass(frozen=True, repr=False)
class Attempt:
    """A request to be sent now, once."""

    method: str
    path: str
    content: bytes | None
    timeout: float


@dataclasses.dataclass(frozen=True)
class Pause:
    """Nothing to be done for so many seconds."""

    seconds: float


@dataclasses.dataclass(frozen=True, repr=False)
class Reply:
    """What came of an attempt. Without a status there was no answer."""

    status: int | None = None
    content: bytes = b""
    retry_after: str = ""
    #: Where there was none, and why.
    failure: str = ""
    #: Whether the same attempt cannot go better.
    hopeless: bool = False


Answer = TypeVar("Answer")
Steps = Generator[Attempt | Pause, Reply, Answer]


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long to go on.

    Attributes:
        timeout: Seconds for one attempt.
        deadline: Seconds for all of them.
    """

    timeout: float
    deadline: float


def answer(
    patience: Patience, method: str, path: str, content: bytes | None = None, *, quote: bool = False
) -> Steps[Any]:
    """The decoded answer to a request that may be repeated.

    Args:
        patience: How long to go on.
        method: Of HTTP.
        path: Below the service's address.
        content: The body. It is made once, so that every attempt sends the same.
        quote: Whether errors may repeat what the service said: only where nothing private was sent.
    """
    end = time.monotonic() + patience.deadline
    attempts, longest, failure = 0, 0.0, ""
    while True:
        given = min(patience.timeout, max(end - time.monotonic(), 0.001))
        reply = yield Attempt(method, path, content, given)
        attempts += 1
        if reply.status is None and given >= longest:
            longest, failure = given, reply.failure  # an attempt cut short by the deadline says less
        if reply.status is not None and 200 <= reply.status < 300:
            return _decoded(reply, attempts)
        pause = _pause(attempts, reply.retry_after)
        again = not reply.hopeless and (reply.status is None or reply.status in _LATER)
        if not again or time.monotonic() + pause >= end:
            raise _error(dataclasses.replace(reply, failure=failure), attempts, quote)
        yield Pause(pause)


def _pause(attempts: int, retry_after: str) -> float:
    longest = min(_LONGEST, _FIRST * 2.0 ** min(attempts - 1, 20))
    drawn = longest * (1 - 0.5 * _chance.random())
    try:
        asked = float(retry_after)
    except ValueError:  # none, or a date, which this service does not send
        return drawn
    return max(drawn, asked + 0.1 * _chance.random()) if 0 <= asked < 1e6 else drawn


def _decoded(reply: Reply, attempts: int) -> Any:
    try:
        return json.loads(reply.content)
    except (ValueError, RecursionError):
        pass  # raised below, where nothing is being handled
    raise ServiceError("bad_answer", "What answered is not the service.", reply.status, attempts)


def _error(reply: Reply, attempts: int, quote: bool) -> ServiceError:
    if reply.status is None:
        times = "once" if attempts == 1 else f"{attempts} times"
        why = f"The service did not answer ({reply.failure}); tried {times}."
        return Unreachable("unreachable", why, attempts=attempts)
    code, said = "", ""
    try:
        error = json.loads(reply.content)["error"]
        code, said = str(error["code"]), str(error["message"])
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    if not code.replace("_", "").isalpha() or len(code) > 50:
        code = f"http_{reply.status}"  # not the service but something before it
    return refusal(code, reply.status, attempts, said[:_LONGEST_MESSAGE] if quote else "")
