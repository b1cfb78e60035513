"""The learners of a store: create, find and end them, and their public views."""

from __future__ import annotations

import contextlib
import json
import math
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from discreet import checks
from discreet.errors import AlreadyExists, Archived, InvalidArgument, StaleState, UnknownName
from discreet.learners.host import Host
from discreet.service import ledger
from discreet.service.clock import minute_of
from discreet.service.encryption import KeyRing
from discreet.service.hosted_learner import Applied, HostedLearner, applied_in, sealed_state
from discreet.service.records import LearnerView, MinuteView, MomentView, RecentChoice, members
from discreet.service.rollback_guard import ENDED, RollbackGuard
from discreet.storage.base import Store, Writing
from discreet.storage.records import Counts, LearnerRecord, NewLearner, Status

#: Seconds until a decision without feedback is closed, by default: of learners that learn from every round by
#: itself, and of those with phases, which wait for it.
DEADLINE, PHASE_DEADLINE = 7 * 86_400.0, 3_600.0
#: Sets times items of one call, and bytes of the sets in its answer.
MOST_CELLS, MOST_BYTES = 1_000_000, 4 << 20
#: Bytes of a set in an answer besides its items: names of fields, an id or a time, a probability.
_OVERHEAD = 96
_LONGEST_DEADLINE = 10 * 365 * 86_400.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")

Found = TypeVar("Found")


