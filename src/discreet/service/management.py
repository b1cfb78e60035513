"""Create, show and end learners; populations and what is spent of their limits."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet import checks
from discreet.errors import Archived, StaleState, UnknownName
from discreet.learners.host import Host, HostState
from discreet.privacy.guarantee import Guarantee
from discreet.service import ledger
from discreet.service.admin_log import IN_PROCESS, note
from discreet.service.encryption import KeyRing
from discreet.service.hosted_learner import Applied, HostedLearner, write
from discreet.service.records import check_name
from discreet.service.registry import Registry
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.sealing import Seals
from discreet.service.views import (
    LearnerPage,
    LearnerView,
    MomentView,
    PopulationView,
    learner_view,
    moment_view,
)
from discreet.storage.reading import Reading
from discreet.storage.records import (
    Counts,
    LearnerRecord,
    Loss,
    PopulationRecord,
    StateUpdate,
    Status,
)
from discreet.storage.store import Store
from discreet.storage.writing import Writing

#: Seconds until a decision without feedback is closed, by default: of learners that learn from every round by
#: itself, and of those with phases, which wait for it.
DEADLINE, PHASE_DEADLINE = 7 * 86_400.0, 3_600.0
_LONGEST_DEADLINE = 10 * 365 * 86_400.0
_PART_OF_NAME = re.compile(r"[A-Za-z0-9_.\-]{0,100}")
#: Learners in one page.
_MOST = 1_000


class Management:
    """The learners and populations of a store; `registry` has those that are in memory."""

    def __init__(self, store: Store, ring: KeyRing, guard: RollbackGuard, clock: Callable[[], int]) -> None:
        self._store, self._ring, self._clock = store, ring, clock
        self.registry = Registry(store, ring, guard)

    def create(
        self,
        name: str,
        kind: str,
        items: int | Sequence[Hashable],
        arguments: Mapping[str, Any],
        *,
        population: str | None = None,
        deadline_seconds: float | None = None,
        by: str = IN_PROCESS,
    ) -> LearnerView:
        """Create a learner.

        Args:
            name: Letters, digits and ``_.-``, at most 100.
            kind: "bandit" (a `BanditLearner`), "full_information" (a `FullInformationLearner`), or one that
                `learners.host.register` was given a custom policy for.
            items: How many, or their names: strings or integers.
            arguments: The other arguments of the constructor, as JSON types.
            population: The people it learns from; its epsilon is added to their privacy loss.
            deadline_seconds: When decisions without feedback are closed: by default after an hour; after
                seven days for learners that learn from every round by itself.
            by: Who creates it, for the log.

        Raises:
            AlreadyExists: The name is taken.
            BudgetExceeded: The population's limit does not allow it.
        """
        check_name("learner", name)
        settings = {"kind": kind, "items": items, "arguments": dict(arguments)}
        if deadline_seconds is None:
            deadline_seconds = DEADLINE if Host(settings).by_rounds else PHASE_DEADLINE
        deadline = checks.positive_number("learner", "deadline_seconds", deadline_seconds)
        if deadline > _LONGEST_DEADLINE:
            raise checks.invalid_argument("learner", "deadline_seconds", "at most ten years", deadline)
        with self._store.writing() as writing:
            made = self._add(writing, name, 1, settings, population, deadline)
        note(by, "learner created", name, **made)
        return self.learner(name)

    def archive(self, name: str, *, by: str = IN_PROCESS) -> LearnerView:
        """End a learner after applying queued feedback. It stays visible, and its loss stays counted."""
        before = Status.CLOSED
        while before is Status.CLOSED:  # another process restarted it meanwhile: archive the next epoch
            hosted = self.registry.stored(name)
            with self._ending(hosted, Status.ARCHIVED) as (_, before, _):
                pass
        if before is Status.ACTIVE:
            note(by, "learner archived", name, epoch=hosted.record.epoch)
        return self.learner(name)

    def restart(self, name: str, *, by: str = IN_PROCESS) -> LearnerView:
        """Close a learner's epoch and start the next, which goes on with what was learned.

        For learners that are stale. Open decisions are forgotten, an open phase is never released, and the
        epsilon of the new epoch is added to the ledger.
        """
        hosted = self.registry.stored(name)
        record = hosted.record
        with self._ending(hosted, Status.CLOSED) as (writing, before, state):
            if before is not Status.ACTIVE:
                raise Archived(f"The learner {name!r} is archived, or another process has restarted it.")
            settings = {name: record.settings[name] for name in ("kind", "items", "arguments")}
            settings["retired"] = record.settings.get("retired", [])
            epoch, first = record.epoch + 1, hosted.host.restarted(state)
            made = self._add(writing, name, epoch, settings, record.population, record.deadline, first)
        note(by, "learner restarted", name, **made)
        return self.learner(name)

    def change_items(
        self,
        name: str,
        *,
        add: Sequence[Hashable] = (),
        retire: Sequence[Hashable] = (),
        by: str = IN_PROCESS,
    ) -> LearnerView:
        """Let a learner go on with other items, with what it learned and with the same budget.

        For the model and choose; see `Session.change_items`. It stays the same epoch: nothing is added to the
        ledger, and people are counted on. Open decisions of a bandit can still be told; those of a learner
        that is told functions, or for new items what items bring, are closed, and answered as expired. A
        retired item gives its place to a new one only when no remembered decision has it.
        """
        hosted = self.registry.stored(name)
        hosted.check()
        with self._changing(hosted) as (writing, update):
            settings = hosted.change_items(writing, update, add, retire, self._clock())
        before = hosted.record.settings
        note(
            by,
            "items changed",
            name,
            epoch=hosted.record.epoch,
            items=len(settings["items"]),
            added=[item for item in settings["items"] if item not in before["items"]],
            retired=settings["retired"],
        )
        return self.learner(name)

    @contextlib.contextmanager
    def _changing(self, hosted: HostedLearner) -> Iterator[tuple[Writing, StateUpdate]]:
        """A transaction that changes a learner which goes on; nobody else asks, tells or updates it."""
        try:
            with self._store.writing() as writing:
                update = writing.start_update(hosted.id, wait=True, most=0)
                assert update is not None
                head = writing.hold([hosted.id], alone=True)[hosted.id]
                hosted.require_settings(head)
                if head.status is not Status.ACTIVE:
                    raise Archived(f"The learner {hosted.record.name!r} is {head.status.value}.")
                yield writing, update
        finally:
            self._reread(hosted)

    def _reread(self, hosted: HostedLearner) -> None:
        """Whatever happened, take what the store has."""
        with self._store.reading() as reading:
            self.registry.hosts(reading, reading.learners([hosted.id]))

    @contextlib.contextmanager
    def _ending(self, hosted: HostedLearner, status: Status) -> Iterator[tuple[Writing, Status, HostState]]:
        """A transaction that ends a learner after applying what is queued.

        Yields the transaction, the status before, and the last state.
        """
        try:
            with self._store.writing() as writing:
                writing.start_update(hosted.id, wait=True, most=0)
                head = writing.hold([hosted.id], alone=True)[hosted.id]
                hosted.require_settings(head)
                before = head.status
                # No tell can come any more: what is queued now is all.
                while before is Status.ACTIVE and not hosted.stale:
                    update = writing.start_update(hosted.id, most=1_000)
                    assert update is not None
                    if not update.queued:
                        break
                    with contextlib.suppress(StaleState):
                        applied = hosted.apply_queued(writing, update)
                        write(writing, {hosted: applied})
                        writing.add_counts({hosted.id: applied.counts})
                if before is Status.ACTIVE:
                    writing.drop_queued(hosted.id)
                    writing.drop_phases(hosted.id)
                    writing.set_status(hosted.id, status)
                generation, sealed = writing.state(hosted.id)
                state = hosted.state if hosted.damaged else hosted.opened(generation, sealed)
                yield writing, before, state
            hosted.show(Applied(generation, state, in_sums=0))
        finally:
            self._reread(hosted)

    def _add(
        self,
        writing: Writing,
        name: str,
        epoch: int,
        settings: dict[str, Any],
        population: str | None,
        deadline: float,
        first: HostState | None = None,
    ) -> dict[str, Any]:
        """Add an epoch; return what the log says about it."""
        learner = Host(settings)
        promise = learner.guarantee
        assert promise.epsilon is not None  # no learner that can be hosted has Gaussian noise
        if population is not None:
            share = Loss(name, epoch, promise.epsilon, promise.delta)
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
            Seals(self._ring, lineage).state(0, learner.encode(first or learner.start())),
        )
        return {
            "epoch": epoch,
            "kind": learner.settings["kind"],
            "items": len(learner.settings["items"]),
            "epsilon": promise.epsilon,
            "delta": promise.delta,
            "population": population,
            "deadline_seconds": deadline,
        }

    # What is shown

    def learners(self) -> list[LearnerView]:
        """The latest epoch of every learner, by name."""
        found, after = list[LearnerView](), "start"
        while after:
            page = self.page(limit=_MOST, after=found[-1].name if found else "")
            found, after = [*found, *page.learners], page.next
        return found

    def page(
        self,
        *,
        limit: int = 100,
        after: str = "",
        search: str = "",
        names: Iterable[str] | None = None,
    ) -> LearnerPage:
        """Some learners, by name.

        Args:
            limit: How many, up to 1,000.
            after: Only names after this one.
            search: Only names that contain this, in capitals or not.
            names: Only these.
        """
        most = checks.integer("page", "limit", limit, 1, _MOST)
        if not _PART_OF_NAME.fullmatch(after):
            raise checks.invalid_argument("page", "after", "a name", after)
        if not _PART_OF_NAME.fullmatch(search):  # what people type may be in no name
            return LearnerPage(learners=())
        with self._store.reading() as reading:
            records = reading.latest(names=names, search=search, after=after, most=most + 1)
            more, records = len(records) > most, records[:most]
            totals = reading.totals([record.id for record in records])
            hosts = self.registry.hosts(reading, records)
        views = tuple(learner_view(hosted, totals.get(hosted.id, Counts())) for hosted in hosts)
        return LearnerPage(learners=views, next=views[-1].name) if more else LearnerPage(learners=views)

    def learner(self, name: str) -> LearnerView:
        """The public view of a learner."""
        with self._shown(name) as (hosted, reading):
            counts = reading.counts(hosted.id)
        return learner_view(hosted, counts)

    def guarantee(self, name: str) -> Guarantee:
        """The privacy guarantee of a learner."""
        with self._shown(name) as (hosted, _):
            return hosted.host.guarantee

    def history(self, name: str, since: int = 0) -> list[MomentView]:
        """What a learner had released over time, since a time in milliseconds: one entry a minute at most."""
        with self._shown(name) as (hosted, reading):
            found = reading.history(hosted.id, since)
        return [moment_view(hosted, moment) for moment in found]

    @contextlib.contextmanager
    def _shown(self, name: str) -> Iterator[tuple[HostedLearner, Reading]]:
        with self._store.reading() as reading:
            yield self.registry.shown(reading, name), reading

    # Populations

    def set_population(
        self, name: str, limit: float | None = None, *, by: str = IN_PROCESS
    ) -> PopulationView:
        """Create a population, or change the limit of its people's total privacy loss; None lifts it."""
        check_name("population", name)
        if limit is not None:
            limit = checks.positive_number("population", "limit", limit)
        with self._store.writing() as writing:
            before = writing.lock_population(name)
            writing.add_population(PopulationRecord(name, limit))
        note(by, "population set", name, limit=limit, **({} if before is None else {"before": before.limit}))
        return self.population(name)

    def populations(self) -> list[PopulationView]:
        """All populations, by name."""
        with self._store.reading() as reading:
            return [ledger.view(reading, population) for population in reading.populations()]

    def population(self, name: str) -> PopulationView:
        """The privacy loss of a population's people, by learner."""
        with self._store.reading() as reading:
            for population in reading.populations(name):
                return ledger.view(reading, population)
        raise UnknownName(f"No population is named {name!r}.")
