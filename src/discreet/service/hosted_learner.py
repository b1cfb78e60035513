"""A learner in the service: how it is hosted, and the committed state that asks are dealt from."""

from __future__ import annotations

import dataclasses
import functools
import logging
import math
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.errors import Conflict, DiscreetError, InvalidArgument, StaleState, StoreError, WrongKey
from discreet.learners.host import NOTHING, Host, HostState, OpenSums
from discreet.learners.tickets import INLINE, Plan, phase_of
from discreet.service.drawn_bits import DrawnBits
from discreet.service.encryption import KeyRing
from discreet.service.records import most_sets, unpacked
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.sealing import Seals
from discreet.storage.reading import Reading
from discreet.storage.records import (
    Counts,
    Head,
    LearnerRecord,
    Moment,
    PhaseRecord,
    StateUpdate,
    Status,
)
from discreet.storage.writing import Writing

#: Phases whose plans are kept in memory.
_PLANS = 64

#: A ticket and its report.
Told = tuple[bytes, bytes]
#: What the store has of a learner: the generation, the state (None if it is shown), reports in open sums.
Stored = tuple[int, bytes | None, int]

log = logging.getLogger("discreet.service")


@dataclasses.dataclass(frozen=True)
class Applied:
    """A state that becomes visible once its transaction is committed.

    Attributes:
        generation: Of the state.
        state: The state.
        in_sums: How many reports are in open sums then.
        sealed: The state as it is written; None if it is the one that was read.
        sums: The sums of open phases that changed, sealed, and how many reports are in each.
        reports: The decisions whose reports were applied; their draws and payloads say nothing any more.
        released: Released bits in this update.
        ones: How many of them were 1.
    """

    generation: int
    state: HostState
    in_sums: int
    sealed: bytes | None = None
    sums: Mapping[int, tuple[int, bytes]] = dataclasses.field(default_factory=dict)
    reports: Sequence[bytes] = ()
    released: int = 0
    ones: int = 0

    @property
    def counts(self) -> Counts:
        """What it adds to the counts."""
        return Counts(released=self.released, ones=self.ones)


