"""The page around a report: head, style, sections, foot."""

from __future__ import annotations

import importlib.resources
import platform
from collections.abc import Iterable

import matplotlib
import numba
import numpy as np

import discreet
from discreet.report.html import Html, element, joined
from discreet.report.tables import table

#: Browsers load nothing and run nothing, whatever a page holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, header: Iterable[str], sections: Iterable[str]) -> str:
    """A whole HTML document that needs no other file."""
    style = importlib.resources.files("discreet.report").joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", title),
        element("style", Html(style)),
    )
    body = element(
        "body",
        element("header", element("h1", title), *header),
        element("main", *sections),
        element("footer", f"Made with discreet {discreet.__version__}."),
    )
    return joined(Html("<!DOCTYPE html>\n"), element("html", head, "\n", body, lang="en"), "\n")


def section(title: str, *parts: str) -> Html:
    """A section with a heading."""
    return element("section", element("h2", title), *parts)


def paragraphs(text: str) -> Html:
    """Text with empty lines between its paragraphs."""
    return joined(*(element("p", part.strip()) for part in text.split("\n\n") if part.strip()))


def repeat_section(command: str) -> Html:
    """How to do it again: the command, and what it was made with."""
    versions = {
        "discreet": discreet.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "matplotlib": matplotlib.__version__,
    }
    given = element("pre", element("code", command)) if command else Html("")
    made = table(
        "Versions with which this page was made.",
        {"package": "text", "version": "text"},
        list(versions.items()),
    )
    return section("How to repeat it", joined(given, made))
