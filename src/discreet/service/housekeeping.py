"""What happens without being asked: folding what waits, following other processes, deadlines, compaction."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from discreet.errors import DiscreetError, InvalidArgument
from discreet.learners.detached import DetachedFunctions
from discreet.service.clock import minute_of
from discreet.service.kept import Kept
from discreet.service.witness import Witness
from discreet.storage.base import Store
from discreet.storage.records import Counts, Status

#: Seconds between folds while there is something to fold, and between looks for what others left.
FOLD_EVERY, LOOK_EVERY = 0.05, 1.0
#: Seconds between looks for decisions whose deadline has come, and between compactions.
SWEEP_EVERY, COMPACT_EVERY = 5.0, 600.0
#: How long a closed decision is known at least (a second tell is answered like the first); in seconds.
REMEMBERED = 7 * 86_400.0
#: How long minutes are kept before they are merged to hours, and hours before they are merged to days: what
#: is merged to, and after what age; in seconds. Counts are never lost: a horizon is checked against them.
MERGED = ((3_600, 7 * 86_400), (86_400, 90 * 86_400))
#: Decisions that are closed or forgotten in one transaction, and pieces of feedback that are folded in.
_AT_ONCE, _FOLDED_AT_ONCE = 2_000, 10_000
#: Of learners that are told functions: times the number of items, each of which has a cost.
_MOST_COSTS = 1 << 22
#: By how many milliseconds a decision may be written later than the time it bears, or clocks differ.
_LATE = 3_600_000

log = logging.getLogger("discreet.service")


class Housekeeping:
    """A thread that keeps a store in order, and the steps it takes, which may be called by themselves.

    Args:
        store: The store.
        witness: Of the store.
        learners: All learners that are held, by their numbers.
        clock: Milliseconds.
    """

    def __init__(
        self,
        store: Store,
        witness: Witness,
        learners: Callable[[], Iterable[Kept]],
        clock: Callable[[], int],
    ) -> None:
        self._store, self._witness, self._learners, self._clock = store, witness, learners, clock
        self._wake = threading.Event()
        self._closed = False
        self._behind: set[Kept] = set()
        self._thread = threading.Thread(target=self._run, name="discreet-housekeeping", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End, after the step that is under way. Blocks that are open stay as they are."""
        self._closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def hurry(self, behind: Iterable[Kept] = ()) -> None:
        """There is something to fold, or learners that another process has gone on with."""
        self._behind.update(behind)
        self._wake.set()

    def fold(self) -> int:
        """Fold in all that waits, of learners that nobody else is folding; how much it was."""
        with self._store.reading() as reading:
            waiting = reading.waiting()
        return sum(self._tried(kept) for kept in self._learners() if kept.id in waiting)

    def _tried(self, kept: Kept) -> int:
        """Fold one learner; one that cannot be folded does not keep the others from it."""
        most = _within_memory(kept, _FOLDED_AT_ONCE)
        total = 0
        try:
            while (count := self._fold(kept, most)) == most:
                total += count
            return total + count
        except DiscreetError as error:
            log.warning("%s could not be folded: %s", kept.record.name, error)
            return total

    def _fold(self, kept: Kept, most: int) -> int:
        if kept.stale:
            return 0
        with self._store.reading() as reading:
            kept.catch_up(reading)  # nothing more is released before what was is noted by the witness
        with self._store.writing() as writing:
            fold = writing.fold(kept.id, most=most)
            if fold is None or not fold.waiting or writing.heads([kept.id])[kept.id][0] is not Status.ACTIVE:
                return 0
            count = len(fold.waiting)
            folded = kept.fold_waiting(writing, fold, self._clock())
        kept.show(folded.generation, folded.state)
        return count

    def refresh(self, behind: Iterable[Kept] | None = None) -> None:
        """Show the latest committed states of learners: by default of all that have gone on elsewhere."""
        if behind is None:
            held = {kept.id: kept for kept in self._learners()}
            with self._store.reading() as reading:
                heads = reading.heads(held)
            behind = [held[n] for n, (_, generation) in heads.items() if generation > held[n].generation]
        for kept in behind:
            try:
                with self._store.reading() as reading:
                    kept.catch_up(reading)
            except DiscreetError as error:  # does not keep the others from it
                log.warning("%s could not be shown: %s", kept.record.name, error)

    def expire(self) -> int:
        """Close decisions whose deadline has come, with a neutral value through the same mechanism."""
        total = 0
        for kept in self._learners():
            count = most = _within_memory(kept, _AT_ONCE)
            while count == most and not kept.stale:
                count = self._expire(kept, most)
                total += count
        if total:
            self.hurry()
        return total

    def _expire(self, kept: Kept, most: int) -> int:
        now = self._clock()
        before = now - round(1000 * kept.record.deadline)
        with self._store.writing() as writing:
            if writing.hold([kept.id])[kept.id][0] is not Status.ACTIVE:
                return 0
            due = writing.expire(kept.id, kept.swept, before, now, most)
            if due:
                writing.add_waiting(kept.id, _neutral(kept, due))
                writing.add_counts(kept.id, minute_of(now), Counts(expired=len(due)))
        if len(due) < most:
            kept.swept = before - _LATE  # lower than it was, where the clock was put back
        return len(due)

    def compact(self) -> int:
        """Forget decisions that were closed long ago and people of learners that ended; merge old minutes.

        People of an ended epoch can go: nothing is ever told to it again, and the ledger adds up learners.

        Returns:
            How many decisions went.
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
        next_look = next_sweep = time.monotonic()
        next_compaction = next_look + 60
        while not self._closed:
            hurried = self._wake.wait(max(0.0, next_look - time.monotonic()))
            if self._closed:
                return
            try:
                if hurried:
                    self._wake.clear()
                    behind, self._behind = self._behind, set()
                    self.refresh(behind)
                if time.monotonic() >= next_look:
                    next_look = time.monotonic() + LOOK_EVERY
                    self.refresh()
                    self._witness.sync()
                self.fold()
                if time.monotonic() >= next_sweep:
                    next_sweep = time.monotonic() + SWEEP_EVERY
                    self.expire()
                if time.monotonic() >= next_compaction:
                    next_compaction = time.monotonic() + COMPACT_EVERY
                    self.compact()
            except DiscreetError as error:  # the store is out of reach, or busy: later
                log.warning("housekeeping was put off: %s", error)
            except Exception as error:  # not quoted: it may be about something private
                log.error("housekeeping failed with a %s", type(error).__name__)
            time.sleep(FOLD_EVERY)


def _within_memory(kept: Kept, most: int) -> int:
    """How many decisions of a learner are dealt with at once."""
    functions = isinstance(kept.shown, DetachedFunctions)
    return min(most, max(1, _MOST_COSTS // len(kept.shown.items))) if functions else most


def _neutral(kept: Kept, due: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """What is learnt from in place of feedback; nothing where a draw was damaged."""
    found = {}
    for key, draw in due.items():
        try:
            found[key] = kept.neutral(key, draw)
        except InvalidArgument:
            log.error("%s: a decision was damaged where it was kept", kept.record.name)
    return found