class HostedLearner:
    """One learner, with the record, the state and the number of reports in open sums that the store has.

    With other items it is another object, which takes the place of the one `before`.

    Attributes:
        record: At the time it was read. Its settings stay.
        host: Deals, reports and applies; it holds no state.
        stale: Whether it must not continue: the store is an old backup, or its state is damaged.
        damaged: Whether the state in the store cannot be read.
        seals: What depends on the key.
        drawn: Bits that may not be committed yet.
    """

    def __init__(
        self,
        record: LearnerRecord,
        generation: int,
        state: bytes,
        applied: int,
        ring: KeyRing,
        guard: RollbackGuard,
        before: HostedLearner | None = None,
    ) -> None:
        self.record = record
        self.id = record.id
        self._guard = guard
        self.host = Host(record.settings)
        self.seals = Seals(ring, record.lineage)
        self.drawn: DrawnBits = DrawnBits(self.host) if before is None else before.drawn
        #: The committed state that is shown, and its generation: asks are dealt from it.
        self._shown = (-1, self.host.start())
        #: The last state that was written or read, as it is stored, and as a value.
        self._decoded = (b"", self._shown[1])
        self._showing, self._applying = threading.Lock(), threading.Lock()
        items = len(self.host.items)
        self._plan = functools.lru_cache(_PLANS)(lambda plan, total: Plan.decode(plan, items, total))
        self.stale = self.damaged = False
        #: Whether the rollback guard could not record the last committed state.
        self._unrecorded = False
        #: The generation that is in the history, and when the next may be noted.
        self.noted = (generation, 0)
        #: When it was asked, told or worked on last, in seconds.
        self.used_at: float = -math.inf if before is None else before.used_at
        try:
            self.follow(generation, state, applied)
        except (InvalidArgument, WrongKey):  # the key is the right one; other learners can continue
            log.error("%s: its stored state is damaged", record.name)
            self.stale = self.damaged = True
            self._shown = generation, self._shown[1]

    @property
    def state(self) -> HostState:
        """The committed state that is shown."""
        return self._shown[1]

    @property
    def generation(self) -> int:
        """Of this state."""
        return self._shown[0]

    @functools.cached_property
    def most_sets(self) -> int:
        """How many sets one call may ask for or show."""
        return most_sets(self.record.settings["items"])

    @property
    def limited(self) -> bool:
        """Whether it has a horizon."""
        return self.host.horizon < 1 << 32

    def check(self) -> None:
        """Raise `StaleState` if it is active but must not continue."""
        if self.stale and self.record.status is Status.ACTIVE:
            raise self._stale_error()

    def obstacle(self, generation: int, shown: int) -> DiscreetError | None:
        """Why it cannot be asked or told now; None if it can.

        Args:
            generation: In the store, as a transaction sees it.
            shown: The generation that was shown when the transaction began.
        """
        if generation < shown:  # the database was restored while this process had it open
            self.stale = True
        if self.stale:
            return self._stale_error()
        if self._unrecorded:  # an old backup would release again what is not recorded
            return StoreError("The rollback guard cannot be written; nothing was changed.")
        return None

    def _stale_error(self) -> StaleState:
        if self.damaged:
            return StaleState(
                f"The stored state of {self.record.name!r} is damaged. Restore the latest state, or close "
                "this epoch and start the next (`restart`)."
            )
        return StaleState(
            f"The store is older than what {self.record.name!r} has released: an old backup must not be "
            "continued, it would release the same data again. Restore the latest state, or close this "
            "epoch and start the next (`restart`)."
        )

    def require_settings(self, head: Head) -> None:
        """Raise `Conflict` if the learner has other items by now."""
        if head.revision < self.record.revision:  # the database was restored while this process had it open
            self.stale = True
            raise self._stale_error()
        if head.revision != self.record.revision:
            raise self._changed()

    def _changed(self) -> Conflict:
        return Conflict(f"The items of {self.record.name!r} were changed just now; nothing else was.")

    # Showing what is committed

    def show(self, applied: Applied) -> None:
        """Make a committed state visible if it is newer; the rollback guard records it first."""
        generation, lineage = applied.generation, self.record.lineage
        releases = self.releases(applied.state, applied.in_sums)
        with self._showing:
            newer = generation > self.generation  # otherwise another thread has shown a later one meanwhile
            if newer:
                # Stale for good: later releases are not in this line of states.
                self.stale = self.stale or self._guard.is_behind(lineage, releases)
            if not self.stale:
                try:
                    self._guard.record(lineage, releases, durable=self.record.secret)
                    self._unrecorded = False
                except StoreError:
                    self._unrecorded = True
                    raise
            if newer:
                self._shown = generation, applied.state

    def catch_up(self, reading: Reading) -> None:
        """Show the latest state that the store has.

        Raises:
            StoreError: The rollback guard cannot record it, so it must not be shown.
            Conflict: It has other items by now.
        """
        for _, stored in not_shown(reading, [self]):
            if stored is None:
                raise self._changed()
            self.follow(*stored)

    def follow(self, generation: int, sealed: bytes | None, in_sums: int) -> None:
        """Show a state that the store has, or None if it is shown, with so many reports in open sums."""
        shown, state = self._shown
        if sealed is not None:
            state = self.opened(generation, sealed)
        elif shown != generation:  # another thread has shown a later one: reports may be in it, not in sums
            return
        self.show(Applied(generation, state, in_sums))

    def releases(self, state: HostState, in_sums: int) -> int:
        """How often it has released something up to a state, with so many reports in open sums."""
        return self.host.releases(state) + (in_sums if self._counts_open else 0)

    @property
    def catches_up_always(self) -> bool:
        """Whether something may have been released, or must be recorded, though its state is shown."""
        return self._counts_open or self._unrecorded

    @property
    def _counts_open(self) -> bool:
        """Whether reports in open sums were released already: bits are, as they arrive."""
        return self.host.local and not self.host.by_rounds

    def opened(self, generation: int, sealed: bytes) -> HostState:
        """A state that the store has; the last one is not decoded again."""
        known, state = self._decoded
        if known != sealed:
            state = self.host.decode(self.seals.open_state(generation, sealed))
            self._decoded = sealed, state
        return state

    def plan_of(self, phase: PhaseRecord) -> Plan:
        """The plan of a stored phase; the latest ones are not decoded again."""
        return self._plan(phase.plan, phase.total)

    # Other items

    def change_items(
        self, writing: Writing, update: StateUpdate, add: Sequence[Any], retire: Sequence[Any], now: int
    ) -> Mapping[str, Any]:
        """Write its state and settings with other items; see `Session.change_items`. Returns the settings.

        The open phases end. Where reports are of other sets now, they are given up, and the open decisions
        closed.
        """
        with self._applying:
            state = self.latest_state(update)
        open_phases = writing.open_phases(self.id)
        # A set that was shown must not seem to have been another one.
        full = len(self.host.items) + len(add) > self.host.most_items
        shown = [unpacked(each, len(self.host.items)) for each in writing.subsets(self.id)] if full else []
        changed = self.host.changed(
            state,
            add,
            retire,
            [self.plan_of(each).phase for each in open_phases],
            np.array(shown, dtype=np.bool_).reshape(len(shown), len(self.host.items)),
        )
        encoded = changed.host.encode(changed.state)
        sealed = self.seals.state(update.generation + 1, encoded)
        writing.put_states({self.id: (update.generation, sealed)})
        writing.put_settings(self.id, changed.host.settings)
        if changed.takes_reports:
            writing.end_dealing(self.id)
        else:
            writing.drop_queued(self.id)
            writing.drop_phases(self.id, [each.number for each in open_phases])
            expired = Counts(expired=writing.expire_open(self.id, now))
            writing.add_counts({self.id: expired})
        return changed.host.settings

    # Applying

    def apply_now(self, generation: int, told: Sequence[Told]) -> Applied:
        """Apply reports of rounds that are phases by themselves to the shown state: nothing is read.

        Raises:
            Conflict: The shown state is not of this generation: another thread has just committed a later
                one.
        """
        shown, state = self._shown
        if shown != generation:
            raise Conflict(f"The learner {self.record.name!r} was updated just now; nothing was changed.")
        with self._applying:
            self._refuse_old(state, 0)
            return self._applied(generation, state, 0, told)

    def apply_queued(self, reading: Reading, update: StateUpdate) -> Applied:
        """Apply queued reports to the stored state. Nothing is visible before it is written and shown."""
        with self._applying:
            before = update.generation, self.latest_state(update), update.applied
            told = [
                (each.draw, self.seals.open_feedback(each.decision_id, each.payload))
                for each in update.queued
            ]
            plans, sums = self._open_phases(reading, {phase_of(ticket) for ticket, _ in told} - {INLINE})
            applied = self._applied(*before, told, plans, sums)
            return dataclasses.replace(applied, reports=[each.decision_id for each in update.queued])

    def _applied(
        self,
        generation: int,
        before: HostState,
        in_sums: int,
        told: Sequence[Told],
        plans: Mapping[int, Plan] = NOTHING,
        sums: Mapping[int, OpenSums] = NOTHING,
    ) -> Applied:
        """Tickets and reports applied to a state, and to sums."""
        told = told[: self.host.horizon - self.host.rounds(before)]
        tickets, reports = [ticket for ticket, _ in told], [report for _, report in told]
        after, changed = self.host.apply(before, tickets, reports, plans, sums)
        sealed = None
        if after is not before:
            generation += 1
            sealed = self._sealed(generation, after)
        bits = b"".join(reports) if self.host.local else b""
        before_in = sum(sums[number].applied for number in changed if number in sums)
        return Applied(
            generation,
            after,
            in_sums + sum(each.applied for each in changed.values()) - before_in,
            sealed,
            {number: (each.applied, self.seals.sums(number, each)) for number, each in changed.items()},
            released=len(bits),
            ones=bits.count(1),
        )

    def close(self, reading: Reading, number: int) -> Applied | None:
        """Release the sums of a complete phase: noise is drawn, and the policy learns. Nothing is written.

        None if another process was faster.
        """
        with self._applying:
            generation, sealed, in_sums = reading.states([self.id])[self.id]
            plans, sums = self._open_phases(reading, [number])
            if number not in sums:
                return None
            after = self.host.closed(self.opened(generation, sealed), plans[number], sums[number])
            sealed = self._sealed(generation + 1, after)
        return Applied(generation + 1, after, in_sums - sums[number].applied, sealed)

    def _sealed(self, generation: int, state: HostState) -> bytes:
        """A new state as it is written."""
        sealed = self.seals.state(generation, self.host.encode(state))
        self._decoded = sealed, state
        return sealed

    def moment(self, state: HostState, now: int) -> Moment:
        """What a state says of the time so far."""
        summary = self.host.summary(state)
        held = summary.held
        rounds = summary.rounds if held is None else held.learned_rounds
        return Moment(
            now,
            rounds,
            0.0 if summary.mean is None else summary.mean * rounds,
            0 if held is None else held.rounds,
            0.0 if held is None or held.mean is None else held.mean * held.rounds,
            np.array(summary.point, dtype="<f4").tobytes(),
        )

    def latest_state(self, update: StateUpdate) -> HostState:
        """The state that an update starts from; refused if it is an old one."""
        state = self.opened(update.generation, update.state)
        self._refuse_old(state, update.applied)
        return state

    def _refuse_old(self, state: HostState, in_sums: int) -> None:
        if self._guard.is_behind(self.record.lineage, self.releases(state, in_sums), look=True):
            self.stale = True
            raise self._stale_error()

    def _open_phases(
        self, reading: Reading, numbers: Collection[int]
    ) -> tuple[dict[int, Plan], dict[int, OpenSums]]:
        """The plans and sums of open phases."""
        plans, sums = dict[int, Plan](), dict[int, OpenSums]()
        found = reading.sums(self.id, numbers) if numbers else {}
        for number, record in (reading.phases(self.id, numbers) if numbers else {}).items():
            plans[number] = self.plan_of(record)
            if number in found:
                sums[number] = self.seals.open_sums(self.host, number, plans[number], *found[number])
        return plans, sums

    def neutral(self, ticket: bytes) -> bytes | None:
        """The report of a decision that nobody told in time; None if its ticket is damaged."""
        try:
            return self.host.neutral(ticket)
        except InvalidArgument:
            log.error("%s: a stored decision is damaged", self.record.name)
            return None


