"""Fixtures of the tests of the service."""

import logging
import pathlib
import secrets
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from service_helpers import Clock

from another_process import started
from discreet.service import admin_log
from discreet.service.web import logs


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """The key in the environment, and the rollback guard in the test's folder, for PostgreSQL."""
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", str(tmp_path / "rollback guard"))


@pytest.fixture
def clock() -> Clock:
    """A clock that a test sets."""
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a store may be: in a file, and on a PostgreSQL server, with a key and a guard."""
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", str(tmp_path / "guard"))
    return str(tmp_path / "service.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


_OBJECTS = "import sys; from moto.server import main; main(['-p', sys.argv[1]])"


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """The address of an object store in another process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, end = f"http://127.0.0.1:{port}", time.monotonic() + 120
    with started(_OBJECTS, port) as process:
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{address}/moto-api/data.json").close()
                    break
                except urllib.error.URLError:
                    assert process.poll() is None
                    assert time.monotonic() < end
                    time.sleep(0.05)
            yield address
        finally:
            process.kill()
            process.communicate()


@pytest.fixture
def bucket(object_store: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a new bucket; how to reach it is in the environment."""
    name = f"bucket-{secrets.token_hex(4)}"
    request = urllib.request.Request(f"{object_store}/{name}", method="PUT")
    urllib.request.urlopen(request).close()
    monkeypatch.setenv("AWS_ENDPOINT", object_store)
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(variable, "us-east-1")
    return f"s3://{name}"


@pytest.fixture
def same_logging_afterwards() -> Iterator[None]:
    """Serving sends all messages of a process elsewhere."""
    loggers = [logging.getLogger(name) for name in (None, admin_log.NAME, *logs.OTHERS)]
    before = [(list(one.handlers), one.level, one.propagate, one.disabled) for one in loggers]
    yield
    for one, (handlers, level, propagate, disabled) in zip(loggers, before, strict=True):
        one.handlers[:], one.propagate, one.disabled = handlers, propagate, disabled
        one.setLevel(level)
