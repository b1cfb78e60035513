"""Fixtures of the tests of the service."""

import logging
import pathlib
from collections.abc import Iterator

import pytest

from discreet.service.web import logs


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """The key in the environment, and the rollback guard in the test's folder, for PostgreSQL."""
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", str(tmp_path / "rollback guard"))


@pytest.fixture
def same_logging_afterwards() -> Iterator[None]:
    """Serving sends all messages of a process elsewhere."""
    loggers = [logging.getLogger(name) for name in (None, *logs.OTHERS)]
    before = [(list(one.handlers), one.level, one.propagate, one.disabled) for one in loggers]
    yield
    for one, (handlers, level, propagate, disabled) in zip(loggers, before, strict=True):
        one.handlers[:], one.propagate, one.disabled = handlers, propagate, disabled
        one.setLevel(level)
