"""Clients of a `discreet` service: ask, tell, and randomise costs before they leave this process.

All that `discreet.client` has, and `errors`, without the library.
"""

from . import errors
from .client import (
    ApiKey,
    AsyncClient,
    Client,
    Counts,
    Decision,
    Feedback,
    HeldOut,
    History,
    Learner,
    Pinned,
    Population,
    ServiceError,
    Unreachable,
)

__all__ = ["ApiKey", "AsyncClient", "Client", "Counts", "Decision", "Feedback", "HeldOut", "History"]
__all__ += ["Learner", "Pinned", "Population", "ServiceError", "Unreachable", "errors"]
