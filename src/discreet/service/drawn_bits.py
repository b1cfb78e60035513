"""Bits that were drawn and may not be committed yet: a tell that is repeated gets the same.

If a transaction fails, what was written of it may still be on the disk, and another bit of the same cost
would say more about it.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Iterable, Sequence

from discreet.learners.host import Host
from discreet.service.records import Feedback

_MOST = 100_000


class DrawnBits:
    """Those of one local learner."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._drawn: collections.OrderedDict[bytes, bytes] = collections.OrderedDict()
        self._lock = threading.Lock()

    def of(self, ids: Sequence[bytes], feedback: Sequence[Feedback]) -> list[bytes]:
        """The bit of each piece of feedback: all that is ever stored of it. It is remembered."""
        with self._lock:
            fresh = iter(self._host.bits([each.cost for each in feedback if each.released is None]))
            made = [
                self._drawn.setdefault(decision_id, bytes((next(fresh),)))
                if each.released is None
                else bytes((each.released,))
                for decision_id, each in zip(ids, feedback, strict=True)
            ]
            while len(self._drawn) > _MOST:
                self._drawn.popitem(last=False)
            return made

    def committed(self, ids: Iterable[bytes]) -> None:
        """What was told of these decisions is on disk."""
        with self._lock:
            for decision_id in ids:
                self._drawn.pop(decision_id, None)
