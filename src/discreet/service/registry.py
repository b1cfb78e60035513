"""The learners of a store: create, find and end them, and their public views."""

from __future__ import annotations

import contextlib
import json
import math
import re
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from discreet import checks
from discreet.errors import Archived, InvalidArgument, StaleState, UnknownName
from discreet.learners.host import Host, HostState
from discreet.service import ledger
from discreet.service.clock import minute_of
from discreet.service.encryption import KeyRing
from discreet.service.hosted_learner import Applied, HostedLearner
from discreet.service.records import (
    NAME,
    LearnerPage,
    LearnerView,
    MinuteView,
    MomentView,
    RecentChoice,
    check_name,
    members,
)
from discreet.service.rollback_guard import ENDED, RollbackGuard
from discreet.service.sealing import Seals
from discreet.storage.records import AuditRecord, Counts, LearnerRecord, Loss, Status
from discreet.storage.store import Store
from discreet.storage.writing import Writing

#: Seconds until a decision without feedback is closed, by default: of learners that learn from every round by
#: itself, and of those with phases, which wait for it.
DEADLINE, PHASE_DEADLINE = 7 * 86_400.0, 3_600.0
#: Sets times items of one call, and bytes of the sets in its answer.
MOST_CELLS, MOST_BYTES = 1_000_000, 4 << 20
#: Seconds after its last use for which a learner is followed at least.
IN_USE = 600.0
#: Bytes of a set in an answer besides its items: names of fields, an id or a time, a probability.
_OVERHEAD = 96
_LONGEST_DEADLINE = 10 * 365 * 86_400.0
_PART_OF_NAME = re.compile(r"[A-Za-z0-9_.\-]{0,100}")
#: Learners read with one statement.
_AT_ONCE = 1_000


