"""Send whole responses."""

from __future__ import annotations

from starlette.types import Send

from discreet.service.web.errors import Headers

#: Headers of every response, and of those in JSON.
ALWAYS: Headers = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_JSON: Headers = [*ALWAYS, (b"content-type", b"application/json")]


async def send_json(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    """Send a JSON response."""
    length = (b"content-length", str(len(body)).encode())
    await send_response(send, status, [*_JSON, length, *(headers or [])], body)


async def send_response(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a response."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
