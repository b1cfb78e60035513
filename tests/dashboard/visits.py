"""A visitor of the dashboard, and the errors of their browser."""

from __future__ import annotations

import urllib.parse
from typing import Any

from live_service import LiveService

try:
    from playwright.sync_api import expect
except ModuleNotFoundError:  # the fixture `browser` says so
    expect: Any = None

#: What a browser writes to its console about any request that failed; a page cannot prevent it.
_UNAVOIDABLE = "Failed to load resource"


class Visit:
    """A tab of its own.

    Args:
        browser: Playwright's.
        service: The server.
        options: Of the tab, such as its colour scheme.

    Attributes:
        page: Playwright's page.
        failures_expected: Whether requests are meant to fail.
    """

    def __init__(self, browser: Any, service: LiveService, **options: Any) -> None:
        self._context = browser.new_context(**options)
        self._service = service
        self.page = self._context.new_page()
        self.page.set_default_timeout(15_000)
        self.failures_expected = False
        self._complaints: list[str] = []
        self.addresses: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self._complaints.append(f"uncaught: {error}"))
        self.page.on("request", lambda request: self.addresses.append(request.url))

    def _hear(self, said: Any) -> None:
        if said.type == "error":
            self._complaints.append(said.text)

    def go(self, place: str = "") -> Any:
        """Open the page, without a key."""
        self.page.goto(f"{self._service.address}/{place}")
        return self.page

    def enter(self, place: str = "", key: str | None = None) -> Any:
        """Open the page and give a key."""
        self.go(place).get_by_label("API key").fill(self._service.reader if key is None else key)
        self.page.keyboard.press("Enter")
        return self.page

    def end(self) -> None:
        self._context.close()
        bad = [text for text in self._complaints if not (self.failures_expected and _UNAVOIDABLE in text)]
        assert bad == []
        loaded = {urllib.parse.urlsplit(url).netloc for url in self.addresses if not url.startswith("data:")}
        assert loaded <= {urllib.parse.urlsplit(self._service.address).netloc}
        assert not any(self._service.reader in url for url in self.addresses)


def fact(page: Any, term: str) -> Any:
    """The figure under a term, on a learner's page."""
    return page.locator("#facts > div").filter(has=page.get_by_text(term, exact=True)).locator("dd")


def row(page: Any, table: str, name: str) -> Any:
    """The row of a table that begins with a name."""
    return page.locator(f"#{table} tbody tr").filter(has=page.get_by_role("rowheader", name=name, exact=True))
