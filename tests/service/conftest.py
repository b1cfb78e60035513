"""Fixtures of the tests of the service."""

import pathlib

import pytest


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """The key in the environment, and the rollback guard in the test's folder, for PostgreSQL."""
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", str(tmp_path / "rollback guard"))
