"""The learners of a store that are in memory, as the store has them."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence

from discreet.errors import UnknownName
from discreet.service.encryption import KeyRing
from discreet.service.hosted_learner import HostedLearner, not_shown
from discreet.service.records import NAME
from discreet.service.rollback_guard import ENDED, RollbackGuard
from discreet.storage.reading import Reading
from discreet.storage.records import LearnerRecord, Status
from discreet.storage.store import Store

#: Seconds after its last use for which a learner is followed.
IN_USE = 600.0
#: Learners read with one statement.
_AT_ONCE = 1_000


class Registry:
    """All learners. Those that are asked or told stay in memory; others are made when they are shown."""

    def __init__(self, store: Store, ring: KeyRing, guard: RollbackGuard) -> None:
        self._store, self._ring, self._guard = store, ring, guard
        self._lock = threading.Lock()
        #: All that somebody holds, by id: a learner is never in memory twice.
        self._made: weakref.WeakValueDictionary[int, HostedLearner] = weakref.WeakValueDictionary()
        #: The latest epochs that were asked or told here, by name.
        self._kept: dict[str, HostedLearner] = {}
        #: Those that had work to be done lately, by id.
        self._worked_on: dict[int, HostedLearner] = {}
        self.record_ended()

    # Finding

    def named(self, name: str, lineage: str | None = None) -> HostedLearner:
        """The latest epoch of a learner that is asked, told or ended; it may be known to have a lineage."""
        hosted = self._kept.get(name) if isinstance(name, str) else None
        if (
            hosted is None
            or hosted.record.status is not Status.ACTIVE
            or lineage not in (None, hosted.record.lineage)
        ):
            hosted = self.stored(name)  # another process may have created or restarted it
            self._kept[name] = hosted
        hosted.used_at = time.monotonic()
        return hosted

    def active(self) -> list[HostedLearner]:
        """The active learners that this process has used lately."""
        since = time.monotonic() - IN_USE
        self._worked_on = {n: each for n, each in list(self._worked_on.items()) if each.used_at > since}
        found = dict.fromkeys([*self._kept.values(), *self._worked_on.values()])
        return [each for each in found if each.used_at > since and each.record.status is Status.ACTIVE]

    def with_ids(self, ids: Iterable[int]) -> Iterator[HostedLearner]:
        """Those among learners with work to be done that may continue."""
        listed = list(ids)
        for some in (listed[k : k + _AT_ONCE] for k in range(0, len(listed), _AT_ONCE)):
            found = {learner: made for learner in some if (made := self._made.get(learner)) is not None}
            if missing := set(some) - found.keys():
                with self._store.reading() as reading:
                    records = reading.learners(missing)
                    found |= {hosted.id: hosted for hosted in self.hosts(reading, records)}
            for learner in some:
                each = found.get(learner)
                if each is not None and each.record.status is Status.ACTIVE and not each.stale:
                    each.used_at = time.monotonic()
                    self._worked_on[learner] = each
                    yield each

    def every_active(self) -> Iterator[HostedLearner]:
        """All learners that can be asked and told."""
        with self._store.reading() as reading:
            records = reading.learners()
        for record in records:
            if record.status is Status.ACTIVE:
                with self._store.reading() as reading:
                    (hosted,) = self.hosts(reading, [record])
                yield hosted

    def shown(self, reading: Reading, name: str) -> HostedLearner:
        """The latest epoch of a learner, as the store has it."""
        found = []
        if isinstance(name, str) and NAME.fullmatch(name):
            found = reading.latest(names=[name])
        if not found:
            raise UnknownName(f"No learner is named {name!r}.")
        return self.hosts(reading, found)[0]

    def stored(self, name: str) -> HostedLearner:
        """The same, read by itself."""
        with self._store.reading() as reading:
            return self.shown(reading, name)

    def hosts(self, reading: Reading, records: Sequence[LearnerRecord]) -> list[HostedLearner]:
        """Learners as the store has them.

        The rollback guard records releases before they are shown: whatever else is read of a learner is read
        in the same transaction.
        """
        held = {each.id: made for each in records if (made := self._latest(each)) is not None}
        missing = [record.id for record in records if record.id not in held]
        states = reading.states(missing) if missing else {}
        for made, stored in not_shown(reading, held.values()):
            if stored is not None:
                made.follow(*stored)
        found = []
        for record in records:
            with self._lock:
                hosted = self._latest(record)
                if hosted is None:
                    before = self._made.get(record.id)
                    hosted = HostedLearner(record, *states[record.id], self._ring, self._guard, before)
                    self._put(hosted)
            if hosted.record.status is Status.ACTIVE and hosted.record.revision == record.revision:
                hosted.record = record
            if record.status is not Status.ACTIVE:
                self._guard.record(record.lineage, ENDED, durable=True)
            found.append(hosted)
        return found

    def latest(self, hosted: HostedLearner) -> HostedLearner:
        """The same learner with the items that it has by now, as far as this process knows."""
        return self._made.get(hosted.id, hosted)

    def _latest(self, record: LearnerRecord) -> HostedLearner | None:
        """The learner in memory, if it has the items of a record, or later ones."""
        made = self._made.get(record.id)
        return None if made is None or made.record.revision < record.revision else made

    def _put(self, hosted: HostedLearner) -> None:
        """Keep a learner, in place of the one with other items if there is one."""
        self._made[hosted.id] = hosted
        if hosted.id in self._worked_on:
            self._worked_on[hosted.id] = hosted
        kept = self._kept.get(hosted.record.name)
        if kept is not None and kept.id == hosted.id:
            self._kept[hosted.record.name] = hosted

    # The rollback guard

    def releases(self) -> dict[str, int]:
        """How far each epoch of each learner has released, by lineage, for the rollback guard."""
        with self._store.reading() as reading:
            found = dict.fromkeys(reading.ended(), ENDED)
        for hosted in self.every_active():
            with self._store.reading() as reading:
                found[hosted.record.lineage] = hosted.releases(hosted.state, reading.applied(hosted.id))
        return found

    def record_ended(self) -> None:
        """Let the rollback guard know what has ended: it must not continue in an old backup either."""
        with self._store.reading() as reading:
            ended = reading.ended()
        for lineage in ended:
            self._guard.record(lineage, ENDED, durable=True)
