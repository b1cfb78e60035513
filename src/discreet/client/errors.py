"""Errors of the clients. They quote nothing private.

Each has the service's `code`, which stays the same, and is also the error that the library raises for the
same thing: ``except discreet.errors.Expired`` works with a learner in memory and with one behind a service.

No error has a cause or a context: those could hold the request, with its key and its body.
"""

from __future__ import annotations

from discreet import errors


class ServiceError(errors.DiscreetError):
    """The service refused, or is not reachable.

    Args:
        code: Stays the same.
        message: For people, without anything private.
        status: Of the HTTP response, if there was one.
        attempts: How many there were.

    Attributes:
        code, status, attempts: As above.
    """

    def __init__(self, code: str, message: str, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.code, self.status, self.attempts = code, status, attempts

    def __str__(self) -> str:
        return f"{self.args[0]} ({self.code})"

    def __reduce__(self) -> tuple[type[ServiceError], tuple[str, str, int | None, int]]:
        return type(self), (self.code, self.args[0], self.status, self.attempts)


class Unreachable(ServiceError, ConnectionError):
    """No response in time. Whether the request was performed is unknown; repeating it is safe."""


class Unauthorized(ServiceError, PermissionError):
    """The key is unknown, revoked, or does not allow this."""


class NotFound(ServiceError, errors.UnknownName):
    """No learner or population has this name."""


class DecisionNotKnown(ServiceError, errors.UnknownDecision):
    """There never was such a decision, or it was forgotten long after it was closed."""


class DecisionExpired(ServiceError, errors.Expired):
    """The deadline has passed, and a neutral value was applied."""


class BadRequest(ServiceError, errors.InvalidArgument):
    """The request is invalid."""


class NameTaken(ServiceError, errors.AlreadyExists):
    """The name is taken."""


class LearnerArchived(ServiceError, errors.Archived):
    """The learner has ended."""


class OverBudget(ServiceError, errors.BudgetExceeded):
    """The population's limit does not allow this."""


class RoundsOver(ServiceError, errors.HorizonReached):
    """The learner was made for a number of rounds, and they are over."""


class OldBackup(ServiceError, errors.StaleState):
    """The service runs on an old backup, which must not be continued."""


class Overloaded(ServiceError, errors.Busy):
    """The service stayed busy until the deadline."""


#: Code -> (error, message if the service's own is not repeated).
_ERRORS: dict[str, tuple[type[ServiceError], str]] = {
    "invalid_json": (BadRequest, "The service could not read the request."),
    "invalid_request": (BadRequest, "A field is missing, unknown or has an invalid value."),
    "invalid_feedback": (
        BadRequest,
        "The wrong kind of feedback: this learner takes a cost or a bit, or a function.",
    ),
    "unauthorized": (Unauthorized, "The API key is unknown or revoked."),
    "forbidden": (Unauthorized, "The role of the key does not allow this."),
    "not_found": (NotFound, "No learner or population has this name."),
    "unknown_decision": (DecisionNotKnown, "There never was such a decision, or it was forgotten."),
    "already_exists": (NameTaken, "The name is taken."),
    "archived": (LearnerArchived, "The learner has ended."),
    "budget_exceeded": (OverBudget, "The population's limit does not allow this learner."),
    "foreign_decision": (BadRequest, "The decision belongs to another learner."),
    "horizon_reached": (RoundsOver, "The learner was made for a number of rounds, and they are over."),
    "stale_state": (OldBackup, "The service runs on an old backup, which must not be continued."),
    "expired": (DecisionExpired, "The deadline has passed, and a neutral value was applied instead."),
    "rate_limited": (Overloaded, "Too many requests with this key."),
    "busy": (Overloaded, "The service is busy."),
    "store_unavailable": (Overloaded, "The database of the service is not reachable."),
}


def error_for(code: str, status: int | None, attempts: int, message: str = "") -> ServiceError:
    """The error for a code.

    Args:
        code: The service's.
        status: Of the HTTP response.
        attempts: How many there were.
        message: The service's own, for requests with nothing private in them.
    """
    kind, default = _ERRORS.get(code, (ServiceError, "The service refused the request."))
    return kind(code, message or default, status, attempts)
