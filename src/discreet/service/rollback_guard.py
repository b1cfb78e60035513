"""The rollback guard: a record outside the database of how far each learner has released.

A database restored from an old backup would release the same data again, with other noise or by a second bit.
It cannot know that it is old; the rollback guard does. It has a number of releases for each learner, which is
raised *before* a release becomes visible, and must not be restored with the database.

If a learner has secrets, its number is on disk before anything is shown. Numbers of bandits are on disk
within about a second: waiting for them would halve the throughput, and only a backup of the last second
before a failure could pass for the latest state.

A guard is a file (`file_guard`), a table of another schema or server (`sql_guard`), or an object
(`object_guard`); one suite tests all.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping

from discreet.errors import StaleState, StoreError

#: More than any learner releases: for a learner that is known to be missing in the store, and for one that
#: has ended because it was archived, restarted or handed over.
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
    """

    fresh: bool

    def __init__(self, where: str, *, look_only: bool) -> None:
        self.where = where
        self._look_only = look_only
        self._lock = threading.Lock()
        #: The largest numbers that this object has read or recorded.
        self._known: dict[str, int] = {}

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
                return releases > 0 and not self._recorded_by_others(lineage)
        return releases < known

    def record(self, lineage: str, releases: int, *, durable: bool) -> None:
        """Record that so many releases are about to be shown.

        Args:
            lineage: The learner.
            releases: How many.
            durable: Whether to wait for the disk; for new learners it always does.
        """
        with self._lock:
            known = self._known.get(lineage)
            if self._look_only or (known is not None and releases <= known):
                return
            try:
                self._write(lineage, releases, durable or known is None)
            except (OSError, StoreError) as error:
                # Without the place: clients of the service see the message.
                raise StoreError(
                    "The rollback guard cannot be written; nothing is shown until it can."
                ) from error
            self._known[lineage] = releases

    def sync(self) -> None:
        """Flush to disk what was recorded."""
        with self._lock:
            self._sync()

    @abstractmethod
    def begin(self) -> None:
        """Create the guard if it is missing: from now on the store needs it."""

    @abstractmethod
    def settle(self, releases: Mapping[str, int]) -> None:
        """Record how far these learners have released, and that all others are gone; flush it to disk.

        No number gets lower: an old backup stays old. Processes that have the guard open continue with it,
        and so do learners they created meanwhile.
        """

    @abstractmethod
    def close(self) -> None:
        """Flush and close."""

    @abstractmethod
    def _recorded(self, lineage: str) -> int | None:
        """The number of a learner in the guard now."""

    @abstractmethod
    def _recorded_by_others(self, lineage: str) -> bool:
        """Whether another process may have created a learner that this object does not know."""

    @abstractmethod
    def _write(self, lineage: str, releases: int, durable: bool) -> None:
        """Add or raise a number."""

    @abstractmethod
    def _sync(self) -> None:
        """Flush to disk what was written."""
