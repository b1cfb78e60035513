"""A proxy that loses requests, or answers, and remembers every byte that came through."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from typing import Self


class FlakyProxy:
    """A thread that forwards HTTP to a port, one connection for each request.

    Args:
        port: Of the server.
        seed: For what is lost.
        lost: How likely each of three things is: that a connection is dropped before a request is
            forwarded, after it was answered but before the answer is passed on, and in the middle of it.

    Attributes:
        url: Where it listens.
        sent: All bytes that clients sent.
        dropped: How often each of the three happened.
        answer: Sent instead of forwarding, as often as there are elements.
    """

    def __init__(self, port: int, seed: int = 0, lost: tuple[float, float, float] = (0, 0, 0)) -> None:
        self._port, self._lost = port, lost
        self._chance = random.Random(seed)
        self.sent = b""
        self.requests = 0
        self.dropped = [0, 0, 0]
        self.answers: list[bytes] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._main(),))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set_result, None)
        self._thread.join()
        self._loop.close()

    async def _main(self) -> None:
        self._end: asyncio.Future[None] = self._loop.create_future()
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._end
        # A connection that asyncio is just accepting would be left open if its task were cancelled, or the
        # server closed before that: only when there are no more is it closed.
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in self._serving:
                task.cancel()
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        server.close()
        for writer in self._serving.values():  # a task that was cancelled before it began has closed nothing
            writer.transport.abort()
        await asyncio.sleep(0)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving[self._loop.create_task(self._serve(reader, writer))] = writer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await _message(reader)
        self.sent += request
        self.requests += 1
        if self.answers:
            writer.write(self.answers.pop(0))
            await writer.drain()
            return True
        fate = self._fate()
        if fate == 0:
            return False
        behind, onward = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            onward.write(request)
            answer = await _message(behind)
        finally:
            onward.transport.abort()
        if fate == 1:
            return False
        writer.write(answer[: len(answer) // 2] if fate == 2 else answer)
        await writer.drain()
        return fate is None

    def _fate(self) -> int | None:
        drawn = self._chance.random()
        for kind, likely in enumerate(self._lost):
            if drawn < likely:
                self.dropped[kind] += 1
                return kind
            drawn -= likely
        return None


async def _message(reader: asyncio.StreamReader) -> bytes:
    """One request or answer, whole."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head + await reader.readexactly(length)
