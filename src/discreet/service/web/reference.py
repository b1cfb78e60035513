"""The API reference: a page from the OpenAPI document, with a form to try each route."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

import jinja2
from markupsafe import Markup

from discreet.service.web.errors import CODES

#: What may happen on the page: styles of its own, its one script, and requests to its own server.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_LIMITS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
    "maxLength": "of at most",
    "pattern": "like",
}


def _file(name: str) -> str:
    return importlib.resources.files("discreet").joinpath(name).read_text("utf-8")


def script() -> str:
    """What sends the forms."""
    return _file("service/web/reference.js")


def reference(document: dict[str, Any]) -> str:
    """The HTML page that describes the HTTP interface."""
    templates = jinja2.Environment(autoescape=True, trim_blocks=True)
    templates.filters["json"] = json.dumps
    schemas = document["components"]["schemas"]
    return templates.from_string(_file("service/web/reference.html")).render(
        document,
        title=f"{document['info']['title']} {document['info']['version']}: reference",
        style=Markup(_file("base.css") + _file("service/web/reference.css")),
        operations=[
            (path, method.upper(), operation | _request(operation, schemas))
            for path, entry in document["paths"].items()
            for method, operation in entry.items()
        ],
        codes=CODES,
        limits=_LIMITS,
    )


def _request(operation: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """What a request consists of: parameters of the query, the body, and an example of it."""
    content = operation.get("requestBody", {}).get("content", {})
    body = next((each["schema"] for each in content.values()), None)
    first = (body or {}).get("anyOf", [body])[0] or {}
    named = schemas.get(first.get("$ref", "").rsplit("/", 1)[-1], {})
    return {
        "query": [each for each in operation.get("parameters", []) if each["in"] == "query"],
        "body": body,
        "example": next(iter(named.get("examples", ())), None),
    }
