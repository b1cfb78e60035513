"""The OpenAPI document: what FastAPI knows of the routes, and the two that the gate answers itself."""

from __future__ import annotations

import importlib.metadata
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from discreet.service.bearers import Role
from discreet.service.web import answers, requests
from discreet.service.web.problems import CODES

_REFS = "#/components/schemas/{model}"
_ABOUT = """Private online decisions over sets: ask which items to choose, tell what it cost.

Send a bearer key with every request (`Authorization: Bearer discreet_...`). Roles: `read` may look,
`ask_tell` may also ask and tell, `admin` may do everything.

No value of a cost, a bit or a function is ever refused, and telling twice is answered like telling once.
"""

#: A body may be sent to any route, and any may have to wait.
_EVERYWHERE = ("timeout", "too_large", "rate_limited", "busy", "store_unavailable")
#: What may be wrong with any body, with any key, and with any name.
BODY, KEY = ("invalid_json", "invalid_request"), ("unauthorized", "forbidden")

_HOT_MODELS: list[tuple[type[BaseModel], Literal["serialization", "validation"]]] = [
    (requests.AskRequest, "validation"),
    (requests.FeedbackPiece, "validation"),
    (answers.ErrorShown, "serialization"),
    (answers.AskAnswer, "serialization"),
    (answers.TellAnswer, "serialization"),
    (answers.TellManyAnswer, "serialization"),
]


def errors(*codes: str) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for its description; those that any route may answer with are among them."""
    by_status: dict[int, list[str]] = {}
    for code, (status, _) in CODES.items():
        if code in {*_EVERYWHERE, *codes}:
            by_status.setdefault(status, []).append(code)
    return {
        status: {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in listed),
            "content": _content({"$ref": _ref("ErrorShown"), "properties": {"error": _code_among(listed)}}),
        }
        for status, listed in sorted(by_status.items())
    }


def _code_among(codes: list[str]) -> dict[str, Any]:
    return {"properties": {"code": {"enum": codes}}}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    version = importlib.metadata.version("discreet")
    found = get_openapi(title="discreet", version=version, description=_ABOUT, routes=app.routes)
    components = found["components"]
    for path in found["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)  # complaints are errors like others, with status 400
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    _, definitions = models_json_schema(_HOT_MODELS, ref_template=_REFS)
    components["schemas"] |= definitions["$defs"]
    found["paths"] |= _hot()
    found["paths"] = dict(sorted(found["paths"].items()))
    return found


def _hot() -> dict[str, Any]:
    many = TypeAdapter(requests.FeedbackList).json_schema(ref_template=_REFS)
    many.pop("$defs", None)
    ask = _operation(
        "ask",
        "Choose sets. The answer is given once it is durable.",
        {"$ref": _ref("AskRequest")},
        {"$ref": _ref("AskAnswer")},
        "not_found",
        "archived",
        "horizon_reached",
        "stale_state",
    )
    tell = _operation(
        "tell",
        "Learn from what happened: one piece of feedback, or a list of them. Answered once it is durable, "
        "and alike for any value; in any order, however late. Telling again changes nothing. Of functions, "
        "pieces times items are at most a million.",
        {"anyOf": [{"$ref": _ref("FeedbackPiece")}, many]},
        {"anyOf": [{"$ref": _ref("TellAnswer")}, {"$ref": _ref("TellManyAnswer")}]},
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
    name: str, about: str, takes: dict[str, Any], gives: dict[str, Any], *codes: str
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
        "requestBody": {"content": _content(takes)},
        "responses": {"200": {"description": "Done.", "content": _content(gives)}} | failing,
        "security": [{"bearer": []}],
        "x-role": Role.ASK_TELL.value,
    }


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _ref(model: str) -> str:
    return _REFS.format(model=model)
