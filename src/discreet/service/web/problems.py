"""What goes wrong over HTTP: one table of codes, and which error of the package is which.

Answers hold a code that stays the same and a sentence for people. Sentences may quote public settings; what
is private is never complained about, and what a request holds besides is not repeated.
"""

from __future__ import annotations

import json

from discreet import errors

#: Code -> (status, when).
CODES: dict[str, tuple[int, str]] = {
    "invalid_json": (400, "The body is not JSON."),
    "invalid_request": (400, "A field is missing, unknown, or has a value that cannot be used."),
    "invalid_feedback": (400, "Not what this learner takes: a cost or a bit, or else a function."),
    "unauthorized": (401, "No bearer key, or one that is not known (any more)."),
    "forbidden": (403, "The key's role does not allow this."),
    "not_found": (404, "No such address, learner, population or key."),
    "unknown_decision": (404, "Nobody was given this decision, or it was forgotten long after its end."),
    "method_not_allowed": (405, "The address takes other methods; the header Allow lists them."),
    "timeout": (408, "The body did not arrive in time."),
    "already_exists": (409, "The name is taken."),
    "archived": (409, "The learner has ended: it can be looked at, and neither asked nor told."),
    "budget_exceeded": (409, "The population's limit does not allow this learner."),
    "foreign_decision": (409, "The decision is another learner's."),
    "horizon_reached": (409, "The learner was made for a number of rounds, and they are over."),
    "stale_state": (409, "The store is an old backup, which must not be continued; see restart."),
    "expired": (410, "The decision's deadline passed, and a neutral value was learnt from in its place."),
    "too_large": (413, "The body is larger than the server takes."),
    "rate_limited": (429, "Too many requests with this key; Retry-After says when to go on."),
    "internal_error": (500, "A fault of the server. Nothing about the request is in its logs."),
    "busy": (503, "Too much is waiting, or others were in the way; nothing was changed. Try again."),
    "store_unavailable": (
        503,
        "The database cannot be reached, or its key does not fit; nothing was changed.",
    ),
}

_BY_ERROR: tuple[tuple[type[Exception], str], ...] = (
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

Headers = list[tuple[bytes, bytes]]


class Problem(Exception):
    """A request that is answered with an error.

    Args:
        code: One of `CODES`.
        message: A sentence; that of the table by default.
        headers: More headers.
    """

    def __init__(self, code: str, message: str = "", headers: Headers | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.status, about = CODES[code]
        self.message = message or about
        self.headers = headers or []
        if self.status in (429, 503) and not self.headers:
            self.headers = [(b"retry-after", b"1")]

    @property
    def body(self) -> bytes:
        """The answer."""
        return json.dumps({"error": {"code": self.code, "message": self.message}}).encode()


def as_problem(error: BaseException) -> Problem | None:
    """How an error is answered; None for one that nobody foresaw."""
    if isinstance(error, Problem):
        return error
    for kind, code in _BY_ERROR:
        if isinstance(error, kind):
            return Problem(code, str(error))
    return None
