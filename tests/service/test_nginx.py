"""A real nginx with the shipped configuration in front of a service.

It keeps nothing that passes. Attacks end at it: others are answered meanwhile, and the service sees whole
requests only.
"""

import contextlib
import json
import pathlib
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator

import http_helpers
import httpx2
import pytest
from http_helpers import BANDIT, Service, service
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nginx_server import SHIPPED, Nginx, running

pytestmark = pytest.mark.process

#: A cost that nothing else would write, and bytes of a body that holds it many times.
PLANTED = "0.73105857863"
SIZE = 3_900_000
#: A learner whose sets are long: 59 of them are 4 MiB.
LONG = BANDIT | {"name": "long", "items": [f"{place:06d}-" + "x" * 60 for place in range(1000)]}
#: Where attacks come from: another address than that of the honest client.
ELSEWHERE = "127.0.0.2"
#: Connections of an attack, and how many requests at a time one address may have.
MANY = 300
(AT_A_TIME,) = map(int, re.findall(r"limit_conn discreet_addresses (\d+);", SHIPPED.read_text()))


class Watched:
    """The service's application, and what has reached it.

    Attributes:
        learners: Whom asks and tells were about, in the order in which they came.
        broken: How many bodies ended before their announced length.
        answered: How many answers the server was given to send.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.learners: list[str] = []
        self.broken = self.answered = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.learners.append("".join(scope["path"].split("/")[3:4]))
        awaited = int(dict(scope["headers"]).get(b"content-length", b"0"))

        async def received() -> Message:
            nonlocal awaited
            message = await receive()
            awaited -= len(message.get("body", b""))
            self.broken += message["type"] == "http.disconnect" and awaited > 0
            return message

        async def sent(message: Message) -> None:
            await send(message)
            self.answered += message["type"] == "http.response.body"

        await self._app(scope, received, sent)


@pytest.fixture
def served(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    create = http_helpers.create_app
    with monkeypatch.context() as patched:
        patched.setattr(http_helpers, "create_app", lambda *given, **more: Watched(create(*given, **more)))
        with service(tmp_path / "shop.db", log_requests=False) as found:
            assert found.admin.post("/v1/learners", json=LONG).status_code == 201
            found.app.learners.clear()
            yield found


@pytest.fixture
def nginx(
    served: Service,
    tmp_path: pathlib.Path,
    certificate: tuple[pathlib.Path, pathlib.Path],
    request: pytest.FixtureRequest,
) -> Iterator[Nginx]:
    """Without the directives that a test names."""
    without = getattr(request, "param", ())
    upstream = served.address.removeprefix("http://")
    with running(tmp_path / "nginx", upstream, certificate, without) as found:
        yield found


@pytest.fixture
def impatient(
    served: Service, tmp_path: pathlib.Path, certificate: tuple[pathlib.Path, pathlib.Path]
) -> Iterator[Nginx]:
    """It does not wait as long as the shipped one for those who are slow."""
    upstream = served.address.removeprefix("http://")
    with running(tmp_path / "nginx", upstream, certificate, patience="3s") as found:
        yield found


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def unchecked() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def plain(nginx: Nginx, window: int = 0, source: str = "127.0.0.1") -> socket.socket:
    """A connection on which nothing was said."""
    connection = socket.socket()
    if window:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    connection.settimeout(120)
    connection.bind((source, 0))
    connection.connect(("127.0.0.1", nginx.port))
    return connection


def connected(nginx: Nginx, window: int = 0, source: str = "127.0.0.1") -> ssl.SSLSocket:
    return unchecked().wrap_socket(plain(nginx, window, source))


def answer(connection: socket.socket) -> bytes:
    """All that comes until nginx closes a connection."""
    found = b""
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while piece := connection.recv(1 << 16):
            found += piece
    return found


def said(connection: socket.socket) -> bytes | None:
    """What nginx has said so far; nothing if it has closed the connection, None if it still listens."""
    connection.setblocking(False)
    try:
        return connection.recv(100)
    except (BlockingIOError, ssl.SSLWantReadError):
        return None
    except OSError:
        return b""
    finally:
        connection.settimeout(120)


def head(served: Service, path: str, *lines: str) -> bytes:
    key = served.worker.headers["authorization"]
    return "\r\n".join([f"POST {path} HTTP/1.1", "host: x", f"authorization: {key}", *lines, "", ""]).encode()


def feedback(served: Service) -> bytes:
    """A large body with the planted cost in it from its first bytes to its last."""
    told = [{"decision": each["id"], "cost": float(PLANTED)} for each in served.ask(count=1000)]
    body = json.dumps(told)
    assert PLANTED in body
    return (body[:-1] + " " * (SIZE - 2 * len(body)) + "," + body[1:]).encode()


@contextlib.contextmanager
def an_honest_client(served: Service, nginx: Nginx) -> Iterator[Callable[[], None]]:
    """One that asks and tells all the time, and must be answered; yields a wait for twenty more answers."""
    answers: list[int] = []
    over = threading.Event()
    headers = {"authorization": served.worker.headers["authorization"]}
    address = f"https://127.0.0.1:{nginx.port}/v1/learners/shop"

    def work() -> None:
        with httpx2.Client(headers=headers, verify=unchecked(), timeout=120, trust_env=False) as client:
            while not over.is_set():
                asked = client.post(f"{address}/ask")
                answers.append(asked.status_code)
                told = {"decision": asked.json()["decisions"][0]["id"], "cost": 0.5}
                answers.append(client.post(f"{address}/tell", json=told).status_code)

    def more() -> None:
        wanted = len(answers) + 20
        until(lambda: len(answers) >= wanted or not working.is_alive())
        assert working.is_alive()

    working = threading.Thread(target=work)
    working.start()
    try:
        more()
        yield more
        more()
    finally:
        over.set()
        working.join()
    assert set(answers) == {200}


def assert_only_the_honest_arrived(served: Service) -> None:
    """Attacks are about another learner."""
    assert set(served.app.learners) == {"shop"}
    assert served.app.broken == 0


def test_a_flood_of_headers_ends_at_nginx(served: Service, impatient: Nginx) -> None:
    """However it is made up, nginx ends it, and the service hears nothing of it."""
    start = head(served, "/v1/learners/long/ask")[:-2]
    floods = {
        "many": (start, b"x: y\r\n" * 100),
        "long": (start + b"x: ", b"x" * 4096),
        "address": (b"POST /v1/learners/long/ask?", b"x" * 4096),
    }
    with an_honest_client(served, impatient) as more:
        for first, endless in [*floods.values()] * 5:
            with connected(impatient, source=ELSEWHERE) as connection:
                connection.sendall(first)
                while (found := said(connection)) is None:
                    with contextlib.suppress(ConnectionError):
                        connection.sendall(endless)
            assert re.match(rb"HTTP/1.1 4(00|14) |$", found)
        more()
        with connected(impatient, source=ELSEWHERE) as connection, contextlib.suppress(OSError):
            while True:  # nothing of this is kept, until its time is over
                connection.send(b"\r\n" * 2048)
    assert_only_the_honest_arrived(served)


def test_silent_connections_end_at_nginx(served: Service, impatient: Nginx) -> None:
    """Three hundred that say nothing, do not end their headers, or only begin to encrypt: all are closed."""
    with an_honest_client(served, impatient) as more, contextlib.ExitStack() as stack:
        silent: list[socket.socket] = []
        for number in range(MANY):
            if number % 3 == 0:
                silent.append(stack.enter_context(plain(impatient, source=ELSEWHERE)))
                continue
            silent.append(stack.enter_context(connected(impatient, source=ELSEWHERE)))
            if number % 3 == 1:
                with contextlib.suppress(OSError):
                    silent[-1].sendall(head(served, "/v1/learners/long/ask")[:-2])
        more()
        until(lambda: all(said(connection) == b"" for connection in silent))
        more()
    assert_only_the_honest_arrived(served)


def test_slow_bodies_end_at_nginx(served: Service, impatient: Nginx) -> None:
    """One address has no more than its share of requests at a time; and who stops sending is closed."""
    with an_honest_client(served, impatient) as more, contextlib.ExitStack() as stack:
        slow: list[ssl.SSLSocket] = []
        start = head(served, "/v1/learners/long/ask", "content-length: 1000") + b"{"
        for _ in range(MANY):
            slow.append(stack.enter_context(connected(impatient, source=ELSEWHERE)))
            slow[-1].sendall(start)
            for each in slow:  # a byte now and then
                with contextlib.suppress(OSError):
                    each.send(b" ")
        more()
        found = [answer(connection) for connection in slow]
        refused = [each for each in found if each.startswith(b"HTTP/1.1 429 ")]
        assert len(refused) >= MANY - AT_A_TIME
        assert set(found) - set(refused) <= {b""}
        more()
    assert_only_the_honest_arrived(served)


def test_large_bodies_end_at_nginx(served: Service, nginx: Nginx) -> None:
    """Those too large are refused, and those not yet whole wait in its memory."""
    before = nginx.changed()
    with an_honest_client(served, nginx) as more, contextlib.ExitStack() as stack:
        for _ in range(5):
            with connected(nginx, source=ELSEWHERE) as connection:
                length = f"content-length: {5 << 20}"
                connection.sendall(head(served, "/v1/learners/long/tell", length, "connection: close"))
                assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
        for _ in range(10):
            connection = stack.enter_context(connected(nginx, source=ELSEWHERE))
            connection.sendall(head(served, "/v1/learners/long/tell", f"content-length: {SIZE}"))
            connection.sendall(b" " * (SIZE - 1))
        more()
        assert_only_the_honest_arrived(served)
    assert_only_the_honest_arrived(served)
    assert nginx.changed() == before


def test_a_body_in_chunks_is_refused(served: Service, nginx: Nginx) -> None:
    """With its chunks it could be larger than nginx keeps in memory; the clients announce a length."""
    with connected(nginx) as connection:
        lines = ("transfer-encoding: chunked", "connection: close")
        connection.sendall(head(served, "/v1/learners/long/ask", *lines) + b"2\r\n{}\r\n0\r\n\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 411 ")
    assert served.app.learners == []


def test_a_body_arrives_whole(served: Service, nginx: Nginx) -> None:
    """The service hears of a request once its last byte is there."""
    with an_honest_client(served, nginx) as more, connected(nginx) as connection:
        connection.sendall(head(served, "/v1/learners/long/ask", "content-length: 12") + b'{"count"')
        more()
        assert_only_the_honest_arrived(served)
        connection.sendall(b": 1}")
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        assert served.app.learners.count("long") == 1


def test_no_body_is_written(served: Service, nginx: Nginx) -> None:
    """Not while it comes, in files with or without a name, and not for a moment before or after."""
    body, before = feedback(served), nginx.changed()
    with connected(nginx) as connection:
        connection.sendall(head(served, "/v1/learners/shop/tell", f"content-length: {len(body)}") + body[:-1])
        assert PLANTED.encode() not in nginx.written()
        connection.sendall(body[-1:])
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    assert nginx.changed() == before
    assert PLANTED.encode() not in nginx.written()
    assert served.learner_service.learner("shop").counts.told == 1000


def test_no_answer_is_written(served: Service, nginx: Nginx) -> None:
    """Somebody who does not read makes the service wait; nothing is put aside."""
    before, earlier = nginx.changed(), served.app.answered
    with connected(nginx, window=4096) as connection:
        asked = head(served, "/v1/learners/long/ask", "content-length: 13", "connection: close")
        connection.sendall(asked + b'{"count": 59}')
        until(lambda: served.app.answered > earlier)
        found = answer(connection)
    assert found.startswith(b"HTTP/1.1 200 ")
    assert len(found) > 1_000_000
    assert nginx.changed() == before


@pytest.mark.parametrize("nginx", [("client_body_buffer_size",)], indirect=True)
def test_without_these_lines_bodies_are_written(served: Service, nginx: Nginx) -> None:
    """What the tests above look for is there to be found: nginx by itself writes costs to its disk."""
    body, before = feedback(served), nginx.changed()
    with connected(nginx) as connection:
        sent = head(served, "/v1/learners/shop/tell", f"content-length: {len(body)}") + body[:-1]
        connection.sendall(sent)
        until(lambda: nginx.changed() != before)
        until(lambda: PLANTED.encode() in nginx.written())


@pytest.mark.parametrize("nginx", [("proxy_max_temp_file_size",)], indirect=True)
def test_without_this_line_answers_are_written(served: Service, nginx: Nginx) -> None:
    """The same for what is answered."""
    before = nginx.changed()
    with connected(nginx, window=4096) as connection:
        connection.sendall(head(served, "/v1/learners/long/ask", "content-length: 13") + b'{"count": 59}')
        until(lambda: nginx.changed() != before)
