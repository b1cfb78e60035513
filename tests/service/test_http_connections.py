"""What somebody without a key can make the server keep: connections, headers, trailers."""

import contextlib
import pathlib
import socket
import threading
from collections.abc import Iterator

import pytest
from http_helpers import Service, service

from discreet.service.web import connections, limits

GET = "GET /livez HTTP/1.1\r\nhost: x\r\n"
CHUNKED = "POST /v1/learners/shop/ask HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n"


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[Service]:
    with service(tmp_path / "shop.db", connections=8, log_requests=False) as found:
        yield found


def opened(served: Service) -> socket.socket:
    host, port = served.address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.settimeout(30)
    return connection


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection; fails if it does not."""
    answer = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65_536):
            answer += piece
    return answer


def answer_to(connection: socket.socket, sent: str | bytes) -> bytes:
    """One response without a body that matters."""
    connection.sendall(sent.encode() if isinstance(sent, str) else sent)
    return connection.recv(65_536)


@pytest.mark.parametrize(
    ("head", "endless"),
    [
        (GET + "x: ", b"x" * 4096),
        (GET, b"x: y\r\n" * 100),
        ("GET /", b"x" * 4096),
        ("", b"\r\n" * 2048),
        (f"{CHUNKED}\r\n5;", b"x" * 4096),
        (f"{CHUNKED}\r\n0\r\nx: ", b"x" * 4096),
        (f"{CHUNKED}\r\n0\r\n", b"x: y\r\n" * 100),
    ],
    ids=["a value", "headers", "an address", "nothing", "an extension", "a trailer", "trailers"],
)
def test_what_precedes_a_body_is_limited(served: Service, head: str, endless: bytes) -> None:
    """However it is made up, the server stops reading after some 100 KB, and closes the connection."""
    sent = 0
    with opened(served) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        connection.sendall(head.encode())
        with contextlib.suppress(ConnectionError):
            while sent < 64 << 20:
                sent += connection.send(endless)
        assert sent < 16 << 20  # what systems keep on the way
        rest(connection)
    assert served.nobody.get("/livez").status_code == 200


def test_too_large_headers_have_a_status(served: Service) -> None:
    """431, by their bytes and by their number; what is just within the limits is answered."""
    for headers, status in (
        (f"x: {'x' * 33_000}\r\n", 431),
        ("x: y\r\n" * 101, 431),
        (f"x: {'x' * 32_000}\r\n", 200),
        ("x: y\r\n" * 99, 200),
    ):
        with opened(served) as connection:
            assert answer_to(connection, f"{GET}{headers}\r\n").startswith(b"HTTP/1.1 %d " % status)


def test_trailers_are_no_headers(served: Service) -> None:
    """A key that comes after the body is no key, also where the body and it arrive at once."""
    key = served.admin.headers["authorization"]
    for start in ("GET /v1/learners", "POST /v1/learners/shop/ask"):
        with opened(served) as connection:
            head = f"{start} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
            answer = answer_to(connection, f"{head}2\r\n{{}}\r\n0\r\nauthorization: {key}\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 401 ")
            again = answer_to(connection, f"{GET}authorization: {key}\r\n\r\n")
            assert again.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("", ""),
        ("", "GET /li"),
        (f"{GET}\r\n", "GET /li"),
        ("POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n", "{"),
    ],
    ids=["nothing", "half a head", "half another", "half a body without a key"],
)
def test_silent_connections_are_closed(
    served: Service, monkeypatch: pytest.MonkeyPatch, first: str, then: str
) -> None:
    """Whatever a connection waits for, it does not wait for ever."""
    monkeypatch.setattr(connections, "HEAD_TIMEOUT", 0.3)
    with opened(served) as connection:
        if first:
            assert answer_to(connection, first).startswith(b"HTTP/1.1 ")
        with contextlib.suppress(ConnectionError):
            connection.sendall(then.encode())
        rest(connection)


def test_headers_that_trickle_are_closed(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then does not keep a connection."""
    monkeypatch.setattr(connections, "HEAD_TIMEOUT", 0.3)
    with opened(served) as connection, contextlib.suppress(ConnectionError):
        connection.settimeout(0.02)
        connection.sendall(GET.encode())
        while True:
            connection.sendall(b"x: y\r\n")
            with contextlib.suppress(TimeoutError):
                if connection.recv(4096) == b"":
                    break


