"""Clients of a service: ask, tell, and randomise costs before they leave this process.

>>> from discreet.client import Client, Pinned
>>> pinned = Pinned(1.0, (0, 1))
>>> client = Client("http://127.0.0.1:8710", "discreet_...", randomize=pinned)
>>> pinned
Pinned(epsilon=1.0, cost_range=(0, 1), rounds_per_person=1, delta=0.0)

Importing this loads no compiler, no database driver and no code of the server.
"""

from ..errors import MissingExtra
from .errors import ServiceError, Unreachable
from .pinned import Pinned
from .records import ApiKey, Counts, Decision, Feedback, HeldOut, History, Learner, Population

try:
    from .asynchronous import AsyncClient
    from .blocking import Client
except ModuleNotFoundError as error:
    raise MissingExtra(
        "A client needs the extra 'client': pip install 'discreet[client]'.", "client"
    ) from error

__all__ = ["ApiKey", "AsyncClient", "Client", "Counts", "Decision", "Feedback", "HeldOut", "History"]
__all__ += ["Learner", "Pinned", "Population", "ServiceError", "Unreachable"]
