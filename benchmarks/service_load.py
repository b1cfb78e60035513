"""Clients of a running service, as cheap as clients can be: HTTP written by hand on kept connections.

``python -m benchmarks.service_load PORT KEY LEARNER CLIENTS SECONDS`` prints pairs per second and the times
of single requests in seconds: the median and the 99th of 100.
"""

import asyncio
import json
import sys
import time
import uuid
from typing import cast

import uvloop


class Client(asyncio.Protocol):
    """One connection that asks and tells until it is told to stop."""

    def __init__(self, head: bytes, learner: str, times: list[float]) -> None:
        self._head = head
        self._ask = f"/v1/learners/{learner}/ask"
        self._tell = f"/v1/learners/{learner}/tell"
        self._times = times
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
        return self._request(self._ask, b'{"request_id":"%b"}' % uuid.uuid4().hex.encode())

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
            self.pairs += 1
            self._telling = False
            if self.stopping:
                self._transport.close()
                self.ended.set_result(None)
                return
            self._send(self._new_ask())
        else:
            place = body.index(b'"id":"') + 6
            told = b'{"decision":"%b","cost":0.25}' % body[place : place + 32]
            self._telling = True
            self._send(self._request(self._tell, told))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self._fail("the connection was closed")

    def _fail(self, why: str) -> None:
        if not self.ended.done():
            self.ended.set_exception(RuntimeError(why))
        self._transport.close()


async def load(port: int, key: str, learner: str, clients: int, seconds: float) -> dict[str, float]:
    """Drive a server for so long."""
    times: list[float] = []
    head = f"host: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n".encode()
    loop = asyncio.get_running_loop()
    made = [
        (await loop.create_connection(lambda: Client(head, learner, times), "127.0.0.1", port))[1]
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
        "pairs_per_second": pairs / taken,
        "median": measured[len(measured) // 2],
        "p99": measured[int(0.99 * len(measured))],
    }


def main() -> None:
    """Print what was measured."""
    port, key, learner, clients, seconds = sys.argv[1:]
    found = load(int(port), key, learner, int(clients), float(seconds))
    print(json.dumps(uvloop.run(found)))


if __name__ == "__main__":
    main()