def test_silent_connections_make_room(served: Service) -> None:
    """Four times as many as there may be: everybody else is answered, and those in use stay."""
    with contextlib.ExitStack() as stack:
        used = stack.enter_context(opened(served))
        silent = []
        for _ in range(32):
            silent.append(stack.enter_context(opened(served)))
            assert answer_to(used, f"{GET}\r\n").startswith(b"HTTP/1.1 200 ")
        assert served.nobody.get("/livez").status_code == 200
        assert served.reader.get("/v1/learners").status_code == 200
        for connection in silent[:20]:
            assert rest(connection) == b""


def test_health_is_told_when_all_connections_are_busy(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are put off with 503 until there is room again."""
    monkeypatch.setattr(limits, "BODY_TIMEOUT", 30.0)
    key = served.worker.headers["authorization"]
    head = f"POST /v1/learners/shop/ask HTTP/1.1\r\nhost: x\r\nauthorization: {key}\r\ncontent-length: 2\r\n"
    for holder in (served.admin, served.worker, served.reader, served.nobody):
        holder.close()
    with contextlib.ExitStack() as stack:
        busy = [stack.enter_context(opened(served)) for _ in range(8)]
        for connection in busy:
            wanted = answer_to(connection, f"{head}expect: 100-continue\r\n\r\n")  # asked for: it is running
            assert wanted.startswith(b"HTTP/1.1 100 ")
        for path, status in (("/livez", 200), ("/v1/learners", 503), ("/livez", 200)):
            with opened(served) as late:
                answer = answer_to(late, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
                assert answer.startswith(b"HTTP/1.1 %d " % status)
        for connection in busy:
            assert answer_to(connection, "{}").startswith(b"HTTP/1.1 200 ")


def test_requests_sent_ahead_are_limited(served: Service) -> None:
    """A connection that sends thousands at once is closed; a few are answered in their order."""
    with opened(served) as connection:
        connection.sendall(f"{GET}\r\n".encode() * 10)
        answers = b""
        while answers.count(b"HTTP/1.1 200 ") < 10:
            answers += connection.recv(65_536)
    with opened(served) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(f"{GET}\r\n".encode() * 5000)
        assert rest(connection).count(b"HTTP/1.1 200 ") < 5000


def test_wrong_keys_do_not_touch_health_checks(tmp_path: pathlib.Path) -> None:
    """They use up the rate of those without a key, which health checks do not need."""
    with service(tmp_path / "shop.db", rate=2, log_requests=False) as served:
        headers = {"authorization": "Bearer discreet_" + "0" * 16 + "_" + "0" * 64}
        codes = [served.nobody.get("/v1/learners", headers=headers).status_code for _ in range(10)]
        assert set(codes) == {401, 429}
        for _ in range(5):
            assert served.nobody.get("/livez", headers=headers).status_code == 200
            assert served.nobody.get("/readyz", headers=headers).status_code == 200


def test_readiness_is_checked_once_however_many_ask(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood of checks is no flood of writes; one that hangs is told as such, and stops nothing else."""
    from discreet.service.web import health

    monkeypatch.setattr(health, "_TIMEOUT", 0.2)
    calls: list[int] = []
    let = threading.Event()

    def hangs() -> None:
        calls.append(1)
        assert let.wait(30)

    monkeypatch.setattr(served.learner_service, "ready", hangs)
    for _ in range(3):
        answer = served.nobody.get("/readyz")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
    assert served.nobody.get("/livez").status_code == 200
    assert len(calls) == 1
    let.set()
    while served.nobody.get("/readyz").status_code != 200:
        pass