def not_shown(
    reading: Reading, learners: Iterable[HostedLearner]
) -> list[tuple[HostedLearner, Stored | None]]:
    """Learners of which the store may have more than is shown, and what it has: see `follow`.

    None if they have other items by now.
    """
    held = {hosted.id: hosted for hosted in learners}
    heads = reading.heads(held) if held else {}
    behind = {each for each, head in heads.items() if head.generation > held[each].generation}
    changed = {each for each in behind if heads[each].revision > held[each].record.revision}
    found: dict[int, Stored | None] = dict.fromkeys(changed)
    if same := behind - changed:
        found |= reading.states(same)
    if others := [each for each in heads if each not in behind and held[each].catches_up_always]:
        found |= {each: (at, None, in_sums) for each, (at, in_sums) in reading.progress(others).items()}
    return [(held[learner], stored) for learner, stored in found.items()]


def write(writing: Writing, applied: Mapping[HostedLearner, Applied]) -> None:
    """Write what was applied, in the transaction that read it."""
    states = {}
    for hosted, each in applied.items():
        for number, (count, sums) in each.sums.items():
            writing.put_sums(hosted.id, number, count, sums)
        if each.sealed is not None:
            states[hosted.id] = each.generation - 1, each.sealed
    if states:
        writing.put_states(states)
    writing.drop_feedback(decision_id for each in applied.values() for decision_id in each.reports)
