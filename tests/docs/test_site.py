"""The built site in a real browser: formulas, code and tables are seen whole, and no other host is asked."""

import contextlib
import functools
import html
import http.server
import pathlib
import re
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any

import pytest

from code_blocks import ROOT

DOCS = ROOT / "docs"
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", flags=re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", flags=re.DOTALL)
#: A dollar sign, a command or a brace of TeX, outside of code.
_RAW = re.compile(r".{0,20}(?:\$|\\[A-Za-z()\[\]{|,]|[_^]\{).{0,20}")
_HIDE = ".katex-mathml, pre, code { display: none !important }"  # what screen readers read, and code


def formulas_of(page: pathlib.Path) -> list[str]:
    """The TeX of all formulas of a page of Markdown, in order."""
    found = _FORMULA.findall(_CODE.sub("", page.read_text()))
    return [" ".join((display or inline).split()) for display, inline in found]


def typeset(tab: Any) -> list[str]:
    """The TeX of all formulas that became elements of mathematics."""
    texts = tab.locator("math annotation").all_text_contents()
    return [" ".join(text.split()) for text in texts]


def raw(tab: Any) -> list[str]:
    """Places where the visible text of a page still shows TeX, or that it could not be read."""
    tab.add_style_tag(content=_HIDE)
    return _RAW.findall(tab.locator("body").inner_text()) + tab.locator(".katex-error").all_text_contents()


@contextlib.contextmanager
def served(folder: pathlib.Path) -> Iterator[str]:
    """The address of a server of these files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def built() -> pathlib.Path:
    """The site, as `make docs` builds it, or has built it since the last change of what it is made of."""
    index = ROOT / "site" / "index.html"
    sources = [ROOT / "mkdocs.yml", *DOCS.rglob("*"), *(ROOT / "src").rglob("*.py")]
    if not index.exists() or index.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        subprocess.run(command, cwd=ROOT, check=True)
    return index.parent


def text_of(page: str) -> str:
    """What a page of HTML shows besides code."""
    body = re.sub(r"<(script|style|pre|code)\b.*?</\1>", "", page[page.index("<body") :], flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "", body))


def test_every_page_shows_its_formulas(browser: Any) -> None:
    """All that Markdown has, to the letter, and no raw TeX; no request fails or goes elsewhere.

    Pages without formulas, such as the reference with its docstrings, are only read.
    """
    site = built()
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    complaints: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    with served(site) as address:
        for page in sorted(DOCS.rglob("*.md")):
            place = page.relative_to(DOCS).with_suffix("").as_posix().removesuffix("index")
            if not formulas_of(page):
                text = (site / place / "index.html").read_text()
                assert (_RAW.findall(text_of(text)), "arithmatex" in text) == ([], False), place
                continue
            tab.goto(f"{address}/{place}{'/' if place else ''}")
            tab.evaluate("document.fonts.ready")
            assert typeset(tab) == formulas_of(page), place
            assert raw(tab) == [], place
            assert tab.evaluate("document.documentElement.scrollWidth") <= 1280, place
    tab.close()
    assert _RAW.findall(text_of("<body><p>for $x_t$ <code>$y$</code></p>")) == ["for $x_t$ "]
    assert complaints == []
    assert {urllib.parse.urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {
        urllib.parse.urlsplit(address).netloc
    }
    assert any(url.endswith("/katex/fonts/KaTeX_Math-Italic.woff2") for url in asked)
    assert len(formulas_of(DOCS / "guarantees.md")) > 500


#: Elements whose right end cannot be seen: code that scrolls, tables wider than the page, the page itself.
_CUT = """() => [...document.querySelectorAll("pre > code, .md-typeset__scrollwrap, html")]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent.slice(0, 60))"""


@pytest.mark.parametrize("width", [1366, 400])
def test_nothing_is_cut_off(browser: Any, width: int) -> None:
    """On a laptop and on a telephone code is seen whole; on a telephone wide tables may scroll.

    There one page of the reference, which are long, stands for all.
    """
    tab = browser.new_page(viewport={"width": width, "height": 800})
    site = built()
    pages = [page.parent.relative_to(site).as_posix() for page in sorted(site.rglob("index.html"))]
    if width < 1000:
        pages = [page for page in pages if not page.startswith("api/") or page == "api/learners"]
    with served(site) as address:
        for page in pages:
            tab.goto(f"{address}/{page}/")
            cut = _CUT if width > 1000 else _CUT.replace(".md-typeset__scrollwrap, ", "")
            assert tab.evaluate(cut) == [], page
        tab.set_content(f"<pre><code style='display: block; overflow: auto'>{'x' * 300}</code></pre>")
        assert tab.evaluate(_CUT) == ["x" * 60]
    tab.close()


def test_sessions_are_copied_as_programs(browser: Any) -> None:
    """Without prompts, which are not shown either, and without what is printed, which is."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    with served(built()) as address:
        tab.goto(f"{address}/quickstart/")
        block = tab.locator(".highlight", has_text="guarantee.local")
        assert "(True, False)" in block.inner_text()
        assert ">>>" not in tab.locator("article").inner_text()
        block.hover()
        block.locator("button").first.click()
        copied = tab.evaluate("navigator.clipboard.readText()")
    assert [line for line in copied.splitlines() if line] == [
        "print(learner.guarantee)",
        "learner.guarantee.private, learner.guarantee.local",
    ]
    context.close()
