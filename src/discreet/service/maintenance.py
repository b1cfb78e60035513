"""Background work: applying queued feedback, following other processes, deadlines, compaction."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from discreet.errors import DiscreetError, InvalidArgument
from discreet.service.clock import minute_of
from discreet.service.health import Health
from discreet.service.hosted_learner import HostedLearner
from discreet.service.rollback_guard import RollbackGuard
from discreet.storage.base import Store
from discreet.storage.records import Counts, Status

#: Seconds between updates while feedback is queued, and between checks for what others have done.
APPLY_EVERY, CHECK_EVERY = 0.05, 1.0
#: Seconds between checks for decisions past their deadline, and between compactions.
EXPIRE_EVERY, COMPACT_EVERY = 5.0, 600.0
#: Seconds that a closed decision is remembered at least, so that a second tell is answered like the first.
REMEMBERED = 7 * 86_400.0
#: Counts are merged by hour after a week, by day after 90 days: length and age in seconds. They are never
#: deleted: a horizon is checked against them.
MERGED = ((3_600, 7 * 86_400), (86_400, 90 * 86_400))
#: Decisions closed or deleted, and reports applied, in one transaction.
_AT_ONCE, _APPLIED_AT_ONCE = 2_000, 10_000
#: The same for full-information learners, times the number of items.
_MOST_COSTS = 1 << 22
#: What the log and the metrics call its work.
MAINTENANCE, APPLYING, EXPIRING = "maintenance", "applying", "expiring"
#: Milliseconds that a decision may be written after its time, or by which clocks differ.
_LATE = 3_600_000

log = logging.getLogger("discreet.service")


class Maintenance:
    """The background thread of a store, and its steps, which may also be called directly.

    Args:
        store: The store.
        guard: Its rollback guard.
        learners: All active learners.
        clock: Milliseconds.
        health: Is told when everything due was done, and what failed.
    """

    def __init__(
        self,
        store: Store,
        guard: RollbackGuard,
        learners: Callable[[], Iterable[HostedLearner]],
        clock: Callable[[], int],
        health: Health | None = None,
    ) -> None:
        self._store, self._guard, self._learners, self._clock = store, guard, learners, clock
        self._health = health or Health()
        self._woken = threading.Event()
        self._closed = False
        self._behind: set[HostedLearner] = set()
        self._thread = threading.Thread(target=self._run, name="discreet-maintenance", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread after its current step. Open blocks stay as they are."""
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self, behind: Iterable[HostedLearner] = ()) -> None:
        """Reports were queued, or another process has updated some learners."""
        self._behind.update(behind)
        self._woken.set()

    def apply_queued(self) -> int:
        """Apply all queued reports of learners that nobody else is updating; return how many."""
        with self._store.reading() as reading:
            queued = reading.queued()
        return sum(self._apply_all(hosted) for hosted in self._learners() if hosted.id in queued)

    def _apply_all(self, hosted: HostedLearner) -> int:
        """Apply the queued reports of one learner; its errors do not affect other learners."""
        most = _within_memory(hosted, _APPLIED_AT_ONCE)
        total = 0
        try:
            while (count := self._apply(hosted, most)) == most:
                total += count
            return total + count
        except DiscreetError as error:
            log.warning("feedback to %s could not be applied: %s", hosted.record.name, error)
            return total

    def _apply(self, hosted: HostedLearner, most: int) -> int:
        if hosted.stale:
            return 0
        with self._store.reading() as reading:
            hosted.catch_up(reading)  # the rollback guard records earlier releases first
        with self._store.writing() as writing:
            update = writing.start_update(hosted.id, most=most)
            if (
                update is None
                or not update.queued
                or writing.heads([hosted.id])[hosted.id][0] is not Status.ACTIVE
            ):
                return 0
            count = len(update.queued)
            applied = hosted.apply_queued(writing, update, self._clock())
        hosted.show(applied.generation, applied.state)
        return count

    def refresh(self, behind: Iterable[HostedLearner] | None = None) -> None:
        """Show the latest committed states: by default of all learners that others have updated."""
        if behind is None:
            held = {hosted.id: hosted for hosted in self._learners()}
            with self._store.reading() as reading:
                heads = reading.heads(held)
            behind = [held[n] for n, (_, generation) in heads.items() if generation > held[n].generation]
        for hosted in behind:
            try:
                with self._store.reading() as reading:
                    hosted.catch_up(reading)
            except DiscreetError as error:  # does not affect other learners
                log.warning("%s could not be shown: %s", hosted.record.name, error)

    def expire(self) -> int:
        """Close decisions past their deadline, with a neutral value through the same mechanism."""
        total = 0
        for hosted in self._learners():
            count = most = _within_memory(hosted, _AT_ONCE)
            while count == most and not hosted.stale:
                count = self._expire(hosted, most)
                total += count
        if total:
            self.wake()
        return total

    def _expire(self, hosted: HostedLearner, most: int) -> int:
        now = self._clock()
        before = now - round(1000 * hosted.record.deadline)
        with self._store.writing() as writing:
            if writing.hold([hosted.id])[hosted.id][0] is not Status.ACTIVE:
                return 0
            due = writing.expire(hosted.id, hosted.swept, before, now, most)
            if due:
                writing.queue_feedback(hosted.id, _neutral(hosted, due))
                writing.add_counts(hosted.id, minute_of(now), Counts(expired=len(due)))
        if len(due) < most:
            hosted.swept = before - _LATE  # may be lower than before, if the clock was set back
        return len(due)

    def compact(self) -> int:
        """Delete old closed decisions and people of ended learners; merge old minutes.

        The people of an ended epoch are not needed: it takes no feedback, and the ledger adds up learners.

        Returns:
            How many decisions were deleted.
        """
        total, now = 0, self._clock()
        with self._store.writing() as writing:
            for length, age in MERGED:
                writing.merge_minutes(now - 1000 * age, 1000 * length)
        with self._store.reading() as reading:
            records = reading.learners()
        for record in records:
            if record.status is not Status.ACTIVE:
                self._forget_people(record.id)
            before = now - round(1000 * (record.deadline + REMEMBERED))
            gone = _AT_ONCE
            while gone == _AT_ONCE:
                with self._store.writing() as writing:
                    open_too = record.status is not Status.ACTIVE
                    gone = writing.compact(record.id, before, open_too=open_too, most=_AT_ONCE)
                total += gone
        return total

    def _forget_people(self, learner: int) -> None:
        gone = _AT_ONCE
        while gone == _AT_ONCE:
            with self._store.writing() as writing:
                gone = writing.forget_people(learner, most=_AT_ONCE)

    def _run(self) -> None:
        next_check = next_expiry = time.monotonic()
        next_compaction = next_check + 60
        while not self._closed:
            woken = self._woken.wait(max(0.0, next_check - time.monotonic()))
            if self._closed:
                return
            try:
                if woken:
                    self._woken.clear()
                    behind, self._behind = self._behind, set()
                    self.refresh(behind)
                if time.monotonic() >= next_check:
                    next_check = time.monotonic() + CHECK_EVERY
                    self.refresh()
                    self._guard.sync()
                self.apply_queued()
                self._health.worked(APPLYING)
                if time.monotonic() >= next_expiry:
                    next_expiry = time.monotonic() + EXPIRE_EVERY
                    self.expire()
                    self._health.worked(EXPIRING)
                if time.monotonic() >= next_compaction:
                    next_compaction = time.monotonic() + COMPACT_EVERY
                    self.compact()
                self._health.worked(MAINTENANCE)
            except Exception as error:  # such as a store that is not reachable: later
                self._health.failed(MAINTENANCE, error)
            time.sleep(APPLY_EVERY)


def _within_memory(hosted: HostedLearner, most: int) -> int:
    """How many decisions of a learner to process at once."""
    return most if hosted.host.local else min(most, max(1, _MOST_COSTS // len(hosted.host.items)))


def _neutral(hosted: HostedLearner, due: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Neutral feedback for decisions; none for a damaged draw."""
    found = {}
    for key, draw in due.items():
        try:
            found[key] = hosted.neutral(key, draw)
        except InvalidArgument:
            log.error("%s: a stored decision is damaged", hosted.record.name)
    return found
