"""A real server for the tests of the dashboard, and somebody who looks at it in a real Chromium."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from live_service import LiveService
from visits import Visit


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """One server for all tests; each has learners of its own."""
    running = LiveService(pathlib.Path(tmp_path_factory.mktemp("service")))
    yield running
    running.stop()


@pytest.fixture
def visit(browser: Any, service: LiveService) -> Iterator[Visit]:
    """Somebody who opens the dashboard. Afterwards nothing may have gone wrong, or to another host."""
    made = Visit(browser, service)
    yield made
    made.end()
