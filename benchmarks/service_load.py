"""Clients of a running service, as cheap as clients can be: HTTP written by hand on kept connections.

``python -m benchmarks.service_load PORT KEY LEARNERS CLIENTS SECONDS [COUNT]`` prints how many pairs there
were, pairs per second, and the times of requests in seconds: the median and the 99th of 100. Names of
learners are separated by commas, and take turns. With a count each ask is for so many decisions, and so is
each tell.
"""

import asyncio
import itertools
import json
import re
import sys
import time
import uuid
from collections.abc import Iterator
from typing import cast

import uvloop

_ID = re.compile(rb'"id":"(\w{32})"')


class Client(asyncio.Protocol):
    """One connection that asks and tells until it is told to stop."""

    def __init__(self, head: bytes, learners: Iterator[str], count: int, times: list[float]) -> None:
        self._head, self._learners, self._count, self._times = head, learners, count, times
        self._buffer = b""
        self._telling = False
        self.pairs = 0
        self.stopping = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def _request(self, path: str, body: bytes) -> bytes:
        return b"POST %b HTTP/1.1\r\n%bcontent-length: %d\r\n\r\n%b" % (
            path.encode(),
            self._head,
            len(body),
            body,
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's are of no class of asyncio's
        self._send(self._new_ask())

    def _new_ask(self) -> bytes:
        """With a request id, as the shipped client sends."""
        self._learner = f"/v1/learners/{next(self._learners)}"
        body = b'{"request_id":"%b","count":%d}' % (uuid.uuid4().hex.encode(), self._count)
        return self._request(f"{self._learner}/ask", body)

    def _send(self, request: bytes) -> None:
        self._began = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            self._fail(self._buffer.decode("latin-1"))
            return
        place = self._buffer.index(b"content-length: ") + 16
        length = int(self._buffer[place : self._buffer.index(b"\r", place)])
        if len(self._buffer) < end + 4 + length:
            return
        body, self._buffer = self._buffer[end + 4 :], b""
        self._times.append(time.perf_counter() - self._began)
        if self._telling:
            self.pairs += self._count
            self._telling = False
            if self.stopping:
                self._transport.close()
                self.ended.set_result(None)
                return
            self._send(self._new_ask())
        else:
            told = b",".join(b'{"decision":"%b","cost":0.25}' % each for each in _ID.findall(body))
            self._telling = True
            self._send(self._request(f"{self._learner}/tell", told if self._count == 1 else b"[%b]" % told))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self._fail("the connection was closed")

    def _fail(self, why: str) -> None:
        if not self.ended.done():
            self.ended.set_exception(RuntimeError(why))
        self._transport.close()


async def load(
    port: int, key: str, learners: list[str], clients: int, seconds: float, count: int
) -> dict[str, float]:
    """Drive a server for so long."""
    times: list[float] = []
    head = f"host: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n".encode()
    loop = asyncio.get_running_loop()
    turns = itertools.cycle(learners)
    made = [
        (await loop.create_connection(lambda: Client(head, turns, count, times), "127.0.0.1", port))[1]
        for _ in range(clients)
    ]
    began, before = time.perf_counter(), sum(client.pairs for client in made)
    times.clear()
    await asyncio.wait([client.ended for client in made], timeout=seconds)
    taken, pairs = time.perf_counter() - began, sum(client.pairs for client in made) - before
    measured = sorted(times)
    for client in made:
        client.stopping = True
    await asyncio.gather(*(client.ended for client in made))
    return {
        "pairs": sum(client.pairs for client in made),
        "pairs_per_second": pairs / taken,
        "median": measured[len(measured) // 2],
        "p99": measured[int(0.99 * len(measured))],
    }


def main() -> None:
    """Print what was measured."""
    port, key, learners, clients, seconds, *count = sys.argv[1:]
    found = load(int(port), key, learners.split(","), int(clients), float(seconds), int(*count or (1,)))
    print(json.dumps(uvloop.run(found)))


if __name__ == "__main__":
    main()
