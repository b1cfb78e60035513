"""The OpenAPI document: the routes of FastAPI, and the two that the middleware answers itself."""

from __future__ import annotations

import importlib.metadata
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from discreet.service.api_keys import Role
from discreet.service.web import models
from discreet.service.web.errors import CODES

_REFS = "#/components/schemas/{model}"
_ABOUT = """Private online decisions over sets: ask which items to choose, tell what it cost.

Send an API key with every request (`Authorization: Bearer discreet_...`). Roles: `read` may read,
`ask_tell` may also ask and tell, `admin` may do everything. A key may be limited to some learners.

A device may tell a single decision with a token instead of a key: ask with `"tokens": true`, and send the
decision's `token` in the same header. Then the feedback is one object with a `cost` or a `bit`.

No value of a cost, a bit or a function is ever refused, and telling twice gets the same answer as telling
once.
"""

#: Errors of any route.
_EVERYWHERE = ("timeout", "too_large", "rate_limited", "busy", "store_unavailable")
#: Errors of routes with a body, and with a key.
BODY, KEY = ("invalid_json", "invalid_request"), ("unauthorized", "forbidden")

_ASK_TELL_MODELS: list[tuple[type[BaseModel], Literal["serialization", "validation"]]] = [
    (models.AskRequest, "validation"),
    (models.TellRequest, "validation"),
    (models.ErrorResponse, "serialization"),
    (models.AskResponse, "serialization"),
    (models.TellResponse, "serialization"),
    (models.TellManyResponse, "serialization"),
]


def errors(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The errors of a route for its description, including those of any route."""
    by_status: dict[int, list[str]] = {}
    for code, (status, _) in CODES.items():
        if code in {*_EVERYWHERE, *codes}:
            by_status.setdefault(status, []).append(code)
    return {
        status: {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in listed),
            "content": _content(
                {"$ref": _ref("ErrorResponse"), "properties": {"error": _code_among(listed)}}
            ),
        }
        for status, listed in sorted(by_status.items())
    }


def _code_among(codes: list[str]) -> dict[str, Any]:
    return {"properties": {"code": {"enum": codes}}}


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with the error codes of each route."""
    version = importlib.metadata.version("discreet")
    found = get_openapi(title="discreet", version=version, description=_ABOUT, routes=app.routes)
    components = found["components"]
    for path in found["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)  # invalid requests have status 400
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    _, definitions = models_json_schema(_ASK_TELL_MODELS, ref_template=_REFS)
    components["schemas"] |= definitions["$defs"]
    for schema in components["schemas"].values():  # records have docstrings for readers of the code
        schema["description"] = schema.get("description", "").partition("\n\nAttributes:")[0]
    found["paths"] |= _ask_tell()
    found["paths"] = dict(sorted(found["paths"].items()))
    return found


def _ask_tell() -> dict[str, Any]:
    many = TypeAdapter(models.TellManyRequest).json_schema(ref_template=_REFS)
    many.pop("$defs", None)
    ask = _operation(
        "ask",
        "Choose sets. The answer is given once it is durable.",
        {"$ref": _ref("AskRequest")},
        {"$ref": _ref("AskResponse")},
        "not_found",
        "archived",
        "horizon_reached",
        "stale_state",
    )
    tell = _operation(
        "tell",
        "Learn from feedback: one piece, or a list of them, in any order, however late. The answer is given "
        "once it is durable, and is the same for any value. Telling again changes nothing. Of functions, "
        "pieces"
        "times items are at most a million.",
        {"anyOf": [{"$ref": _ref("TellRequest")}, many]},
        {"anyOf": [{"$ref": _ref("TellResponse")}, {"$ref": _ref("TellManyResponse")}]},
        "invalid_feedback",
        "not_found",
        "unknown_decision",
        "archived",
        "foreign_decision",
        "stale_state",
        "expired",
    )
    tell["requestBody"]["required"] = True
    return {f"/v1/learners/{{name}}/{name}": {"post": made} for name, made in (("ask", ask), ("tell", tell))}


def _operation(
    name: str, about: str, body: dict[str, Any], response: dict[str, Any], *codes: str
) -> dict[str, Any]:
    failing = {str(status): entry for status, entry in errors(*BODY, *KEY, *codes).items()}
    return {
        "summary": name.capitalize(),
        "description": about,
        "operationId": name,
        "parameters": [
            {
                "name": "name",
                "in": "path",
                "required": True,
                "description": "The learner's name.",
                "schema": {"type": "string"},
            }
        ],
        "requestBody": {"content": _content(body)},
        "responses": {"200": {"description": "Done.", "content": _content(response)}} | failing,
        "security": [{"bearer": []}],
        "x-role": Role.ASK_TELL.value,
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _ref(model: str) -> str:
    return _REFS.format(model=model)
