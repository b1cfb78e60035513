"""What both clients share: an address, a key, connections and operations."""

from __future__ import annotations

import os
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import httpx

from discreet import checks
from discreet.client.address import checked_key, checked_url
from discreet.client.operations import Operations
from discreet.client.pinned import Pinned
from discreet.client.retrying import Attempt, Reply, Timeouts
from discreet.errors import NotCopyable

#: Failures that a retry cannot fix.
_PERMANENT = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
#: Whatever httpx may raise. These are dropped where they are caught: they hold the request, with key and
#: body.
FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)
#: Reasons of failures, by type of the error or of its causes.
_REASONS: dict[type[BaseException], str] = {
    ConnectionRefusedError: "connection refused",
    socket.gaierror: "unknown host",
    ssl.SSLCertVerificationError: "untrusted certificate",
    httpx.ConnectTimeout: "no connection in time",
    httpx.TimeoutException: "no answer in time",
    httpx.ProxyError: "the proxy cannot connect",
}


class Base(ABC):
    """A client without sending. Its arguments are those of `Client`."""

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
        self._headers = {
            "authorization": f"Bearer {checked_key(key)}",
            "content-type": "application/json",
            "user-agent": "discreet",
        }
        timeouts = Timeouts(
            checks.positive_number("Client", "timeout", timeout),
            checks.positive_number("Client", "deadline", deadline),
        )
        self._operations = Operations(timeouts, randomize)
        self._randomize = randomize
        self._verify, self._proxy = verify, proxy
        self._process = os.getpid()
        self._connect()

    @abstractmethod
    def _connect(self) -> None:
        """Start without connections."""

    def _options(self) -> dict[str, Any]:
        """For httpx: no redirects, which could send the key elsewhere, and nothing from the environment."""
        return {
            "base_url": self.url,
            "headers": self._headers,
            "verify": self._verify,
            "proxy": self._proxy,
            "trust_env": False,
            "follow_redirects": False,
        }

    def _renew_after_fork(self) -> None:
        """A forked process must not share connections with its parent: it would read the parent's answers."""
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._connect()

    def __repr__(self) -> str:
        pinned = "" if self._randomize is None else f", randomize={self._randomize!r}"
        return f"{type(self).__name__}({self.url!r}{pinned})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise NotCopyable(
            f"A {type(self).__name__} holds a key and connections: create one where it is used."
        )


def request_of(attempt: Attempt) -> dict[str, Any]:
    """An attempt as httpx takes it."""
    return {
        "method": attempt.method,
        "url": attempt.path,
        "content": attempt.content,
        "timeout": attempt.timeout,
    }


def reply_of(response: httpx.Response) -> Reply:
    """The relevant parts of a response."""
    return Reply(response.status_code, response.content, response.headers.get("retry-after", ""))


def failed(error: Exception, url: str) -> Reply:
    """The reply for a failure: address and reason, without the error's own message."""
    return Reply(failure=f"{url}: {_reason(error)}", permanent=isinstance(error, _PERMANENT))


def _reason(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        for kind, reason in _REASONS.items():
            if isinstance(cause, kind):
                return reason
        cause = cause.__cause__ or cause.__context__
    return "no connection" if isinstance(error, httpx.ConnectError) else "the connection broke"
