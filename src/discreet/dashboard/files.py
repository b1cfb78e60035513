"""The dashboard's files as they are served, with their headers.

Style and scripts are named after their content, so they may be kept for ever; the page, which names them, is
asked for anew each time. The policy lets a browser run and load these files only, send requests to this
server only, and refuses markup made of text by a script.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import re

#: What a browser may do with the page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_COMMON = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_TYPES = {
    kind: f"text/{name}; charset=utf-8"
    for kind, name in (("html", "html"), ("css", "css"), ("js", "javascript"))
}


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the page.

    Attributes:
        path: Where it is served.
        body: Its bytes.
        headers: Those of its answer.
    """

    path: str
    body: bytes
    headers: dict[str, str]


def files() -> tuple[File, ...]:
    """Style, scripts and the page, each after those that it names.

    >>> [file.path.partition(".")[0] for file in files()]
    ['/dashboard', '/charts', '/words', '/dashboard', '/']
    """
    found: dict[str, File] = {}
    for name in ("dashboard.css", "charts.js", "words.js", "dashboard.js", "index.html"):
        text = _read(name)
        for other, file in found.items():  # relative: a proxy may put all of them elsewhere
            text = re.sub(rf'"(\./)?{re.escape(other)}"', rf'"\1{file.path[1:]}"', text)
        found[name] = _file(name, text.encode())
    return tuple(found.values())


def _file(name: str, body: bytes) -> File:
    stem, _, ending = name.partition(".")
    if ending == "html":
        return File("/", body, _headers(ending, "no-cache"))
    path = f"/{stem}.{hashlib.sha256(body).hexdigest()[:16]}.{ending}"
    return File(path, body, _headers(ending, "public, max-age=31536000, immutable"))


def _read(name: str) -> str:
    return importlib.resources.files("discreet.dashboard").joinpath(name).read_text("utf-8")


def _headers(ending: str, kept: str) -> dict[str, str]:
    return {"content-type": _TYPES[ending], "cache-control": kept, **_COMMON}