class Registry:
    """All learners, in memory as they are committed.

    Args:
        store: The store.
        ring: Seals their secrets.
        guard: Records how far they have released.
        clock: Milliseconds since 1970.
    """

    def __init__(self, store: Store, ring: KeyRing, guard: RollbackGuard, clock: Callable[[], int]) -> None:
        self._store, self._ring, self._guard, self._clock = store, ring, guard, clock
        self._lock = threading.Lock()
        self._hosted: dict[int, HostedLearner] = {}
        self._latest: dict[str, HostedLearner] = {}
        self._set_bytes: dict[int, int] = {}
        self._load()

    def active(self) -> list[HostedLearner]:
        """The learners that can be asked and told."""
        return [hosted for hosted in list(self._latest.values()) if hosted.record.status is Status.ACTIVE]

    def releases(self) -> dict[str, int]:
        """How far each epoch of each learner has released, by lineage, for the rollback guard."""
        return {
            hosted.record.lineage: hosted.host.releases(hosted.state)
            if hosted.record.status is Status.ACTIVE
            else ENDED
            for hosted in list(self._hosted.values())
        }

    def named(self, name: str) -> HostedLearner:
        """The latest epoch of a learner."""
        hosted = self._latest.get(name) if isinstance(name, str) else None
        if hosted is None or hosted.record.status is not Status.ACTIVE:
            self._load()  # another process may have created or restarted it
        return self.find(self._latest, "learner", name)

    def find(self, among: Mapping[str, Found], what: str, name: str) -> Found:
        """The one with a name; raises `UnknownName`."""
        if not isinstance(name, str) or name not in among:
            raise UnknownName(f"No {what} is named {name!r}.")
        return among[name]

    def check_name(self, what: str, name: str) -> None:
        """Require a name that fits into URLs and logs."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise checks.invalid_argument(what, "name", "1 to 100 letters, digits, '_', '.', '-'", name)

    def create(
        self, name: str, settings: dict[str, Any], population: str | None, deadline: float | None
    ) -> LearnerView:
        """Create a learner; see `LearnerService.create`."""
        self.check_name("learner", name)
        if deadline is None:
            deadline = DEADLINE if Host(settings).by_rounds else PHASE_DEADLINE
        seconds = checks.positive_number("learner", "deadline_seconds", deadline)
        if seconds > _LONGEST_DEADLINE:
            raise checks.invalid_argument("learner", "deadline_seconds", "at most ten years", deadline)
        with self._store.writing() as writing:
            if any(record.name == name for record in writing.learners()):
                raise AlreadyExists(f"A learner named {name!r} already exists.")
            self._add(writing, name, 1, settings, population, seconds)
        self._load()
        return self.view(self.named(name))

    def archive(self, name: str) -> LearnerView:
        """End a learner; see `LearnerService.archive`."""
        before = Status.CLOSED
        while before is Status.CLOSED:  # another process restarted it meanwhile: archive the next epoch
            with self._ending(self.named(name), Status.ARCHIVED) as (_, before, _):
                pass
        return self.view(self.named(name))

    def restart(self, name: str) -> LearnerView:
        """Close an epoch and start the next; see `LearnerService.restart`."""
        hosted = self.named(name)
        record = hosted.record
        with self._ending(hosted, Status.CLOSED) as (writing, before, state):
            if before is not Status.ACTIVE:
                raise Archived(f"The learner {name!r} is archived, or another process has restarted it.")
            last = hosted.host.summary(hosted.host.decode(state))
            settings = {name: record.settings[name] for name in ("kind", "items", "close")}
            settings["arguments"] = record.settings["arguments"] | hosted.host.start_at(last.point)
            self._add(writing, name, record.epoch + 1, settings, record.population, record.deadline)
        return self.view(self.named(name))

    @contextlib.contextmanager
    def _ending(self, hosted: HostedLearner, status: Status) -> Iterator[tuple[Writing, Status, bytes]]:
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
                        applied = hosted.apply(writing, update, [], [])
                        counts = Counts(released=applied.released, ones=applied.ones)
                        writing.add_counts(hosted.id, minute_of(self._clock()), counts)
                if before is Status.ACTIVE:
                    writing.drop_queued(hosted.id)
                    writing.drop_phases(hosted.id)
                    writing.set_status(hosted.id, status)
                generation, sealed = writing.state(hosted.id)
                state = (
                    hosted.host.encode(hosted.state)
                    if hosted.damaged
                    else hosted.opened_state(generation, sealed)
                )
                yield writing, before, state
            hosted.show(Applied(generation, state, hosted.host.releases(hosted.host.decode(state))))
        finally:
            self._load()  # whatever happened, take what the store has

    def _add(
        self,
        writing: Writing,
        name: str,
        epoch: int,
        settings: dict[str, Any],
        population: str | None,
        deadline: float,
    ) -> None:
        learner = Host(settings)
        promise = learner.guarantee
        if not promise.private or promise.epsilon is None:
            raise InvalidArgument(f"A learner of the service must be private. {promise.reason}")
        if population is not None:
            ledger.admit(writing, population, promise.epsilon)
        lineage = secrets.token_hex(16)
        writing.add_learner(
            NewLearner(
                name=name,
                epoch=epoch,
                settings=learner.settings,
                population=population,
                epsilon=promise.epsilon,
                deadline=deadline,
                lineage=lineage,
                secret=learner.keeps_secrets,
                state=sealed_state(self._ring, lineage, 0, learner.encode(learner.start())),
                created_at=self._clock(),
            )
        )

    def _load(self) -> None:
        """Read the learners of the store; those in memory stay there."""
        with self._lock:
            with self._store.reading() as reading:
                records = reading.learners()
                states = {
                    r.id: (*reading.state(r.id), applied_in(reading, r.id))
                    for r in records
                    if r.id not in self._hosted
                }
            latest: dict[str, HostedLearner] = {}
            for record in records:
                hosted = self._hosted.get(record.id)
                if hosted is None:
                    hosted = self._hosted[record.id] = HostedLearner(
                        record, *states[record.id], self._ring, self._guard
                    )
                hosted.record = record
                if record.status is not Status.ACTIVE:  # it must not continue in an old backup either
                    self._guard.record(record.lineage, ENDED, durable=True)
                if record.name not in latest or latest[record.name].record.epoch < record.epoch:
                    latest[record.name] = hosted
            self._latest = latest

    # Public views

    def views(self) -> list[LearnerView]:
        """All learners, by name."""
        self._load()
        return [self.view(hosted) for _, hosted in sorted(self._latest.items())]

    def view(self, hosted: HostedLearner) -> LearnerView:
        """What is shown of a learner: settings, counts and released values."""
        record: LearnerRecord = hosted.record
        with self._store.reading() as reading:
            counts = reading.counts(record.id)
            hosted.catch_up(reading)  # the rollback guard records releases before they are shown
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

    def minutes(self, name: str, since: int) -> list[MinuteView]:
        """Counts by minute; see `LearnerService.minutes`."""
        hosted = self.named(name)
        with self._store.reading() as reading:
            found = reading.minutes(hosted.id, since)
            hosted.catch_up(reading)
        return [
            MinuteView(minute.start, minute.counts, *_estimate(hosted, minute.counts)) for minute in found
        ]

    def history(self, name: str) -> list[MomentView]:
        """What was released over time; see `LearnerService.history`."""
        hosted = self.named(name)
        with self._store.reading() as reading:
            return [MomentView.of(moment) for moment in reading.history(hosted.id)]

    def recent(self, name: str, most: int) -> list[RecentChoice]:
        """Recently chosen sets; see `LearnerService.recent`."""
        hosted = self.named(name)
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