class Registry:
    """All learners. Those that are asked or told stay in memory; others are made when they are shown.

    Args:
        store: The store.
        ring: Seals their secrets.
        guard: Records how far they have released.
        clock: Milliseconds since 1970.
    """

    def __init__(self, store: Store, ring: KeyRing, guard: RollbackGuard, clock: Callable[[], int]) -> None:
        self._store, self._ring, self._guard, self._clock = store, ring, guard, clock
        self._lock = threading.Lock()
        #: All that somebody holds, by id: a learner is never in memory twice.
        self._made: weakref.WeakValueDictionary[int, HostedLearner] = weakref.WeakValueDictionary()
        #: The latest epochs that were asked or told here, by name.
        self._kept: dict[str, HostedLearner] = {}
        #: Those used since about `IN_USE` seconds ago, by id, and in as many seconds before.
        self._in_use: dict[int, HostedLearner] = {}
        self._used_before: dict[int, HostedLearner] = {}
        self._in_use_until = 0.0
        self._set_bytes: dict[int, int] = {}
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
                self._in_use |= {hosted.id: hosted for hosted in self._hosts(records)}
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
                yield from self._hosts([record])

    def shown(self, name: str) -> HostedLearner:
        """The latest epoch of a learner, as the store has it."""
        found = []
        if isinstance(name, str) and NAME.fullmatch(name):
            with self._store.reading() as reading:
                found = reading.latest(names=[name])
        if not found:
            raise UnknownName(f"No learner is named {name!r}.")
        return self._hosts(found)[0]

    def _hosts(self, records: Sequence[LearnerRecord]) -> list[HostedLearner]:
        """Learners as the store has them.

        The rollback guard records releases before they are shown: whatever else is read of a learner, it
        catches up in the same reading.
        """
        held = {record.id: self._made.get(record.id) for record in records}
        states = {}
        with self._store.reading() as reading:
            if missing := [learner for learner, made in held.items() if made is None]:
                states = reading.states(missing)
            for record in records:
                made = held[record.id]
                if made is not None and (made.generation < record.generation or made.catches_up_always):
                    made.catch_up(reading)
        found = []
        for record in records:
            with self._lock:
                hosted = self._made.get(record.id)
                if hosted is None:
                    hosted = HostedLearner(record, *states[record.id], self._ring, self._guard)
                    self._made[record.id] = hosted
            if hosted.record.status is Status.ACTIVE:
                hosted.record = record
            if record.status is not Status.ACTIVE:
                self._guard.record(record.lineage, ENDED, durable=True)
            found.append(hosted)
        return found

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

    # Creating and ending

    def create(
        self, name: str, settings: dict[str, Any], population: str | None, deadline: float | None, by: str
    ) -> LearnerView:
        """Create a learner; see `LearnerService.create`."""
        check_name("learner", name)
        if deadline is None:
            deadline = DEADLINE if Host(settings).by_rounds else PHASE_DEADLINE
        seconds = checks.positive_number("learner", "deadline_seconds", deadline)
        if seconds > _LONGEST_DEADLINE:
            raise checks.invalid_argument("learner", "deadline_seconds", "at most ten years", deadline)
        with self._store.writing() as writing:
            self._add(writing, name, 1, settings, population, seconds, by)
        return self.view(name)

    def archive(self, name: str, by: str) -> LearnerView:
        """End a learner; see `LearnerService.archive`."""
        before = Status.CLOSED
        while before is Status.CLOSED:  # another process restarted it meanwhile: archive the next epoch
            hosted = self.named(name)
            with self._ending(hosted, Status.ARCHIVED) as (writing, before, _):
                if before is Status.ACTIVE:
                    details = {"epoch": hosted.record.epoch}
                    writing.add_audit(AuditRecord(self._clock(), by, "learner archived", name, details))
        return self.view(name)

    def restart(self, name: str, by: str) -> LearnerView:
        """Close an epoch and start the next; see `LearnerService.restart`."""
        hosted = self.named(name)
        record = hosted.record
        with self._ending(hosted, Status.CLOSED) as (writing, before, state):
            if before is not Status.ACTIVE:
                raise Archived(f"The learner {name!r} is archived, or another process has restarted it.")
            last = hosted.host.summary(state)
            settings = {name: record.settings[name] for name in ("kind", "items", "close")}
            settings["arguments"] = record.settings["arguments"] | hosted.host.start_at(last.point)
            self._add(writing, name, record.epoch + 1, settings, record.population, record.deadline, by)
        return self.view(name)

    @contextlib.contextmanager
    def _ending(self, hosted: HostedLearner, status: Status) -> Iterator[tuple[Writing, Status, HostState]]:
        """A transaction that ends a learner after applying what is queued.

        Yields the transaction, the status before, and the last state.
        """
        try:
            with self._store.writing() as writing:
                writing.start_update(hosted.id, wait=True, most=0)
                before, _ = writing.hold([hosted.id], to_end=True)[hosted.id]
                # No tell can come any more: what is queued now is all.
                while before is Status.ACTIVE and not hosted.stale:
                    update = writing.start_update(hosted.id, most=1_000)
                    assert update is not None
                    if not update.queued:
                        break
                    with contextlib.suppress(StaleState):
                        applied = hosted.apply_queued(writing, update)
                        hosted.write(writing, applied)
                        writing.add_counts(minute_of(self._clock()), {hosted.id: applied.counts})
                if before is Status.ACTIVE:
                    writing.drop_queued(hosted.id)
                    writing.drop_phases(hosted.id)
                    writing.set_status(hosted.id, status)
                generation, sealed = writing.state(hosted.id)
                state = hosted.state if hosted.damaged else hosted.opened(generation, sealed)
                yield writing, before, state
            hosted.show(Applied(generation, state, hosted.host.releases(state)))
        finally:
            with self._store.reading() as reading:  # whatever happened, take what the store has
                self._hosts(reading.learners([hosted.id]))

    def _add(
        self,
        writing: Writing,
        name: str,
        epoch: int,
        settings: dict[str, Any],
        population: str | None,
        deadline: float,
        by: str,
    ) -> None:
        learner = Host(settings)
        promise = learner.guarantee
        if not promise.private or promise.epsilon is None:
            raise InvalidArgument(f"A learner of the service must be private. {promise.reason}")
        if population is not None:
            share = Loss(name, epoch, promise.epsilon, promise.delta, promise.rounds_per_person)
            ledger.admit(writing, population, share)
        lineage = secrets.token_hex(16)
        writing.add_learner(
            LearnerRecord(
                name=name,
                epoch=epoch,
                settings=learner.settings,
                population=population,
                epsilon=promise.epsilon,
                deadline=deadline,
                lineage=lineage,
                secret=learner.keeps_secrets,
                created_at=self._clock(),
            ),
            Seals(self._ring, lineage).state(0, learner.encode(learner.start())),
        )
        details = {
            "epoch": epoch,
            "kind": learner.settings["kind"],
            "items": len(learner.settings["items"]),
            "epsilon": promise.epsilon,
            "delta": promise.delta,
            "population": population,
            "deadline_seconds": deadline,
        }
        action = "learner created" if epoch == 1 else "learner restarted"
        writing.add_audit(AuditRecord(self._clock(), by, action, name, details))

    # Public views

    def page(
        self,
        *,
        names: Iterable[str] | None = None,
        search: str = "",
        after: str = "",
        most: int = _AT_ONCE,
    ) -> LearnerPage:
        """Some learners, by name; see `LearnerService.page`."""
        if not _PART_OF_NAME.fullmatch(after):
            raise checks.invalid_argument("page", "after", "a name", after)
        if not _PART_OF_NAME.fullmatch(search):  # what people type may be in no name
            return LearnerPage((), None)
        with self._store.reading() as reading:
            records = reading.latest(names=names, search=search, after=after, most=most + 1)
            more, records = len(records) > most, records[:most]
            totals = reading.totals([record.id for record in records])
        hosts = self._hosts(records)
        views = tuple(_view(hosted, totals.get(hosted.id, Counts())) for hosted in hosts)
        return LearnerPage(views, views[-1].name if more else None)

    def views(self) -> Iterator[LearnerView]:
        """All learners, by name."""
        after: str | None = ""
        while after is not None:
            learners, after = self.page(after=after)
            yield from learners

    def view(self, name: str) -> LearnerView:
        """What is shown of a learner: settings, counts and released values."""
        hosted = self.shown(name)
        with self._store.reading() as reading:
            counts = reading.counts(hosted.id)
            hosted.catch_up(reading)
        return _view(hosted, counts)

    def minutes(self, name: str, since: int) -> list[MinuteView]:
        """Counts by minute; see `LearnerService.minutes`."""
        hosted = self.shown(name)
        with self._store.reading() as reading:
            found = reading.minutes(hosted.id, since)
            hosted.catch_up(reading)
        return [MinuteView(start, counts, *_estimate(hosted, counts)) for start, counts in found]

    def history(self, name: str, since: int) -> list[MomentView]:
        """What was released over time; see `LearnerService.history`."""
        hosted = self.shown(name)
        with self._store.reading() as reading:
            found = reading.history(hosted.id, since)
            hosted.catch_up(reading)
        return [MomentView.of(moment, has_mean=not hosted.host.whole) for moment in found]

    def recent(self, name: str, most: int) -> list[RecentChoice]:
        """Recently chosen sets; see `LearnerService.recent`."""
        hosted = self.shown(name)
        items = hosted.record.settings["items"]
        with self._store.reading() as reading:
            found = reading.recent(hosted.id, min(most, self.most_sets(hosted)))
        return [RecentChoice(at, members(items, subset)) for at, subset in found]

    def most_sets(self, hosted: HostedLearner) -> int:
        """How many sets one call may ask for or show, by items and by bytes."""
        return min(most_pieces(len(hosted.host.items)), max(1, MOST_BYTES // self._bytes(hosted)))

    def _bytes(self, hosted: HostedLearner) -> int:
        found = self._set_bytes.get(hosted.id)
        if found is None:  # items never change
            found = self._set_bytes[hosted.id] = set_bytes(hosted.record.settings["items"])
        return found


def _view(hosted: HostedLearner, counts: Counts) -> LearnerView:
    record = hosted.record
    status = record.status.value
    if hosted.stale and record.status is Status.ACTIVE:
        status = "damaged" if hosted.damaged else "stale"
    return LearnerView(
        name=record.name,
        epoch=record.epoch,
        kind=record.settings["kind"],
        items=tuple(record.settings["items"]),
        arguments=record.settings["arguments"],
        close=record.settings["close"],
        population=record.population,
        status=status,
        deadline_seconds=record.deadline,
        created_at=record.created_at,
        generation=hosted.generation,
        summary=hosted.host.summary(hosted.state),
        counts=counts,
    )


def most_pieces(items: int) -> int:
    """How many functions of so many items one call may tell."""
    return max(1, MOST_CELLS // items)


def set_bytes(items: Sequence[Any]) -> int:
    """Bytes of a set of all items in an answer, with its other fields."""
    return _OVERHEAD + len(json.dumps(items, separators=(",", ":")))


def answer_bytes(count: int, each: int) -> int:
    """Bytes of an answer with so many sets, at most; see `Registry.most_sets`."""
    return min(count * each, max(MOST_BYTES, each))


def _estimate(hosted: HostedLearner, counts: Counts) -> tuple[float | None, float | None]:
    """The mean that released bits stand for, and an upper bound on its standard error."""
    randomizer = hosted.host.randomizer
    if randomizer is None or counts.released == 0:
        return None, None
    low, high = randomizer.estimate(0), randomizer.estimate(1)
    error = abs(high - low) / 2 / math.sqrt(counts.released)
    return low + (high - low) * (counts.ones / counts.released), error
