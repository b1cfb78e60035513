"""The OpenAPI document: the routes of FastAPI, and the two that the middleware answers itself."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

from discreet.service.web.errors import CODES
from discreet.service.web.models import ErrorResponse

_ABOUT = """Private online decisions over sets: ask which items to choose, tell what it cost.

Send an API key with every request (`Authorization: Bearer discreet_...`). Roles: `read` may read,
`ask_tell` may also ask and tell, `admin` may do everything. A key may be limited to some learners.

A device may tell a single decision with a token instead of a key: ask with `"tokens": true`, and send the
decision's `token` in the same header. Then the feedback is one object with a `cost` (and `items`) or a `bit`.

No value of a cost, of items, of a bit or of a function is ever refused, and telling twice gets the same
answer as telling once.
"""

#: Errors of any route.
_EVERYWHERE = ("too_large", "rate_limited", "busy", "store_unavailable")
#: Errors of routes with a body, and with a key.
BODY, KEY = ("invalid_json", "invalid_request"), ("unauthorized", "forbidden")


def errors(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The errors of a route for its description, including those of any route."""
    by_status: dict[int, list[str]] = {}
    for code, (status, _) in CODES.items():
        if code in {*_EVERYWHERE, *codes}:
            by_status.setdefault(status, []).append(code)
    return {
        status: {
            "model": ErrorResponse,
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in listed),
            "content": {"application/json": {"schema": _code_among(listed)}},
        }
        for status, listed in sorted(by_status.items())
    }


def _code_among(codes: list[str]) -> dict[str, Any]:
    return {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}


def document(app: FastAPI, more: APIRouter) -> dict[str, Any]:
    """The OpenAPI document of an app, with routes that are not its own."""
    version = importlib.metadata.version("discreet")
    routes = sorted([*app.routes, *more.routes], key=lambda route: getattr(route, "path", ""))
    found = get_openapi(title="discreet", version=version, description=_ABOUT, routes=routes)
    for path in found["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)  # invalid requests have status 400
    components = found["components"]
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    for schema in components["schemas"].values():  # records have docstrings for readers of the code
        schema["description"] = schema.get("description", "").partition("\n\nAttributes:")[0]
    return found
