"""Requests to a service: sent, and sent again until they are answered."""

from __future__ import annotations

import inspect
import json
import os
import random
import socket
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

import anyio
import httpx2

from ..arguments import positive_number
from ..errors import InvalidArgument, NotCopyable
from .address import checked_key, checked_url
from .errors import ServiceError, Unreachable, error_for
from .pinned import Pinned
from .records import Learner
from .telling import Telling

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


class Connected:
    """A client without its operations: it sends requests until they are answered.

    The arguments are described at `AsyncClient`.
    """

    #: Whether threads wait, and not tasks: then nothing is awaited, and coroutines end at once.
    _blocking: ClassVar[bool] = False

    def __init__(
        self,
        url: str,
        key: str,
        *,
        randomize: Pinned | Mapping[str, Pinned] | None = None,
        timeout: float = 10.0,
        deadline: float = 60.0,
        allow_insecure: bool = False,
        verify: ssl.SSLContext | bool = True,
        proxy: str | None = None,
    ) -> None:
        self.url = checked_url(url, allow_insecure=allow_insecure)
        self._timeout = positive_number("Client", "timeout", timeout)
        self._deadline = positive_number("Client", "deadline", deadline)
        self._randomize = randomize
        headers = {"content-type": "application/json", "user-agent": "discreet"}
        headers["authorization"] = f"Bearer {checked_key(key)}"
        # No redirects, which could send the key elsewhere, and nothing from the environment.
        self._options = {
            "base_url": self.url,
            "headers": headers,
            "verify": verify,
            "proxy": proxy,
            "trust_env": False,
            "follow_redirects": False,
        }
        self._telling = Telling(randomize, self._learner)
        self._connect()

    async def _learner(self, name: str) -> Learner:
        return await self._answer(Learner.read, "GET", "learners", name)

    async def _answer(
        self,
        read: Callable[[Any], Answer],
        method: str,
        *path: str,
        body: bytes | None = None,
        quote: bool = True,
        once: bool = False,
        **query: Any,
    ) -> Answer:
        """The response to a request, made from JSON by `read`: what it cannot read is not of this service.

        With `quote` errors may repeat the service's message: only if nothing private was sent. With `once`
        nothing is repeated.
        """
        request = {"url": _path(*path), "params": query or None, "content": body}
        if os.getpid() != self._process:  # a forked process would read its parent's answers
            self._connect()
        end = time.monotonic() + self._deadline
        attempts, longest, reason = 0, 0.0, ""
        while True:
            given = min(self._timeout, end - time.monotonic())
            reply = await self._sent(method, request, end)
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
            why = f"The service did not answer ({self.url}: {reason}); tried {times}."
            raise Unreachable("unreachable", why, attempts=attempts)
        raise _refusal(reply, attempts, quote)

    def _connect(self) -> None:
        kind: Any = httpx2.Client if self._blocking else httpx2.AsyncClient
        self._http = kind(limits=_CONNECTIONS, **self._options)
        self._process = os.getpid()

    async def _close(self) -> None:
        await _done(self._http.close() if self._blocking else self._http.aclose())

    def __repr__(self) -> str:
        pinned = "" if self._randomize is None else f", randomize={self._randomize!r}"
        return f"{type(self).__name__}({self.url!r}{pinned})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise NotCopyable("A client holds a key and connections: create one where it is used.")

    async def _sent(self, method: str, request: dict[str, Any], end: float) -> httpx2.Response | Failure:
        timeouts = {"timeout": _Timeouts(self._timeout, end)}
        try:
            response: httpx2.Response = await _done(
                self._http.request(method, **request, extensions=timeouts)
            )
            return response
        except _FAILURES as error:
            return failure(error)


def _path(kind: str, *names: str) -> str:
    if any(not isinstance(name, str) or name in ("", ".", "..") for name in names):
        raise InvalidArgument("A name must be a non-empty string.")
    return "/".join(["/v1", kind, *(urllib.parse.quote(name, safe="") for name in names)])


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
