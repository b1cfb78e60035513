"""What can go wrong with a service, as errors that quote nothing private.

Each has the service's `code`, which stays the same, and is also the error that the library raises for the
same thing: ``except discreet.errors.Expired`` works with a learner in memory and with one behind a service.

An error is raised while no other is being handled, so that no request, with its key and its body, hangs on
it as a cause or a context.
"""

from __future__ import annotations

from discreet import errors


class ServiceError(errors.DiscreetError):
    """The service refused, or could not be reached.

    Args:
        code: What it is, in one word that stays the same.
        message: For people. Nothing private.
        status: Of the HTTP answer, if there was one.
        attempts: How often it was tried.

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
    """No answer in time. Whether something was done is not known; doing it again is safe."""


class Unauthorized(ServiceError, PermissionError):
    """The key is not known (any more), or does not allow this."""


class NotFound(ServiceError, errors.UnknownName):
    """No learner or population has this name."""


class DecisionNotKnown(ServiceError, errors.UnknownDecision):
    """Nobody was given this decision, or it was forgotten long after its end."""


class DecisionExpired(ServiceError, errors.Expired):
    """The deadline passed, and a neutral value was learnt from."""


class Refused(ServiceError, errors.InvalidArgument):
    """The request does not fit."""


class NameTaken(ServiceError, errors.AlreadyExists):
    """There is one of this name."""


class LearnerArchived(ServiceError, errors.Archived):
    """The learner has ended."""


class OverBudget(ServiceError, errors.BudgetExceeded):
    """The population's limit does not allow this."""


class RoundsOver(ServiceError, errors.HorizonReached):
    """The learner was made for a number of rounds."""


class OldBackup(ServiceError, errors.StaleState):
    """The store must not be continued."""


class Overloaded(ServiceError, errors.Busy):
    """Asked to come again later until there was no time left."""


#: Code -> (error, what to say where the service's own words are not repeated).
_KINDS: dict[str, tuple[type[ServiceError], str]] = {
    "invalid_json": (Refused, "The service could not read the request."),
    "invalid_request": (Refused, "A field is missing, unknown, or cannot be used."),
    "invalid_feedback": (Refused, "This learner takes other feedback: a cost or a bit, or else a function."),
    "unauthorized": (Unauthorized, "The service does not know this key."),
    "forbidden": (Unauthorized, "The key's role does not allow this."),
    "not_found": (NotFound, "The service has nothing of this name."),
    "unknown_decision": (DecisionNotKnown, "The service does not know this decision (any more)."),
    "already_exists": (NameTaken, "The name is taken."),
    "archived": (LearnerArchived, "The learner has ended: it can be looked at only."),
    "budget_exceeded": (OverBudget, "The population's limit does not allow this learner."),
    "foreign_decision": (Refused, "The decision is another learner's."),
    "horizon_reached": (RoundsOver, "The learner was made for a number of rounds, and they are over."),
    "stale_state": (OldBackup, "The service runs on an old backup, which must not be continued."),
    "expired": (DecisionExpired, "The deadline passed, and a neutral value was learnt from instead."),
    "rate_limited": (Overloaded, "Too many requests with this key."),
    "busy": (Overloaded, "The service has too much to do."),
    "store_unavailable": (Overloaded, "The service cannot reach its database."),
}


def refusal(code: str, status: int | None, attempts: int, said: str = "") -> ServiceError:
    """The error for a code.

    Args:
        code: The service's.
        status: Of the HTTP answer.
        attempts: How often it was tried.
        said: The service's own words, for requests with nothing private in them.
    """
    kind, sentence = _KINDS.get(code, (ServiceError, "The service did not do it."))
    return kind(code, said or sentence, status, attempts)
