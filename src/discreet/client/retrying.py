"""Requests to a service: sent, and sent again until they are answered."""

from __future__ import annotations

import inspect
import json
import os
import random
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import anyio
import httpx2

from discreet.client.errors import ServiceError, Unreachable, error_for

#: More connections would not be answered faster, and the service has a limit for all its clients.
_CONNECTIONS = httpx2.Limits(max_connections=32, max_keepalive_connections=32)
#: Status codes to retry.
_RETRIED = frozenset((429, 502, 503, 504))
#: Seconds of the first pause, and of the longest; each is twice the one before, minus up to a half.
_FIRST, _LONGEST = 0.05, 2.0
_LONGEST_MESSAGE = 1000
#: Whatever httpx2 may raise. It is dropped where it is caught: it holds the request, with key and body.
_FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)
#: Failures that a retry cannot fix.
_PERMANENT = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL)
#: Reasons of failures, by type of the error or of its causes.
_REASONS: dict[type[BaseException], str] = {
    ConnectionRefusedError: "connection refused",
    socket.gaierror: "unknown host",
    ssl.SSLCertVerificationError: "untrusted certificate",
    httpx2.PoolTimeout: "all connections are in use",
    httpx2.ConnectTimeout: "no connection in time",
    httpx2.TimeoutException: "no answer in time",
    httpx2.ProxyError: "the proxy cannot connect",
}

_chance = random.SystemRandom()  # clients with a shared seed would all retry at the same time

Answer = TypeVar("Answer")


class Failure(NamedTuple):
    """An attempt without a response: why, and whether a retry cannot help."""

    reason: str
    permanent: bool


class Requests:
    """Sends requests and reads their answers.

    Args:
        blocking: Whether threads wait, and not tasks: then nothing is awaited, and coroutines end at once.
        timeout: Seconds for one attempt, once it has a connection.
        deadline: Seconds for all attempts.
        options: For httpx2.
    """

    def __init__(self, *, blocking: bool, timeout: float, deadline: float, **options: Any) -> None:
        self._blocking, self._options = blocking, options
        self._timeout, self._deadline = timeout, deadline
        self._connect()

    async def answer(
        self,
        read: Callable[[Any], Answer],
        method: str,
        path: str,
        content: bytes | None = None,
        *,
        quote: bool = True,
        once: bool = False,
    ) -> Answer:
        """The response to a request.

        Args:
            read: Makes the answer from JSON; what it cannot read is not of this service.
            method: Of HTTP.
            path: Below the service's address.
            content: The body, the same for every attempt.
            quote: Whether errors may repeat the service's message: only if nothing private was sent.
            once: Whether repeating it would do it twice.
        """
        if os.getpid() != self._process:  # a forked process would read its parent's answers
            self._connect()
        end = time.monotonic() + self._deadline
        attempts, longest, reason = 0, 0.0, ""
        while True:
            given = min(self._timeout, end - time.monotonic())
            reply = await self._sent(method, path, content, end)
            attempts += 1
            if isinstance(reply, Failure):
                again, asked = not reply.permanent, ""
                if given >= longest:  # an attempt cut short by the deadline tells less
                    longest, reason = given, reply.reason
            elif reply.is_success:
                return _read(read, reply, attempts)
            else:
                again, asked = reply.status_code in _RETRIED, reply.headers.get("retry-after", "")
            pause = _pause(attempts, asked)
            if once or not again or time.monotonic() + pause >= end:
                break
            if self._blocking:
                time.sleep(pause)
            else:
                await anyio.sleep(pause)
        if isinstance(reply, Failure):
            times = "once" if attempts == 1 else f"{attempts} times"
            why = f"The service did not answer ({self._options['base_url']}: {reason}); tried {times}."
            raise Unreachable("unreachable", why, attempts=attempts)
        raise _refusal(reply, attempts, quote)

    async def close(self) -> None:
        """Close the connections."""
        await _done(self._http.close() if self._blocking else self._http.aclose())

    def _connect(self) -> None:
        # No redirects, which could send the key elsewhere, and nothing from the environment.
        kind: Any = httpx2.Client if self._blocking else httpx2.AsyncClient
        self._http = kind(limits=_CONNECTIONS, trust_env=False, follow_redirects=False, **self._options)
        self._process = os.getpid()

    async def _sent(
        self, method: str, path: str, content: bytes | None, end: float
    ) -> httpx2.Response | Failure:
        timeouts = {"timeout": _Timeouts(self._timeout, end)}
        try:
            response: httpx2.Response = await _done(
                self._http.request(method, path, content=content, extensions=timeouts)
            )
            return response
        except _FAILURES as error:
            return failure(error)


class _Timeouts(dict[str, float]):
    """Seconds for the steps of an attempt, asked for when a step begins.

    Waiting for a free connection ends with the deadline only; no other step goes beyond it.
    """

    def __init__(self, timeout: float, end: float) -> None:
        super().__init__(dict.fromkeys(("connect", "read", "write", "pool"), timeout))
        self._end = end

    def get(self, step: str, default: Any = None) -> Any:
        left = max(self._end - time.monotonic(), 0.001)
        return left if step == "pool" else min(super().get(step, left), left)


async def _done(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


def failure(error: Exception) -> Failure:
    """Why there was no response, without the error's own message."""
    cause: BaseException | None = error
    while cause is not None:
        for kind, reason in _REASONS.items():
            if isinstance(cause, kind):
                return Failure(reason, permanent=False)
        cause = cause.__cause__ or cause.__context__
    reason = "no connection" if isinstance(error, httpx2.ConnectError) else "the connection broke"
    return Failure(reason, isinstance(error, _PERMANENT))


def _pause(attempts: int, asked: str) -> float:
    longest = min(_LONGEST, _FIRST * 2.0 ** min(attempts - 1, 20))
    drawn = longest * (1 - 0.5 * _chance.random())
    try:
        seconds = float(asked)
    except ValueError:  # missing, or a date, which this service does not send
        return drawn
    return max(drawn, seconds + 0.1 * _chance.random()) if 0 <= seconds < 1e6 else drawn


def _read(read: Callable[[Any], Answer], response: httpx2.Response, attempts: int) -> Answer:
    try:
        return read(json.loads(response.content))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        pass  # raised below, without this as its context
    why = "The response is not from this service, or from another version of it."
    raise ServiceError("bad_answer", why, response.status_code, attempts)


def _refusal(response: httpx2.Response, attempts: int, quote: bool) -> ServiceError:
    code, message = "", ""
    try:
        error = json.loads(response.content)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    if not code.replace("_", "").isalpha() or len(code) > 50:
        code = f"http_{response.status_code}"  # not from the service but from something in front of it
    return error_for(code, message[:_LONGEST_MESSAGE] if quote else "", response.status_code, attempts)
