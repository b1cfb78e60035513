"""What requests and answers take in memory, together."""

import asyncio
import contextlib
import json
import pathlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from http_helpers import BANDIT, Service, code_of, service
from starlette.types import Message

from discreet.service.web import ask_tell, memory, sending
from discreet.service.web.errors import HttpError
from discreet.service.web.limits import read_body
from discreet.service.web.memory import FREE, PER_BYTE, Memory, Reservation

#: A learner whose sets are long: 59 of them are 4 MiB.
LONG = BANDIT | {"name": "long", "items": [f"{place:06d}-" + "x" * 60 for place in range(1000)]}


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[Service]:
    with service(tmp_path / "shop.db", log_requests=False) as found:
        assert found.admin.post("/v1/learners", json=LONG).status_code == 201
        yield found


@contextlib.contextmanager
def sent(served: Service, path: str, head: str, body: bytes, window: int = 0) -> Iterator[socket.socket]:
    """A connection on which a request was sent as it is, and nothing is read."""
    host, port = served.address.removeprefix("http://").split(":")
    with socket.socket() as connection:
        if window:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        connection.connect((host, int(port)))
        key = served.worker.headers["authorization"]
        connection.sendall(
            f"{path} HTTP/1.1\r\nhost: x\r\nauthorization: {key}\r\n{head}\r\n".encode() + body
        )
        yield connection


def left(served: Service) -> int:
    found: int = served.app._memory.left
    return found


def wait_until(served: Service, wanted: int, *, or_less: bool = False) -> None:
    deadline = time.monotonic() + 20
    while left(served) != wanted and not (or_less and left(served) < wanted):
        assert time.monotonic() < deadline, left(served)
        time.sleep(0.01)


