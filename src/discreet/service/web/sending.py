"""Send responses no faster than they are read: a client that does not read takes little memory, briefly."""

from __future__ import annotations

import asyncio

from starlette.types import Send

from discreet.service.web.errors import Headers, HttpError

#: Seconds in which a client must read a chunk of a response, and bytes of a chunk.
READ_TIMEOUT, CHUNK = 60.0, 65_536

#: Headers of every response, and of those in JSON.
ALWAYS: Headers = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_JSON: Headers = [*ALWAYS, (b"content-type", b"application/json")]


async def send_json(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    """Send a JSON response."""
    length = (b"content-length", str(len(body)).encode())
    await send_response(send, status, [*_JSON, length, *(headers or [])], body)


async def send_response(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a response in chunks: the server takes another when most of the earlier ones have been read.

    Raises:
        HttpError: The client does not read. The response stays incomplete, and the server closes the
            connection.
    """
    start = {"type": "http.response.start", "status": status, "headers": headers}
    if len(body) <= CHUNK:  # nearly all: no more than any connection may hold, and not worth a timer
        await send(start)
        await send({"type": "http.response.body", "body": body})
        return
    last = (len(body) - 1) // CHUNK * CHUNK
    try:
        async with asyncio.timeout(READ_TIMEOUT) as timeout:
            await send(start)
            for place in range(0, last, CHUNK):
                chunk = body[place : place + CHUNK]
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                timeout.reschedule(asyncio.get_running_loop().time() + READ_TIMEOUT)
            await send({"type": "http.response.body", "body": body[last:]})
    except TimeoutError:
        raise HttpError("timeout", "The response was not read.") from None
