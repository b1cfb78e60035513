"""Background work: applying feedback, closing phases, deadlines, following other processes, compaction.

All of it goes in steps of some milliseconds. While there is traffic, it pauses after every step for several
times as long, so that it can take no more than a small part of what the store can do.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from discreet.errors import Conflict
from discreet.service.health import Health, reason_of
from discreet.service.hosted_learner import Applied, HostedLearner, not_shown, write
from discreet.service.pace import MOST, Pace
from discreet.service.registry import Registry
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.turns import Turns
from discreet.storage.reading import Reading
from discreet.storage.records import Counts, LearnerRecord, Status
from discreet.storage.store import Store
from discreet.storage.writing import Writing

#: Seconds between checks for what others have done, between updates while feedback is queued, between checks
#: for decisions past their deadline, and between compactions.
CHECK_EVERY, APPLY_EVERY, EXPIRE_EVERY, COMPACT_EVERY = 1.0, 0.05, 5.0, 600.0
#: Seconds that a closed decision is remembered at least, so that a second tell is answered like the first.
REMEMBERED = 7 * 86_400.0
#: Learners whose reports are applied in one transaction.
_TOGETHER = 8
#: Numbers of full-information learners in one step.
_MOST_COSTS = 1 << 22
#: What the log and the metrics call its work.
MAINTENANCE, APPLYING, EXPIRING = "maintenance", "applying", "expiring"
#: Milliseconds by which clocks of processes may differ.
_APART = 3_600_000
#: Milliseconds between two entries in the history of a learner without phases.
HISTORY_EVERY = 60_000

log = logging.getLogger("discreet.service")


class Maintenance:
    """The background thread of a store, and its steps, which may also be called directly.

    It also tells `health` when everything due was done, and what failed. While there is traffic (`busy`) it
    takes its time.
    """

    def __init__(
        self,
        store: Store,
        guard: RollbackGuard,
        registry: Registry,
        clock: Callable[[], int],
        busy: Callable[[], bool],
        health: Health,
    ) -> None:
        self._store, self._guard, self._registry, self._clock = store, guard, registry, clock
        self._pace = Pace(busy, lambda: self._closed)
        self._health = health
        self._woken = threading.Event()
        self._closed = False
        self._behind: set[HostedLearner] = set()
        self._turns, self._told = Turns(), set[int]()
        self._thread = threading.Thread(target=self._run, name="discreet-maintenance", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread after its current step. Open phases stay as they are."""
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self, behind: Iterable[HostedLearner] = (), told: Iterable[HostedLearner] = ()) -> None:
        """Reports of some learners were queued, or another process has updated some."""
        self._behind.update(behind)
        self._told |= {hosted.id for hosted in told}
        self._woken.set()

    # Applying feedback, closing phases

    def apply_queued(self, *, in_turn: bool = False) -> int:
        """Apply all queued reports of learners that nobody else is updating, and close phases that are due.

        Args:
            in_turn: Whether to leave alone what another process will do.

        Returns:
            How many reports were applied.
        """
        told, self._told = self._told, set()
        with self._store.reading() as reading:
            queued = self._mine("apply", reading, reading.queued(), in_turn, told)
        total = self._apply_all(self._registry.with_ids(queued))
        self._close_phases(in_turn=in_turn)
        return total

    def _mine(
        self, kind: str, reading: Reading, ids: Iterable[int], in_turn: bool, told: Iterable[int] = ()
    ) -> set[int]:
        """The learners whose turn is here, or all of them."""
        if self._store.one_process or not in_turn:
            return set(ids)
        return self._turns.mine(kind, reading.progress(ids), told)

    def _apply_all(self, learners: Iterable[HostedLearner]) -> int:
        """Apply the queued reports of learners: of several together, or of one that takes functions."""
        listed = list(learners)
        few = [hosted for hosted in listed if not hosted.host.whole]
        groups = [[hosted] for hosted in listed if hosted.host.whole]
        groups += [few[k : k + _TOGETHER] for k in range(0, len(few), _TOGETHER)]
        return sum(map(self._apply_some, groups))

    def _apply_some(self, learners: Sequence[HostedLearner]) -> int:
        """Apply queued reports; where that fails, of each alone: errors with one do not affect others."""
        kind, most = "functions" if learners[0].host.whole else "reports", _within_memory(learners[0])
        try:
            return self._pace.steps(kind, functools.partial(self._apply, learners), most)
        except Exception as error:
            if len(learners) > 1:
                return sum(self._apply_some([hosted]) for hosted in learners)
            log.warning("feedback to %s could not be applied: %s", learners[0].record.name, reason_of(error))
            return 0

    def _apply(self, learners: Sequence[HostedLearner], most: int) -> tuple[int, bool]:
        shown = self.refresh(learners)  # the rollback guard records earlier releases first
        applied, behind = dict[HostedLearner, Applied](), False
        if not shown:
            return 0, False
        with self._store.writing() as writing:
            updates = writing.start_updates([hosted.id for hosted in shown], most=most)
            heads = writing.hold(updates)
            for hosted in shown:
                update = updates.get(hosted.id)
                if update is None:
                    self._turns.lost(hosted.id)
                elif update.generation > hosted.generation:
                    behind = True  # another process has released something meanwhile
                elif update.queued and heads[hosted.id].status is Status.ACTIVE:
                    applied[hosted] = hosted.apply_queued(writing, update)
            write(writing, applied)
            counts = {hosted.id: each.counts for hosted, each in applied.items() if each.released}
            writing.add_counts(counts)
        for hosted, each in applied.items():
            self._turns.done(hosted.id, (each.generation, each.in_sums))
            with _isolated("%s could not be shown: %s", hosted):
                hosted.show(each)
        total = sum(len(each.reports) for each in applied.values())
        return total, behind or total == most

    def _close_phases(self, *, in_turn: bool = False) -> None:
        """Release the sums of phases whose reports are all there, and whose time has come.

        At a deadline what is missing is closed first: when phases are released, and in which order, does not
        depend on who has told.
        """
        with self._store.reading() as reading:
            due = self._mine("deadline", reading, reading.due_phases(self._clock()), in_turn)
        for hosted in self._registry.with_ids(due):
            self._expire_all(hosted)
            self._apply_some([hosted])
        with self._store.reading() as reading:
            complete = reading.complete_phases()
            mine = self._mine("close", reading, {learner for learner, _, _ in complete}, in_turn)
        held = {hosted.id: hosted for hosted in self._registry.with_ids(mine)}
        for learner, number, last_at in complete:
            found = held.get(learner)
            if found is not None and not self._closed and self._may_close(found, last_at):
                with _isolated("a phase of %s could not be closed: %s", found):
                    self._close_phase(found, number)

    def _may_close(self, hosted: HostedLearner, last_at: int) -> bool:
        return hosted.host.local or self._clock() >= last_at + round(1000 * hosted.record.deadline)

    def _close_phase(self, hosted: HostedLearner, number: int) -> None:
        """Close a phase. Noise is drawn and the policy learns outside of the transaction, which is short.

        If another process was faster, what was computed here is dropped, and nobody has seen it.
        """
        with self._store.reading() as reading:
            hosted.catch_up(reading)
            applied = hosted.close(reading, number)
        if applied is None or hosted.stale:
            return
        with self._store.writing() as writing:
            update = writing.start_update(hosted.id, most=0)
            # Nobody may be updating it: their state would lack what the rollback guard records next.
            if update is None or not _is_active(writing, hosted):
                return
            hosted.latest_state(update)  # refused if it is an old one
            if update.generation != applied.generation - 1:
                return
            write(writing, {hosted: applied})
            writing.drop_phases(hosted.id, [number])
            writing.add_moment(hosted.id, hosted.moment(applied.state, self._clock()))
        self._turns.done(hosted.id, (applied.generation, applied.in_sums))
        hosted.show(applied)

    def note_histories(self) -> None:
        """Note what learners without phases have released, once a minute."""
        now = self._clock()
        changed = [
            hosted
            for hosted in self._registry.active()
            if hosted.host.by_rounds and hosted.generation > hosted.noted[0] and now >= hosted.noted[1]
        ]
        if changed:
            with self._store.writing() as writing:
                for hosted in sorted(changed, key=lambda hosted: hosted.id):  # processes must not deadlock
                    writing.add_moment(hosted.id, hosted.moment(hosted.state, now))
                    hosted.noted = hosted.generation, now + HISTORY_EVERY

    # Following other processes

    def refresh(self, learners: Iterable[HostedLearner] | None = None) -> list[HostedLearner]:
        """Show the latest committed states: by default of learners in use, which others may have updated.

        Returns:
            The learners of which the latest state is shown, and which may continue; with the items that they
            have by now.
        """
        if learners is None:
            learners = () if self._store.one_process else self._registry.active()
        shown = dict.fromkeys(learners)
        if not shown:
            return []
        with self._store.reading() as reading:
            for hosted, stored in not_shown(reading, [*shown]):
                del shown[hosted]
                with _isolated("%s could not be shown: %s", hosted):
                    if stored is None:
                        (hosted,) = self._registry.hosts(reading, reading.learners([hosted.id]))
                    else:
                        hosted.follow(*stored)
                    shown[hosted] = None
        return [hosted for hosted in shown if not hosted.stale]

    # Deadlines

    def expire(self) -> int:
        """Close decisions past their deadline: each gives a neutral report, through the same mechanism."""
        with self._store.reading() as reading:
            due = reading.due(self._clock())
        total = sum(self._expire_all(hosted) for hosted in self._registry.with_ids(due))
        if total:
            self.wake()
        return total

    def _expire_all(self, hosted: HostedLearner) -> int:
        """Close all decisions of a learner that are past their deadline."""
        return self._pace.steps("expiry", functools.partial(self._expire, hosted), _within_memory(hosted))

    def _expire(self, hosted: HostedLearner, most: int) -> tuple[int, bool]:
        now = self._clock()
        before = now - round(1000 * hosted.record.deadline)
        with self._store.writing() as writing:
            if not _is_active(writing, hosted):
                return 0, False
            due, more = writing.expire(hosted.id, before, now, most)
            neutral = {key: hosted.neutral(ticket) for key, ticket in due.items()}
            writing.queue_feedback(
                (key, hosted.id, hosted.seals.feedback(key, each))
                for key, each in neutral.items()
                if each is not None
            )
            if due:
                writing.add_counts({hosted.id: Counts(expired=len(due))})
        return len(due), more

    # Compaction

    def compact(self) -> int:
        """Delete old closed decisions and people of ended learners.

        The people of an ended epoch are not needed: it takes no feedback, and the ledger adds up learners.

        Returns:
            How many decisions were deleted.
        """
        total, now = 0, self._clock()
        if active := [hosted.id for hosted in self._registry.active()]:
            with self._store.writing() as writing:
                writing.look_back(active, _APART)
        with self._store.reading() as reading:
            records = reading.learners(reading.to_compact(now, round(1000 * REMEMBERED)))
        self._registry.record_ended()
        for record in records:
            if record.status is not Status.ACTIVE:
                self._pace.steps("people", functools.partial(self._forget_people, record))
            total += self._pace.steps("old", functools.partial(self._forget, record, now))
        return total

    def _forget(self, record: LearnerRecord, now: int, most: int) -> tuple[int, bool]:
        before = now - round(1000 * (record.deadline + REMEMBERED))
        with self._store.writing() as writing:
            open_too = record.status is not Status.ACTIVE
            gone = writing.compact(record.id, before, open_too=open_too, most=most)
        return gone, gone == most

    def _forget_people(self, record: LearnerRecord, most: int) -> tuple[int, bool]:
        with self._store.writing() as writing:
            gone = writing.forget_people(record.id, most=most)
        return gone, gone == most

    # The thread

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
                    self.note_histories()
                self.apply_queued(in_turn=True)
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


@contextlib.contextmanager
def _isolated(failed: str, hosted: HostedLearner) -> Iterator[None]:
    """Errors with one learner do not affect others: they are logged."""
    try:
        yield
    except Conflict:
        pass  # another process was faster, or will be asked again
    except Exception as error:
        log.warning(failed, hosted.record.name, reason_of(error))


def _is_active(writing: Writing, hosted: HostedLearner) -> bool:
    """Whether a learner has not ended and has these items, and stays so until the transaction ends."""
    head = writing.hold([hosted.id])[hosted.id]
    return head.status is Status.ACTIVE and head.revision == hosted.record.revision


def _within_memory(hosted: HostedLearner) -> int:
    """How many reports of a learner to process at once."""
    return min(MOST, max(1, _MOST_COSTS // hosted.host.learner.dimension)) if hosted.host.whole else MOST
