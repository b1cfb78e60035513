"""Errors over HTTP: one table of codes, which exception gets which code, and the handlers of the app.

A response has a code that stays the same and a sentence for people. Sentences may quote public settings,
never what a request contains.
"""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from discreet import errors
from discreet.checks import did_you_mean

#: Code -> (status, meaning).
CODES: dict[str, tuple[int, str]] = {
    "invalid_json": (400, "The body is not JSON."),
    "invalid_request": (400, "A field is missing, unknown or has an invalid value."),
    "invalid_feedback": (
        400,
        (
            "The wrong kind of feedback: this learner takes a cost or a bit, or a function; items beside a "
            "cost only with an 'item_total'."
        ),
    ),
    "unauthorized": (401, "The API key is missing, unknown, expired or revoked."),
    "forbidden": (
        403,
        "The key does not allow this: by its role, or because it is limited to other learners.",
    ),
    "not_found": (404, "No such address, learner, population or key."),
    "unknown_decision": (
        404,
        "There never was such a decision, or it was forgotten long after it was closed.",
    ),
    "method_not_allowed": (405, "The address takes other methods; the header Allow lists them."),
    "already_exists": (409, "The name is taken."),
    "archived": (409, "The learner has ended: it can be read, but not asked or told."),
    "budget_exceeded": (409, "The population's limit does not allow this learner."),
    "foreign_decision": (409, "The decision belongs to another learner."),
    "horizon_reached": (409, "The learner was made for a number of rounds, and they are over."),
    "stale_state": (409, "The store is an old backup, which must not be continued; see restart."),
    "expired": (410, "The decision's deadline has passed, and a neutral value was applied instead."),
    "too_large": (413, "The body is too large."),
    "rate_limited": (429, "Too many requests with this key; Retry-After says when to continue."),
    "internal_error": (500, "An error of the server. Nothing about the request is in its logs."),
    "busy": (503, "The server is busy; nothing was changed. Try again."),
    "store_unavailable": (503, "The database is not reachable, or its key is wrong; nothing was changed."),
}

_BY_EXCEPTION: tuple[tuple[type[Exception], str], ...] = (
    (errors.HorizonReached, "horizon_reached"),
    (errors.InvalidArgument, "invalid_request"),
    (errors.InvalidType, "invalid_request"),
    (errors.UnknownName, "not_found"),
    (errors.AlreadyExists, "already_exists"),
    (errors.Archived, "archived"),
    (errors.BudgetExceeded, "budget_exceeded"),
    (errors.StaleState, "stale_state"),
    (errors.Busy, "busy"),
    (errors.Conflict, "busy"),
    (errors.StoreError, "store_unavailable"),
    (errors.WrongKey, "store_unavailable"),
)
_BY_STATUS = {400: "invalid_json", 404: "not_found", 405: "method_not_allowed"}

#: Unknown fields whose names are repeated: not a number or an id that got there by mistake.
_NAME = re.compile(r"[a-z_]{1,40}")
_LIMITS = {
    "gt": "above {}",
    "ge": "at least {}",
    "lt": "below {}",
    "le": "at most {}",
    "min_length": "at least {} long",
    "max_length": "at most {} long",
    "expected": "{}",
    "pattern": "like {}",
}

Headers = list[tuple[bytes, bytes]]


class HttpError(Exception):
    """An error response.

    Args:
        code: One of `CODES`.
        message: A sentence; the one of the table by default.
        headers: More headers.
    """

    def __init__(self, code: str, message: str = "", headers: Headers | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.status, meaning = CODES[code]
        self.message = message or meaning
        self.headers = headers or []
        if self.status in (429, 503) and not self.headers:
            self.headers = [(b"retry-after", b"1")]

    @property
    def body(self) -> bytes:
        """The response body."""
        return json.dumps({"error": {"code": self.code, "message": self.message}}).encode()


def as_http_error(error: BaseException) -> HttpError | None:
    """The response for an exception; None for an unforeseen one."""
    if isinstance(error, HttpError):
        return error
    return next(
        (HttpError(code, str(error)) for kind, code in _BY_EXCEPTION if isinstance(error, kind)), None
    )


def add_handlers(app: FastAPI, fields: set[str]) -> None:
    """Handle the exceptions of an app's routes.

    Args:
        app: The app.
        fields: The paths of fields that messages may repeat.
    """

    async def handle(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            headers = _allowed(request) if error.status_code == 405 else []
            return _response(HttpError(_BY_STATUS.get(error.status_code, "invalid_request"), headers=headers))
        if isinstance(error, RequestValidationError):
            entries = error.errors()
            if any(entry["type"] == "json_invalid" for entry in entries):
                return _response(HttpError("invalid_json"))
            message = " ".join(dict.fromkeys(_sentence(entry, fields) for entry in entries))
            return _response(HttpError("invalid_request", message))
        found = as_http_error(error)
        if found is None:
            raise error
        return _response(found)

    for kind in (HTTPException, RequestValidationError, errors.DiscreetError, HttpError):
        app.add_exception_handler(kind, handle)


def _allowed(request: Request) -> Headers:
    """The methods of an address, which may have several routes."""
    routes = [
        route
        for route in request.app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] != Match.NONE
    ]
    methods = sorted({method for route in routes for method in route.methods or ()})
    return [(b"allow", ", ".join(methods).encode())]


def _sentence(entry: Any, fields: set[str]) -> str:
    """What is wrong with a field, whatever value was sent.

    The name of an unknown field is repeated if it looks like one: these routes take public data only. (Asks
    and tells do not get here, and repeat nothing.)
    """
    place = ""  # a nested field by its path, such as holdout.set
    for part in entry["loc"][1:]:
        longer = f"{place}.{part}" if place else str(part)
        place = longer if longer in fields else place
    if entry["type"] == "extra_forbidden":
        return _unknown(place, str(entry["loc"][-1]), fields)
    if not place:
        return "The body must be a JSON object with the fields described at /openapi.json."
    if entry["type"] == "missing":
        return f"The field '{place}' is missing."
    broken = entry.get("ctx", {})
    limits = " and ".join(
        text.format(_plain(broken[name])) for name, text in _LIMITS.items() if name in broken
    )
    return f"The field '{place}' " + (f"must be {limits}." if limits else "has an invalid value.")


def _unknown(inside: str, name: str, fields: set[str]) -> str:
    """What is wrong with a field that does not exist, of the body or `inside` one of its fields."""
    listed = "All fields are listed at /openapi.json."
    if not _NAME.fullmatch(name):
        return f"There is an unknown field. {listed}"
    prefix = f"{inside}." if inside else ""
    beside = sorted(field for field in fields if field.startswith(prefix) and "." not in field[len(prefix) :])
    hint = did_you_mean(prefix + name, beside).lstrip() or listed
    return f"There is no field '{prefix}{name}'. {hint}"


def _plain(limit: Any) -> Any:
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _response(error: HttpError) -> Response:
    response = Response(error.body, error.status, media_type="application/json")
    response.raw_headers.extend(error.headers)
    return response
