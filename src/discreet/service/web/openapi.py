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

_HOT_MODELS: list[tuple[type[BaseModel], Literal["serialization", "validation"]]] = [
    (requests.AskRequest, "validation"),
    (requests.FeedbackPiece, "validation"),
    (answers.AskAnswer, "serialization"),
    (answers.TellAnswer, "serialization"),
    (answers.TellManyAnswer, "serialization"),
]


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for its description; those that any route may answer with are among them."""
    listed: dict[int | str, dict[str, Any]] = {}
    for status in sorted({408, 413, 429, 503, *statuses}):
        codes = [code for code, (of, _) in CODES.items() if of == status]
        described: dict[str, Any] = {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
            "model": answers.ErrorShown,
        }
        listed[status] = described
    return listed


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
        (400, 401, 403, 404, 409),
    )
    tell = _operation(
        "tell",
        "Learn from what happened: one piece of feedback, or a list of them. Answered once it is durable, "
        "and alike for any value; in any order, however late. Telling again changes nothing. Of functions, "
        "pieces times items are at most a million.",
        {"anyOf": [{"$ref": _ref("FeedbackPiece")}, many]},
        {"anyOf": [{"$ref": _ref("TellAnswer")}, {"$ref": _ref("TellManyAnswer")}]},
        (400, 401, 403, 404, 409, 410),
    )
    tell["requestBody"]["required"] = True
    return {f"/v1/learners/{{name}}/{name}": {"post": made} for name, made in (("ask", ask), ("tell", tell))}


def _operation(
    name: str, about: str, takes: dict[str, Any], gives: dict[str, Any], statuses: tuple[int, ...]
) -> dict[str, Any]:
    def content(schema: dict[str, Any]) -> dict[str, Any]:
        return {"application/json": {"schema": schema}}

    failing = {
        str(status): {"description": entry["description"], "content": content({"$ref": _ref("ErrorShown")})}
        for status, entry in errors(*statuses).items()
    }
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
        "requestBody": {"content": content(takes)},
        "responses": {"200": {"description": "Done.", "content": content(gives)}} | failing,
        "security": [{"bearer": []}],
        "x-role": Role.ASK_TELL.value,
    }


def _ref(model: str) -> str:
    return _REFS.format(model=model)
