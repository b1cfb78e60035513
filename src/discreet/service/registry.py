"""The learners of a store that are in memory, as the store has them."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence

from discreet.errors import UnknownName
from discreet.service.encryption import KeyRing
from discreet.service.hosted_learner import HostedLearner
from discreet.service.records import NAME
from discreet.service.rollback_guard import ENDED, RollbackGuard
from discreet.storage.records import LearnerRecord, Status
from discreet.storage.store import Store

#: Seconds after its last use for which a learner is followed at least.
IN_USE = 600.0
#: Learners read with one statement.
_AT_ONCE = 1_000


class Registry:
    """All learners. Those that are asked or told stay in memory; others are made when they are shown.

    Args:
        store: The store.
        ring: Seals their secrets.
        guard: Records how far they have released.
    """

    def __init__(self, store: Store, ring: KeyRing, guard: RollbackGuard) -> None:
        self._store, self._ring, self._guard = store, ring, guard
        self._lock = threading.Lock()
        #: All that somebody holds, by id: a learner is never in memory twice.
        self._made: weakref.WeakValueDictionary[int, HostedLearner] = weakref.WeakValueDictionary()
        #: The latest epochs that were asked or told here, by name.
        self._kept: dict[str, HostedLearner] = {}
        #: Those used since about `IN_USE` seconds ago, by id, and in as many seconds before.
        self._in_use: dict[int, HostedLearner] = {}
        self._used_before: dict[int, HostedLearner] = {}
        self._in_use_until = 0.0
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
            hosted = self.shown(name)  # another process may have created or restarted it
            self._kept[name] = hosted
        self._in_use[hosted.id] = hosted
        return hosted

    def active(self) -> list[HostedLearner]:
        """The active learners that this process has used lately."""
        if time.monotonic() > self._in_use_until:
            self._used_before, self._in_use = self._in_use, {}
            self._in_use_until = time.monotonic() + IN_USE
        found = (self._used_before | self._in_use).values()
        return [hosted for hosted in found if hosted.record.status is Status.ACTIVE]

    def with_ids(self, ids: Iterable[int]) -> Iterator[HostedLearner]:
        """The active ones among learners that have work to be done."""
        listed = list(ids)
        for some in (listed[k : k + _AT_ONCE] for k in range(0, len(listed), _AT_ONCE)):
            missing = [learner for learner in some if learner not in self._in_use]
            if missing:
                with self._store.reading() as reading:
                    records = reading.learners(missing)
                self._in_use |= {hosted.id: hosted for hosted in self.hosts(records)}
            for learner in some:
                hosted = self._in_use.get(learner)
                if hosted is not None and hosted.record.status is Status.ACTIVE:
                    yield hosted

    def every_active(self) -> Iterator[HostedLearner]:
        """All learners that can be asked and told."""
        with self._store.reading() as reading:
            records = reading.learners()
        for record in records:
            if record.status is Status.ACTIVE:
                yield from self.hosts([record])

    def shown(self, name: str) -> HostedLearner:
        """The latest epoch of a learner, as the store has it."""
        found = []
        if isinstance(name, str) and NAME.fullmatch(name):
            with self._store.reading() as reading:
                found = reading.latest(names=[name])
        if not found:
            raise UnknownName(f"No learner is named {name!r}.")
        return self.hosts(found)[0]

    def hosts(self, records: Sequence[LearnerRecord]) -> list[HostedLearner]:
        """Learners as the store has them.

        The rollback guard records releases before they are shown: whatever else is read of a learner, it
        catches up in the same reading.
        """
        held = {record.id: self._latest(record) for record in records}
        behind = [
            record.id
            for record in records
            if (made := held[record.id]) is None
            or made.generation < record.generation
            or made.catches_up_always
        ]
        states = {}
        with self._store.reading() as reading:
            # Settings as of the states.
            again = {record.id: record for record in (reading.learners(behind) if behind else ())}
            records = [again.get(record.id, record) for record in records]
            latest = {record.id: self._latest(record) for record in again.values()}
            if missing := [learner for learner, made in latest.items() if made is None]:
                states = reading.states(missing)
            for record in again.values():
                made = latest[record.id]
                if made is not None and made.record.revision == record.revision:
                    made.catch_up(reading)
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
        for used in (self._in_use, self._used_before):
            if hosted.id in used:
                used[hosted.id] = hosted
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
                found[hosted.record.lineage] = hosted.releases(reading)
        return found

    def record_ended(self) -> None:
        """Let the rollback guard know what has ended: it must not continue in an old backup either."""
        with self._store.reading() as reading:
            ended = reading.ended()
        for lineage in ended:
            self._guard.record(lineage, ENDED, durable=True)
