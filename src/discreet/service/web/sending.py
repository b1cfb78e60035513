"""Answers, sent no faster than they are read: whoever does not read holds little memory, and not for long."""

from __future__ import annotations

import asyncio

from starlette.types import Send

from discreet.service.web.problems import Headers, Problem

#: Seconds in which a client must have read a piece of an answer, and bytes of a piece.
PATIENCE, PIECE = 60.0, 65_536

#: Headers of every answer, and of those in JSON.
ALWAYS: Headers = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_JSON: Headers = [*ALWAYS, (b"content-type", b"application/json")]


async def respond(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    """Answer with JSON."""
    length = (b"content-length", str(len(body)).encode())
    await deliver(send, status, [*_JSON, length, *(headers or [])], body)


async def deliver(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send an answer in pieces: the server takes another when most of those before have been read.

    Raises:
        Problem: The client does not read. The answer stays without its end; the server then hangs up.
    """
    start = {"type": "http.response.start", "status": status, "headers": headers}
    if len(body) <= PIECE:  # nearly all: no more than any connection may hold, and not worth a timer
        await send(start)
        await send({"type": "http.response.body", "body": body})
        return
    last = (len(body) - 1) // PIECE * PIECE
    try:
        async with asyncio.timeout(PATIENCE) as patience:
            await send(start)
            for place in range(0, last, PIECE):
                piece = body[place : place + PIECE]
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
            await send({"type": "http.response.body", "body": body[last:]})
    except TimeoutError:
        raise Problem("timeout", "The answer was not read.") from None
