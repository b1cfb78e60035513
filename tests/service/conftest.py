"""Fixtures of the tests of the service."""

import pathlib

import pytest


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """The key in the environment, and the witness in the test's folder: for stores that are no files."""
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_WITNESS", str(tmp_path / "witness"))
