"""How the routes behind the gate answer errors: like the gate does, and without repeating what was sent."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from discreet.checks import did_you_mean
from discreet.errors import DiscreetError
from discreet.service.web import requests
from discreet.service.web.problems import Problem, as_problem

_BY_STATUS = {400: "invalid_json", 404: "not_found", 405: "method_not_allowed"}
#: The fields that routes take, by any name that a invalid_argument may repeat.
_FIELDS = {
    name for model in (requests.NewLearner, requests.NewLimit, requests.NewKey) for name in model.model_fields
} | {"since", "most", "name", "items"}
#: What is said about fields that are meant for something else, or for another place.
_MEANT = {
    "kind": "Did you mean 'feedback'?",
    "mode": "Bandits of the service are always local.",
}
#: The names of unknown fields that are repeated: a number or an id that got there by mistake is none.
_NAME = re.compile(r"[a-z_]{1,40}")
_WORDS = {
    "gt": "above {}",
    "ge": "at least {}",
    "lt": "below {}",
    "le": "at most {}",
    "min_length": "at least {} long",
    "max_length": "at most {} long",
    "expected": "{}",
    "pattern": "like {}",
}


def add_to(app: FastAPI) -> None:
    """Answer the errors of an app's routes."""
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(DiscreetError, _of_ours)
    app.add_exception_handler(Problem, _of_ours)
    app.add_exception_handler(Exception, _of_others)


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = []
    if error.status_code == 405:  # one address may have several routes, each with a method
        scope = request.scope
        fitting = [
            r for r in request.app.routes if isinstance(r, Route) and r.matches(scope)[0] != Match.NONE
        ]
        methods = sorted({method for route in fitting for method in route.methods or ()})
        headers = [(b"allow", ", ".join(methods).encode())]
    return _response(Problem(_BY_STATUS.get(error.status_code, "invalid_request"), headers=headers))


async def _of_validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(entry["type"] == "json_invalid" for entry in found):
        return _response(Problem("invalid_json"))
    return _response(Problem("invalid_request", " ".join(dict.fromkeys(map(_sentence, found)))))


async def _of_ours(_: Request, error: Exception) -> Response:
    problem = as_problem(error)
    if problem is None:
        raise error
    return _response(problem)


async def _of_others(_: Request, error: Exception) -> Response:
    return _response(Problem("internal_error"))


def _sentence(entry: Any) -> str:
    """What is wrong with a field, in words that do not depend on any value that was sent.

    The name of an unknown field is repeated if it looks like one: what these routes are sent is public.
    (Asks and tells are answered by the gate, and repeat nothing.)
    """
    if entry["type"] == "extra_forbidden":
        return _unknown(str(entry["loc"][-1]))
    place = next((part for part in entry["loc"][1:] if part in _FIELDS), None)
    if place is None:
        return "The body must be a JSON object with the fields described at /docs."
    if entry["type"] == "missing":
        return f"The field '{place}' is missing."
    limits = " and ".join(_limits(entry))
    return f"The field '{place}' " + (f"must be {limits}." if limits else "cannot be used as it is.")


def _unknown(name: str) -> str:
    listed = "All fields are listed at /docs."
    if not _NAME.fullmatch(name):
        return f"There is an unknown field. {listed}"
    hint = _MEANT.get(name) or did_you_mean(name, sorted(_FIELDS)).lstrip() or listed
    return f"There is no field '{name}'. {hint}"


def _limits(entry: Any) -> list[str]:
    """The declared limits that a field broke: the schema's own numbers."""
    broken = entry.get("ctx", {})
    return [words.format(_plain(broken[name])) for name, words in _WORDS.items() if name in broken]


def _plain(limit: Any) -> Any:
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _response(problem: Problem) -> Response:
    answer = Response(problem.body, problem.status, media_type="application/json")
    answer.raw_headers.extend(problem.headers)
    return answer
