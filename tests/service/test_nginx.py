"""A real nginx with the shipped configuration in front of a service: it keeps nothing that passes."""

import contextlib
import json
import pathlib
import socket
import ssl
import time
from collections.abc import Callable, Iterator

import pytest
from http_helpers import BANDIT, Service, service

from nginx_server import Nginx, running

pytestmark = pytest.mark.process

#: A cost that nothing else would write, and bytes of a body that holds it many times.
PLANTED = "0.73105857863"
SIZE = 3_900_000
#: A learner whose sets are long: 59 of them are 4 MiB.
LONG = BANDIT | {"name": "long", "items": [f"{place:06d}-" + "x" * 60 for place in range(1000)]}


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[Service]:
    with service(tmp_path / "shop.db", log_requests=False) as found:
        assert found.admin.post("/v1/learners", json=LONG).status_code == 201
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


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextlib.contextmanager
def connected(nginx: Nginx, window: int = 0) -> Iterator[ssl.SSLSocket]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.socket() as plain:
        if window:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        plain.settimeout(60)
        plain.connect(("127.0.0.1", nginx.port))
        with context.wrap_socket(plain) as connection:
            yield connection


def head(served: Service, path: str, *lines: str) -> bytes:
    key = served.worker.headers["authorization"]
    return "\r\n".join([f"POST {path} HTTP/1.1", "host: x", f"authorization: {key}", *lines, "", ""]).encode()


def feedback(served: Service) -> bytes:
    """A large body with the planted cost in it from its first bytes to its last."""
    told = [{"decision": each["id"], "cost": float(PLANTED)} for each in served.ask(count=1000)]
    body = json.dumps(told)
    assert PLANTED in body
    return (body[:-1] + " " * (SIZE - 2 * len(body)) + "," + body[1:]).encode()


def left(served: Service) -> int:
    found: int = served.app._memory.left
    return found


@pytest.mark.parametrize("chunked", [False, True])
def test_no_body_is_written(served: Service, nginx: Nginx, chunked: bool) -> None:
    """Not while it comes, in files with or without a name, and not for a moment before or after."""
    body, before, whole = feedback(served), nginx.changed(), left(served)
    line = "transfer-encoding: chunked" if chunked else f"content-length: {len(body)}"
    parts = [b"%x\r\n%s\r\n" % (len(body), body), b"0\r\n\r\n"] if chunked else [body[:-1], body[-1:]]
    with connected(nginx) as connection:
        connection.sendall(head(served, "/v1/learners/shop/tell", line) + parts[0])
        until(lambda: left(served) < whole - 20 * SIZE)  # all of that has passed through nginx
        assert PLANTED.encode() not in nginx.written()
        connection.sendall(parts[1])
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    assert nginx.changed() == before
    assert PLANTED.encode() not in nginx.written()
    assert served.learner_service.learner("shop").counts.told == 1000


def test_no_answer_is_written(served: Service, nginx: Nginx) -> None:
    """Somebody who does not read makes the service wait; nothing is put aside."""
    before, whole = nginx.changed(), left(served)
    with connected(nginx, window=4096) as connection:
        asked = head(served, "/v1/learners/long/ask", "content-length: 13", "connection: close")
        connection.sendall(asked + b'{"count": 59}')
        until(lambda: left(served) < whole)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert len(answer) > 1_000_000
    assert nginx.changed() == before


@pytest.mark.parametrize("nginx", [("client_body_buffer_size", "proxy_request_buffering")], indirect=True)
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
