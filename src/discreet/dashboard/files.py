"""The dashboard's files as they are served, with their headers.

Style and scripts are named after their content, so browsers may cache them for ever; the page, which names
them, is requested every time. The policy lets a browser load only these files, send requests only to this
server, and create no markup from text.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import re

#: Each comes after those that it names.
_SCRIPTS = ("charts", "messages", "page", "learner", "dashboard")
#: The content security policy of the page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the page.

    Attributes:
        path: In the URL.
        body: Its bytes.
        headers: Of the response.
    """

    path: str
    body: bytes
    headers: dict[str, str]


def files() -> tuple[File, ...]:
    """Style, scripts and the page."""
    package = importlib.resources.files("discreet")
    found: dict[str, File] = {}
    for name in ("dashboard.css", *(f"{script}.js" for script in _SCRIPTS), "index.html"):
        text = package.joinpath("dashboard", name).read_text("utf-8")
        if name.endswith(".css"):
            text = package.joinpath("base.css").read_text("utf-8") + text
        for other, file in found.items():  # relative: a proxy may serve them below another path
            text = re.sub(rf'"(\./)?{re.escape(other)}"', rf'"\1{file.path[1:]}"', text)
        stem, _, ending = name.partition(".")
        found[name] = _file(stem, ending, text.encode())
    return tuple(found.values())


def _file(stem: str, ending: str, body: bytes) -> File:
    path, caching = "/", "no-cache"
    if ending != "html":
        path = f"/{stem}.{hashlib.sha256(body).hexdigest()[:16]}.{ending}"
        caching = "public, max-age=31536000, immutable"
    kind = "javascript" if ending == "js" else ending
    headers = {"content-type": f"text/{kind}; charset=utf-8", "cache-control": caching}
    return File(path, body, headers | _HEADERS)