def test_reserved_memory_is_freed() -> None:
    """Whatever happens; what is too much is refused and leaves all as it was."""
    account = Memory(largest=1)
    whole = account.left
    assert whole == memory.BUDGET
    with account.reserve(FREE) as small:
        assert (small.size, account.left) == (0, whole)
    with (
        account.reserve(whole - FREE) as most,
        pytest.raises(HttpError) as refused,
        account.reserve(2 * FREE),
    ):
        pass
    assert (refused.value.code, refused.value.headers) == ("busy", [(b"retry-after", b"1")])
    assert (most.size, account.left) == (0, whole)
    with account.reserve(whole) as most:
        most.resize(whole // 2)
        assert account.left == whole - whole // 2
        with account.reserve() as done:
            done.resize(whole, force=True)  # too late to refuse
            assert account.left < 0
            most.resize(0)
    assert account.left == whole
    with Memory(largest=memory.BUDGET).reserve(memory.BUDGET * PER_BYTE):
        pass  # a request that is alone


class CountedCopies(bytes):
    """Bytes that know how many of them were copied to add to them."""

    copied = 0

    def __add__(self, piece: Any) -> "CountedCopies":
        CountedCopies.copied += len(self)
        return CountedCopies(bytes(self) + piece)


def test_bodies_that_come_byte_by_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are added to in place: copied each time, 20,000 bytes after 4 MiB once took 8 seconds."""
    monkeypatch.setattr(CountedCopies, "copied", 0)

    async def read() -> bytes:
        pieces = iter([CountedCopies(b" " * (1 << 20)), *[b"x"] * 50, b""])

        async def receive() -> Message:
            piece = next(pieces)
            return {"type": "http.request", "body": piece, "more_body": bool(piece)}

        return await read_body(receive, None, 5 << 20, Reservation(Memory(5 << 20)))

    body = asyncio.run(read())
    assert body == b" " * (1 << 20) + b"x" * 50
    assert type(body) is bytes
    assert CountedCopies.copied <= 1 << 20


class SetClock(asyncio.SelectorEventLoop):
    """Its timers go by a clock that is set."""

    now = 0.0

    def time(self) -> float:
        return self.now


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 200_000])
def test_responses_are_sent_in_chunks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long they are, a client that reads slowly gets all of it, and the server is handed little."""
    monkeypatch.setattr(sending, "READ_TIMEOUT", 0.5)
    messages: list[Any] = []

    async def send(message: Message) -> None:
        messages.append(message)
        clock.now += 0.2
        await asyncio.sleep(0)

    body = bytes(place % 251 for place in range(size))
    with asyncio.Runner(loop_factory=SetClock) as runner:
        clock = runner.get_loop()
        assert isinstance(clock, SetClock)
        runner.run(sending.send_json(send, 200, body))
    start, *pieces = messages
    assert start["status"] == 200
    assert b"".join(piece["body"] for piece in pieces) == body
    assert max(len(piece["body"]) for piece in pieces) <= 65_536
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [False]


@pytest.mark.slow
def test_a_client_that_does_not_read_is_closed(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The response is counted while it is sent; then it is freed, and the connection is closed early."""
    served.ask("long", count=59)
    whole = memory.BUDGET
    wait_until(served, whole)
    monkeypatch.setattr(sending, "READ_TIMEOUT", 2.0)
    asks = ("POST /v1/learners/long/ask", "content-length: 13\r\n", b'{"count": 59}')
    for path, head, body in (asks, ("GET /v1/learners/long/recent?limit=59", "", b"")):
        with sent(served, path, head, body, window=4096) as connection:
            wait_until(served, whole - (1 << 20), or_less=True)
            wait_until(served, whole)
            answer = b""
            while piece := connection.recv(1 << 20):
                answer += piece
        start, _, rest = answer.partition(b"\r\n\r\n")
        assert start.startswith(b"HTTP/1.1 200")
        assert len(rest) < int(start.partition(b"content-length: ")[2].split(b"\r\n")[0])


def test_bodies_share_the_memory(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large one is put off while another is there. Small ones are not, nor what is only announced."""
    monkeypatch.setattr(memory, "BUDGET", 0)
    size = 150_000
    body = json.dumps({"decision": "0" * 32, "cost": "x" * (size - 60)}).encode().ljust(size)
    tell = "/v1/learners/shop/tell"
    with service(tmp_path / "shop.db", max_body=200_000, log_requests=False) as served:
        whole = left(served)
        assert whole == 200_000 * PER_BYTE
        head = f"content-length: {size}\r\n"
        with sent(served, f"POST {tell}", head, b""):
            assert served.worker.post(tell, content=body).status_code == 404
        for announced, part in (
            (head, body[:-1]),
            ("transfer-encoding: chunked\r\n", b"186a0\r\n" + body[:100_000]),
        ):
            with sent(served, f"POST {tell}", announced, part):
                wait_until(served, whole - 100_000 * PER_BYTE, or_less=True)
                answer = served.worker.post(tell, content=body)
                assert (answer.status_code, code_of(answer)) == (503, "busy")
                assert answer.headers["retry-after"] == "1"
                answer = served.admin.post("/v1/learners", content=body)
                assert (answer.status_code, code_of(answer)) == (503, "busy")
                served.ask(count=5)
            wait_until(served, whole)
        assert served.worker.post(tell, content=body).status_code == 404
        wait_until(served, whole)


def test_a_refused_request_has_changed_nothing(served: Service) -> None:
    """No decision is made for an answer that could not be kept; what has been done is said all the same."""
    served.ask("long")
    before = served.learner_service.learner("long").counts
    served.app._memory.left, whole = 0, left(served)
    for answer in (
        served.worker.post("/v1/learners/long/ask", json={"count": 59}),
        served.reader.get("/v1/learners/long/recent"),
    ):
        assert (answer.status_code, code_of(answer)) == (503, "busy")
    assert served.learner_service.learner("long").counts == before
    assert served.worker.post("/v1/learners/long/ask", json={"count": 10**20}).status_code == 503
    answer = served.admin.post("/v1/learners/long/archive")
    assert answer.json()["status"] == "archived"
    wait_until(served, 0)
    served.app._memory.left = whole
    answer = served.worker.post("/v1/learners/shop/ask", json={"count": 10**20})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_request")


def test_no_body_is_read_without_a_key(served: Service) -> None:
    """Who has no key can send no body, whatever the address."""
    answer = served.nobody.request("GET", "/openapi.json", content=b"x" * (5 << 20))
    assert answer.status_code == 200
    assert served.admin.request("GET", "/openapi.json", content=b"x" * (5 << 20)).status_code == 413


def test_large_asks_are_read_by_a_thread(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others need not wait for it."""
    threads: list[threading.Thread] = []
    read_json = ask_tell.read_json

    def noted(body: bytes) -> Any:
        threads.append(threading.current_thread())
        return read_json(body)

    monkeypatch.setattr(ask_tell, "read_json", noted)
    names: Any = LONG["items"]
    for available in (names[:5], names, names[5:10]):
        assert set(served.ask("long", available=available)[0]["subset"]) <= set(available)
    assert threads[0] is threads[2]
    assert threads[1] is not threads[0]
