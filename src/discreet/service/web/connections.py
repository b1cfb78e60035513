"""Limits of connections: what somebody without a key can make the server keep, and for how long.

uvicorn reads headers of any size and waits for ever for the first request; its h11 protocol has a limit, and
takes several times as long. So this is its fast protocol with limits on what comes before a body, on the time
until it is there, and on connections that wait: they make room for those that do not. Trailers are dropped.
"""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Bytes of the address and headers of a request with its trailers, and how many of these there may be.
MOST_BYTES, MOST_HEADERS = 32_768, 100
#: Seconds from an open connection, or the end of a response, until the next request's headers are there.
HEAD_TIMEOUT = 15.0
#: Requests that a client may send ahead.
_MOST_AHEAD = 16
#: Is answered however many connections there are.
LIVE = b"/livez"

_TOO_LARGE = b"The headers are too large."


class Connection(HttpToolsProtocol):
    """A connection of a client.

    Attributes:
        waiting_since: When it began to wait for headers; None while a request is running.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.waiting_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unparsed = self._bytes = self._headers = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        self._look()
        most = self.config.limit_concurrency
        if most is not None and len(self.connections) >= most:
            _make_room(self.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        """Close a connection that has waited too long; look again later at any other."""
        left = HEAD_TIMEOUT
        if self.waiting_since is not None:
            left += self.waiting_since - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(left, self._look)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > MOST_BYTES and not self.transport.is_closing():
            self.send_400_response("")

    def on_message_begin(self) -> None:
        self._unparsed = self._bytes = self._headers = 0
        self._in_head = True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers += 1
        self._count(len(name) + len(value))
        if self._in_head:  # a trailer must not pass for a header
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= _MOST_AHEAD:
            raise httptools.HttpParserError
        self._in_head, self.waiting_since, self._unparsed = False, None, 0
        self.limit_concurrency = None if self.url == LIVE else self.config.limit_concurrency
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # and no other request has come meanwhile
            self.waiting_since = self.loop.time()

    def _count(self, size: int) -> None:
        self._unparsed = 0
        self._bytes += size
        if self._bytes > MOST_BYTES or self._headers > MOST_HEADERS:
            self._unparsed = self._bytes
            raise httptools.HttpParserError

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, unless it comes in the midst of a response."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
        elif self._unparsed > MOST_BYTES or self._headers > MOST_HEADERS:
            length = str(len(_TOO_LARGE)).encode()
            self.transport.write(
                b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
                b"content-type: text/plain\r\ncontent-length: " + length + b"\r\n\r\n" + _TOO_LARGE
            )
            self.transport.close()
        else:
            super().send_400_response(msg)


def _make_room(connections: set[Any]) -> None:
    """Close the connection that has waited longest for a request."""
    waiting = [each for each in connections if each.waiting_since is not None]
    if len(waiting) > 1:  # the new one is among them
        longest = min(waiting, key=lambda each: each.waiting_since)
        connections.discard(longest)
        longest.transport.abort()
