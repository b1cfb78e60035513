"""The dashboard's files: what is in them, and the headers they are served with."""

from __future__ import annotations

import re
import urllib.error
import urllib.request

import pytest
from live_service import LiveService

from discreet.dashboard import POLICY, File, files


def named(start: str, ending: str) -> File:
    return next(file for file in files() if file.path.startswith(start) and file.path.endswith(ending))


def test_the_page_names_the_files_that_are_served() -> None:
    """Style and scripts are named after their content, and found under these names."""
    page, script = named("/", "/").body.decode(), named("/dashboard", ".js").body.decode()
    assert set(re.findall(r'(?:href|src)="([a-z]+\.[^"]*)"', page)) == {
        named("/dashboard", ".css").path[1:],
        named("/dashboard", ".js").path[1:],
        "openapi.json",
    }
    modules = ("/charts", "/learner", "/messages", "/page")
    others = [f".{named(name, '.js').path}" for name in modules]
    assert re.findall(r'from "(.*)"', script) == others
    names = re.findall(r'from "\.(.*)"', "".join(file.body.decode() for file in files()))
    assert set(names) <= {file.path for file in files()}


def test_the_policy_lets_nothing_else_in() -> None:
    """No inline code, no other host, no frame around the page, no markup made by a script."""
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert (
        rules["script-src"] == rules["style-src"] == rules["connect-src"] == rules["form-action"] == "'self'"
    )
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_the_page_needs_no_inline_code_and_no_other_host() -> None:
    """Neither styles nor handlers are written into it, and no address leads elsewhere."""
    page = named("/", "/").body.decode()
    assert not re.search(r"<style|style=|\son\w+=|javascript:|<script[^>]*>[^<]", page)
    assert set(re.findall(r"https?://[^'\" ]*", "".join(file.body.decode() for file in files()))) == {
        "http://www.w3.org/2000/svg"
    }
    assert " name=" not in page.partition("<form")[2].partition("</form>")[0]  # a form sends no key by itself


def test_files_are_served_with_their_headers(service: LiveService) -> None:
    """Without a key; the page is requested every time, the others may be cached."""
    for file in files():
        with urllib.request.urlopen(service.address + file.path, timeout=30) as answer:
            assert answer.read() == file.body
            for name, value in file.headers.items():
                assert answer.headers.get_all(name) == [value]
            kept = "no-cache" if file.path == "/" else "immutable"
            assert kept in answer.headers["cache-control"]
    asked = urllib.request.Request(service.address, method="HEAD")
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_other_responses_are_not_cached(service: LiveService) -> None:
    """Browsers do not store responses, and unhashed names are not served."""
    with urllib.request.urlopen(f"{service.address}/livez", timeout=30) as answer:
        assert answer.headers.get_all("cache-control") == ["no-store"]
    with pytest.raises(urllib.error.HTTPError, match="404") as raised:
        urllib.request.urlopen(f"{service.address}/dashboard.js", timeout=30)
    raised.value.close()
