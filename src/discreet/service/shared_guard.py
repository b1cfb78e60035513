"""What guards have in common that processes on all machines share: how often they are asked.

Numbers that need not be durable are collected and written together, about once per second. If a process is
killed, those of its last second are lost, as they are from a file when the power fails.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping

from discreet.service.rollback_guard import ENDED, GONE, RollbackGuard

#: Seconds between writing what need not be durable, and between looking for new learners of others.
EVERY = 1.0


class SharedGuard(RollbackGuard):
    """A rollback guard on another machine. See `RollbackGuard`."""

    def __init__(self, where: str, *, look_only: bool = False) -> None:
        super().__init__(where, look_only=look_only)
        self._pending: dict[str, int] = {}
        self._others: dict[str, int] = {}
        self._written_at = self._read_at = 0.0

    @abstractmethod
    def _read(self) -> dict[str, int]:
        """All numbers that are recorded; none if there is no guard."""

    @abstractmethod
    def _raise(self, numbers: Mapping[str, int]) -> None:
        """Create the guard if it is missing, and raise numbers; none gets lower."""

    def begin(self) -> None:
        with self._lock:
            self._raise({})

    def settle(self, releases: Mapping[str, int]) -> None:
        with self._lock:
            self._raise(dict.fromkeys(self._known.keys() - releases.keys(), GONE) | dict(releases))

    def close(self) -> None:
        with self._lock:
            self._sync()

    def _recorded(self, lineage: str) -> int | None:
        return self._looked().get(lineage)

    def _recorded_by_others(self, lineage: str) -> bool:
        return self._recorded(lineage) is not None

    def _write(self, lineage: str, releases: int, durable: bool) -> None:
        if (lineage not in self._known or releases >= ENDED) and self._by_others(lineage, releases):
            return
        self._pending[lineage] = releases
        if durable or time.monotonic() - self._written_at > EVERY:
            self._sync()

    def _by_others(self, lineage: str, releases: int) -> bool:
        """Whether others have recorded this much: all learners are looked up together, once per second."""
        if time.monotonic() - self._read_at > EVERY:
            self._looked()
        return self._others.get(lineage, -1) >= releases

    def _looked(self) -> dict[str, int]:
        self._others, self._read_at = self._read(), time.monotonic()
        return self._others

    def _sync(self) -> None:
        if self._pending:
            self._raise(self._pending)
            self._pending = {}
        self._written_at = time.monotonic()
