"""The learners of a store: making, finding, ending them, and what may be shown of them."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from discreet import checks
from discreet.errors import AlreadyExists, Archived, InvalidArgument, StaleState, UnknownName
from discreet.learners.detached import DetachedBandit, detached
from discreet.service import ledger
from discreet.service.kept import Kept, sealed_state
from discreet.service.keys import KeyRing
from discreet.service.records import LearnerView, MinuteView, RecentChoice
from discreet.service.witness import ENDED, Witness
from discreet.storage.base import Store, Writing
from discreet.storage.records import Counts, LearnerRecord, NewLearner, Status

#: When a decision that was not told about is closed, unless a learner is told otherwise; in seconds.
DEADLINE = 7 * 86_400.0
#: Sets times items of one call, and bytes of the sets in one answer.
MOST_CELLS, MOST_BYTES = 1_000_000, 4 << 20
#: Bytes of a set in an answer besides its items: names of fields, an id or a time.
_BESIDES = 64
_LONGEST_DEADLINE = 10 * 365 * 86_400.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")

Found = TypeVar("Found")


class Registry:
    """All learners, held in memory as they are committed.

    Args:
        store: Where they are kept.
        ring: Seals their secrets.
        witness: Knows how far they had released.
        clock: Milliseconds since 1970.
    """

    def __init__(self, store: Store, ring: KeyRing, witness: Witness, clock: Callable[[], int]) -> None:
        self._store, self._ring, self._witness, self._clock = store, ring, witness, clock
        self._lock = threading.Lock()
        self._held: dict[int, Kept] = {}
        self._latest: dict[str, Kept] = {}
        self._set_bytes: dict[int, int] = {}
        self._look()

    def active(self) -> list[Kept]:
        """All that may go on."""
        return [kept for kept in list(self._latest.values()) if kept.record.status is Status.ACTIVE]

    def releases(self) -> dict[str, int]:
        """How far each epoch of each learner has released, by lineage, as a witness notes it."""
        return {
            kept.record.lineage: kept.shown.releases if kept.record.status is Status.ACTIVE else ENDED
            for kept in list(self._held.values())
        }

    def named(self, name: str) -> Kept:
        """The latest epoch of a learner."""
        kept = self._latest.get(name) if isinstance(name, str) else None
        if kept is None or kept.record.status is not Status.ACTIVE:
            self._look()  # somebody else may have made it just now, or restarted it
        return self.found(self._latest, "learner", name)

    def found(self, among: Mapping[str, Found], what: str, name: str) -> Found:
        """What is called so, or a invalid_argument."""
        if not isinstance(name, str) or name not in among:
            raise UnknownName(f"No {what} is called {name!r}.")
        return among[name]

    def checked_name(self, what: str, name: str) -> str:
        """A name that fits into addresses and logs."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise checks.invalid_argument(what, "name", "1 to 100 letters, digits, '_', '.', '-'", name)
        return name

    def create(
        self, name: str, settings: dict[str, Any], population: str | None, deadline: float
    ) -> LearnerView:
        """Make a learner; see `Desk.create`."""
        self.checked_name("learner", name)
        seconds = checks.positive_number("learner", "deadline_seconds", deadline)
        if seconds > _LONGEST_DEADLINE:
            raise checks.invalid_argument("learner", "deadline_seconds", "at most ten years", deadline)
        with self._store.writing() as writing:
            if any(record.name == name for record in writing.learners()):
                raise AlreadyExists(f"There is a learner called {name!r} already.")
            self._add(writing, name, 1, settings, population, seconds)
        self._look()
        return self.view(self.named(name))

    def archive(self, name: str) -> LearnerView:
        """End a learner; see `Desk.archive`."""
        before = Status.CLOSED
        while before is Status.CLOSED:  # somebody else restarted it just now: then the next epoch
            with self._ending(self.named(name), Status.ARCHIVED) as (_, before, _):
                pass
        return self.view(self.named(name))

    def restart(self, name: str) -> LearnerView:
        """Close an epoch and start the next; see `Desk.restart`."""
        kept = self.named(name)
        record = kept.record
        with self._ending(kept, Status.CLOSED) as (writing, before, state):
            if before is not Status.ACTIVE:
                raise Archived(f"The learner {name!r} is archived, or somebody else has restarted it.")
            last = detached(record.settings)
            last.restore(state)
            settings = {"kind": record.settings["kind"], "items": record.settings["items"]}
            settings["arguments"] = record.settings["arguments"] | {"start": list(last.summary().point)}
            self._add(writing, name, record.epoch + 1, settings, record.population, record.deadline)
        return self.view(self.named(name))

    @contextlib.contextmanager
    def _ending(self, kept: Kept, status: Status) -> Iterator[tuple[Writing, Status, bytes]]:
        """A transaction that ends a learner after all that was told is folded in.

        Gives the status it had before, and its last state.
        """
        try:
            with self._store.writing() as writing:
                writing.fold(kept.id, wait=True, most=0)
                before, _ = writing.hold([kept.id], to_end=True)[kept.id]
                # Nobody tells any more: what waits now is all there will ever be.
                while before is Status.ACTIVE and not kept.stale:
                    fold = writing.fold(kept.id, most=1_000)
                    assert fold is not None
                    if not fold.waiting:
                        break
                    with contextlib.suppress(StaleState):
                        kept.fold_waiting(writing, fold, self._clock())
                if before is Status.ACTIVE:
                    writing.drop_waiting(kept.id)
                    writing.set_status(kept.id, status)
                generation, sealed = writing.state(kept.id)
                state = kept.shown.state() if kept.damaged else kept.opened_state(generation, sealed)
                yield writing, before, state
            kept.show(generation, state)
        finally:
            self._look()  # whatever it led to, hold what the store has

    def _add(
        self,
        writing: Writing,
        name: str,
        epoch: int,
        settings: dict[str, Any],
        population: str | None,
        deadline: float,
    ) -> None:
        learner = detached(settings)
        promise = learner.guarantee
        if not promise.private or promise.epsilon is None:
            raise InvalidArgument(f"A learner that is kept must be private. {promise.reason}")
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
                state=sealed_state(self._ring, learner.keeps_secrets, lineage, 0, learner.state()),
                created_at=self._clock(),
            )
        )

    def _look(self) -> None:
        """Read the learners there are; what is held already stays held."""
        with self._lock:
            with self._store.reading() as reading:
                records = reading.learners()
                states = {r.id: reading.state(r.id) for r in records if r.id not in self._held}
            latest: dict[str, Kept] = {}
            for record in records:
                kept = self._held.get(record.id)
                if kept is None:
                    kept = self._held[record.id] = Kept(record, *states[record.id], self._ring, self._witness)
                kept.record = record
                if record.status is not Status.ACTIVE:  # nor does it go on in an old backup
                    self._witness.record(record.lineage, ENDED, durable=True)
                if record.name not in latest or latest[record.name].record.epoch < record.epoch:
                    latest[record.name] = kept
            self._latest = latest

    # What may be shown

    def views(self) -> list[LearnerView]:
        """All learners, by name."""
        self._look()
        return [self.view(kept) for _, kept in sorted(self._latest.items())]

    def view(self, kept: Kept) -> LearnerView:
        """One learner."""
        record: LearnerRecord = kept.record
        with self._store.reading() as reading:
            counts = reading.counts(record.id)
            kept.catch_up(reading)  # or what was released would be seen before the witness knows
        status = record.status.value
        if kept.stale and record.status is Status.ACTIVE:
            status = "damaged" if kept.damaged else "stale"
        return LearnerView(
            name=record.name,
            epoch=record.epoch,
            kind=record.settings["kind"],
            items=tuple(record.settings["items"]),
            arguments=record.settings["arguments"],
            population=record.population,
            status=status,
            deadline_seconds=record.deadline,
            created_at=record.created_at,
            generation=kept.generation,
            summary=kept.shown.summary(),
            counts=counts,
        )

    def minutes(self, name: str, since: int) -> list[MinuteView]:
        """What happened, minute by minute; see `Desk.minutes`."""
        kept = self.named(name)
        with self._store.reading() as reading:
            found = reading.minutes(kept.id, since)
            kept.catch_up(reading)
        return [MinuteView(minute.start, minute.counts, *_estimate(kept, minute.counts)) for minute in found]

    def recent(self, name: str, most: int) -> list[RecentChoice]:
        """The sets chosen lately; see `Desk.recent`."""
        kept = self.named(name)
        items = kept.record.settings["items"]
        with self._store.reading() as reading:
            found = reading.recent(kept.id, min(most, self.most_sets(kept)))
        return [RecentChoice(at, members(items, subset)) for at, subset in found]

    def most_sets(self, kept: Kept) -> int:
        """How many sets one call may ask for or look at: by their number of items, and by their bytes."""
        return min(most_pieces(len(kept.shown.items)), max(1, MOST_BYTES // self._bytes(kept)))

    def _bytes(self, kept: Kept) -> int:
        found = self._set_bytes.get(kept.id)
        if found is None:  # items never change
            found = self._set_bytes[kept.id] = set_bytes(kept.record.settings["items"])
        return found


def most_pieces(items: int) -> int:
    """How many functions of so many items one call may tell."""
    return max(1, MOST_CELLS // items)


def set_bytes(items: Sequence[Any]) -> int:
    """How long a set of all items is in an answer, with what is said about it."""
    return _BESIDES + len(json.dumps(items, separators=(",", ":")))


def answer_bytes(count: int, each: int) -> int:
    """How long an answer with a number of sets can be. More than `Registry.most_sets` are never given."""
    return min(count * each, max(MOST_BYTES, each))


def members(items: Sequence[Any], subset: bytes) -> tuple[Any, ...]:
    """The items of a subset as it is kept."""
    bits = np.unpackbits(np.frombuffer(subset, dtype=np.uint8), count=len(items), bitorder="little")
    return tuple(itertools.compress(items, bits.tolist()))


def _estimate(kept: Kept, counts: Counts) -> tuple[float | None, float | None]:
    """The mean that released bits stand for, and its standard error at most."""
    learner = kept.shown
    if not isinstance(learner, DetachedBandit) or counts.released == 0:
        return None, None
    low, high = learner.mean_of(0, 1), learner.mean_of(1, 1)
    assert low is not None
    assert high is not None
    error = abs(high - low) / 2 / math.sqrt(counts.released)
    return learner.mean_of(counts.ones, counts.released), error
