"""What both kinds of clients are: an address, a key, and operations that are steps."""

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
from discreet.client.core import Core
from discreet.client.pinned import Pinned
from discreet.client.retrying import Attempt, Patience, Reply
from discreet.errors import NotCopyable

#: What cannot go better the next time.
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
#: Whatever httpx may raise. It is dropped where it is caught: it holds the request, with key and body.
FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)
#: Those that are told apart, in the errors themselves or in what led to them.
_KINDS: dict[type[BaseException], str] = {
    ConnectionRefusedError: "connection refused",
    socket.gaierror: "there is no such host",
    ssl.SSLCertVerificationError: "its certificate is not trusted",
    httpx.ConnectTimeout: "no connection in time",
    httpx.TimeoutException: "no answer in time",
    httpx.ProxyError: "the proxy did not connect",
}


class Base(ABC):
    """The part without sending. Its arguments are those of `Client`."""

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
        patience = Patience(
            checks.positive_number("Client", "timeout", timeout),
            checks.positive_number("Client", "deadline", deadline),
        )
        self._core = Core(patience, randomize)
        self._randomize = randomize
        self._verify, self._proxy = verify, proxy
        self._process = os.getpid()
        self._connect()

    @abstractmethod
    def _connect(self) -> None:
        """Begin with no connections."""

    def _options(self) -> dict[str, Any]:
        """For httpx: no redirects, which could carry the key elsewhere, and nothing from the environment."""
        return {
            "base_url": self.url,
            "headers": self._headers,
            "verify": self._verify,
            "proxy": self._proxy,
            "trust_env": False,
            "follow_redirects": False,
        }

    def _own_connections(self) -> None:
        """A forked process must not share connections with its parent: it would read the other's answers."""
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._connect()

    def __repr__(self) -> str:
        pinned = "" if self._randomize is None else f", randomize={self._randomize!r}"
        return f"{type(self).__name__}({self.url!r}{pinned})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise NotCopyable(f"A {type(self).__name__} holds a key and connections: make one where it is used.")


def request_of(attempt: Attempt) -> dict[str, Any]:
    """An attempt as httpx takes it."""
    return {
        "method": attempt.method,
        "url": attempt.path,
        "content": attempt.content,
        "timeout": attempt.timeout,
    }


def reply_of(response: httpx.Response) -> Reply:
    """What matters of an answer."""
    return Reply(response.status_code, response.content, response.headers.get("retry-after", ""))


def failed(error: Exception, url: str) -> Reply:
    """What matters of a failure: where, and of which kind it is; nothing of what it says."""
    return Reply(failure=f"{url}: {_kind(error)}", hopeless=isinstance(error, _HOPELESS))


def _kind(error: Exception) -> str:
    """In words of our own."""
    led_to: BaseException | None = error
    while led_to is not None:
        for kind, words in _KINDS.items():
            if isinstance(led_to, kind):
                return words
        led_to = led_to.__cause__ or led_to.__context__
    return "no connection" if isinstance(error, httpx.ConnectError) else "the connection broke"
