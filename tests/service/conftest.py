"""Fixtures of the tests of the service."""

import logging
import pathlib
from collections.abc import Iterator

import pytest
from service_helpers import Clock

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


@pytest.fixture
def same_logging_afterwards() -> Iterator[None]:
    """Serving sends all messages of a process elsewhere."""
    loggers = [logging.getLogger(name) for name in (None, admin_log.NAME, *logs.OTHERS)]
    before = [(list(one.handlers), one.level, one.propagate, one.disabled) for one in loggers]
    yield
    for one, (handlers, level, propagate, disabled) in zip(loggers, before, strict=True):
        one.handlers[:], one.propagate, one.disabled = handlers, propagate, disabled
        one.setLevel(level)
