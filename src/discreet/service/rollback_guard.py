"""The rollback guard: a record outside the database of how far each learner has released.

A database restored from an old backup would release the same data again, with other noise or by a second bit.
It cannot know that it is old; the rollback guard does. It has a number of releases for each learner, which is
raised *before* a release becomes visible, and must not be restored with the database.

If a learner has secrets, its number is on disk before anything is shown. Numbers of bandits are collected,
and written about once per second: waiting for them would halve the throughput, and only a backup of the last
second before a failure could pass for the latest state.

A guard is another SQLite file (`sqlite_guard`), or a table of another schema or server of PostgreSQL
(`postgres_guard`); one suite tests both.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping

from discreet.errors import StaleState, StoreError

#: More than any learner releases: for a learner that is known to be missing in the store, and for one that
#: has ended because it was archived or restarted.
GONE = (1 << 63) - 1
ENDED = GONE - 1


class DamagedGuard(StaleState):
    """The guard is damaged."""


class RollbackGuard(ABC):
    """What has been recorded. Several processes may have the same guard open.

    Args:
        where: Where it is, for messages.
        look_only: Whether to leave it unchanged, until `settle`.

    Attributes:
        where: As above.
        fresh: Whether nothing had been recorded, or not for this store.
        every: Seconds between writing what need not be durable, and between looking for learners of others.
    """

    fresh: bool
    every = 1.0

    def __init__(self, where: str, *, look_only: bool) -> None:
        self.where = where
        self._look_only = look_only
        self._lock = threading.Lock()
        #: The largest numbers that this object has read or recorded, and those that are not written yet.
        self._known, self._pending = dict[str, int](), dict[str, int]()
        #: What was there when it was last read.
        self._others: Mapping[str, int] = {}
        self._written_at = self._read_at = 0.0

    @property
    def lineages(self) -> frozenset[str]:
        """All learners that must be in the store."""
        return frozenset(lineage for lineage, releases in self._known.items() if releases < GONE)

    def is_behind(self, lineage: str, releases: int, *, look: bool = False) -> bool:
        """Whether a state with so many releases is an old one.

        Args:
            lineage: The learner.
            releases: Of the state.
            look: Whether to read what other processes have written. Only if no other process can update the
                learner now: otherwise a state may be old because another process was faster.
        """
        with self._lock:
            known = self._known.get(lineage)
            if look and (recorded := self._recorded(lineage)) is not None:
                known = max(recorded, known or 0)
            if known is None:  # every learner is recorded by the process that creates it
                return releases > 0 and self._recorded(lineage) is None
        return releases < known

    def record(self, lineage: str, releases: int, *, durable: bool) -> None:
        """Record that so many releases are about to be shown.

        Args:
            lineage: The learner.
            releases: How many.
            durable: Whether to write it at once; for new learners it always does.
        """
        with self._lock:
            known = self._known.get(lineage)
            if self._look_only or (known is not None and releases <= known):
                return
            try:
                if (known is not None and releases < ENDED) or not self._is_recorded(lineage, releases):
                    self._pending[lineage] = releases
                    waited = time.monotonic() - self._written_at
                    if durable or known is None or waited >= self.every:
                        self._write()
            except (OSError, StoreError) as error:
                # Without the place: clients of the service see the message.
                raise StoreError(
                    "The rollback guard cannot be written; nothing is shown until it can."
                ) from error
            self._known[lineage] = releases

    def begin(self) -> None:
        """Create the guard if it is missing: from now on the store needs it."""
        with self._lock:
            self._raise({})

    def settle(self, releases: Mapping[str, int]) -> None:
        """Record how far these learners have released, and that all others are gone; durably.

        No number gets lower: an old backup stays old. Processes that have the guard open continue with it,
        and so do learners they created meanwhile.
        """
        with self._lock:
            self._raise(dict.fromkeys(self._known.keys() - releases.keys(), GONE) | dict(releases))

    def sync(self) -> None:
        """Write what was recorded."""
        with self._lock:
            self._write()

    def close(self) -> None:
        """Write what was recorded, and close."""
        self.sync()

    def _write(self) -> None:
        if self._pending:
            self._raise(self._pending)
            self._pending = {}
        self._written_at = time.monotonic()

    def _recorded(self, lineage: str) -> int | None:
        """The number of a learner in the guard now."""
        return self._looked().get(lineage)

    def _is_recorded(self, lineage: str, releases: int) -> bool:
        """Whether others have recorded this much: all learners are looked up together, once per second."""
        if time.monotonic() - self._read_at > self.every:
            self._looked()
        return self._others.get(lineage, -1) >= releases

    def _looked(self) -> Mapping[str, int]:
        self._others, self._read_at = self._read(), time.monotonic()
        return self._others

    @abstractmethod
    def _read(self) -> Mapping[str, int]:
        """All numbers that are recorded; none if there is no guard."""

    @abstractmethod
    def _raise(self, numbers: Mapping[str, int]) -> None:
        """Create the guard if it is missing, and raise numbers, durably; none gets lower."""
