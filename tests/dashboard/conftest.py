"""A real server and a real Chromium for the tests of the dashboard."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from live_service import LiveService
from visits import Visit

from benchmarks import chromium


def missing(reason: str) -> None:
    if os.environ.get("DISCREET_REQUIRE_CHROMIUM") == "1":
        pytest.fail(f"Chromium is required here, but {reason}.")
    pytest.skip(f"No Chromium can be had: {reason}.")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """One server for all tests; each has learners of its own."""
    running = LiveService(pathlib.Path(tmp_path_factory.mktemp("service")))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for a module: while it runs, no other event loop can."""
    found = chromium.program()
    if found is None:
        missing("neither chromium nor google-chrome is installed")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ModuleNotFoundError:
        missing("playwright is not installed")
    expect.set_options(timeout=15_000)  # an update comes every two seconds, and machines are shared
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=list(chromium.FLAGS))
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any, service: LiveService) -> Iterator[Visit]:
    """Somebody who opens the dashboard. Afterwards nothing may have gone wrong, or to another host."""
    made = Visit(browser, service)
    yield made
    made.end()
