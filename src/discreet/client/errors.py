"""Errors of the clients. They quote nothing private.

Each is a `ServiceError` with the service's `code`, which stays the same, and also the error that the library
raises for the same thing: ``except discreet.errors.Expired`` works with a learner in memory and with one
behind a service.

No error has a cause or a context: those could hold the request, with its key and its body.
"""

from __future__ import annotations

from typing import Any

from .. import errors


class ServiceError(errors.DiscreetError):
    """The service refused, or is not reachable.

    Attributes:
        code: Stays the same; the message, which is for people, may change.
        status: Of the HTTP response, if there was one.
        attempts: How many there were.
    """

    def __init__(self, code: str, message: str, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.code, self.status, self.attempts = code, status, attempts

    def __str__(self) -> str:
        return f"{self.args[0]} ({self.code})"

    def __reduce__(self) -> tuple[Any, ...]:
        made = error_for if self.code in _CODES else type(self)
        return made, (self.code, self.args[0], self.status, self.attempts)


class Unreachable(ServiceError, ConnectionError):
    """No response in time. Whether the request was performed is unknown; repeating it is safe."""


#: Code -> (the library's error, message if the service's own is not repeated).
_CODES: dict[str, tuple[type[Exception], str]] = {
    "invalid_json": (errors.InvalidArgument, "The service could not read the request."),
    "invalid_request": (errors.InvalidArgument, "A field is missing, unknown or has an invalid value."),
    "invalid_feedback": (
        errors.InvalidArgument,
        (
            "The wrong kind of feedback: this learner takes a cost or a bit, or a function; items beside a "
            "cost only with an 'item_total'."
        ),
    ),
    "unauthorized": (PermissionError, "The API key is unknown or revoked."),
    "forbidden": (PermissionError, "The key does not allow this."),
    "not_found": (errors.UnknownName, "Nothing has this name."),
    "unknown_decision": (errors.UnknownDecision, "There never was such a decision, or it was forgotten."),
    "already_exists": (errors.AlreadyExists, "The name is taken."),
    "archived": (errors.Archived, "The learner has ended."),
    "budget_exceeded": (errors.BudgetExceeded, "The population's limit does not allow this learner."),
    "foreign_decision": (errors.InvalidArgument, "The decision belongs to another learner."),
    "horizon_reached": (errors.HorizonReached, "The learner was made for fewer rounds."),
    "stale_state": (errors.StaleState, "The service runs on an old backup, which must not be continued."),
    "expired": (errors.Expired, "The deadline has passed, and a neutral value was applied instead."),
    "rate_limited": (errors.Busy, "Too many requests with this key."),
    "busy": (errors.Busy, "The service is busy."),
    "store_unavailable": (errors.Busy, "The database of the service is not reachable."),
}


#: The library's error -> one that is also a `ServiceError`, and has the same name.
_BOTH: dict[type[Exception], type[ServiceError]] = {
    other: type(other.__name__, (ServiceError, other), {"__module__": __name__, "__doc__": other.__doc__})
    for other, _ in _CODES.values()
}


def error_for(code: str, message: str = "", status: int | None = None, attempts: int = 1) -> ServiceError:
    """The error for a code of the service; the arguments are those of `ServiceError`."""
    other, default = _CODES.get(code, (Exception, "The service refused the request."))
    return _BOTH.get(other, ServiceError)(code, message or default, status, attempts)
