"""A learner in the service: how it is hosted, and the committed state that asks are dealt from."""

from __future__ import annotations

import collections
import dataclasses
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discreet.errors import Conflict, DiscreetError, InvalidArgument, StaleState, StoreError, WrongKey
from discreet.learners.host import Host, HostState, OpenSums
from discreet.learners.tickets import INLINE, Plan, phase_of
from discreet.service.drawn_bits import DrawnBits
from discreet.service.encryption import KeyRing
from discreet.service.records import MISSING, Feedback
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.sealing import Seals
from discreet.storage.base import Reading, StateUpdate, Writing
from discreet.storage.records import LearnerRecord, Moment, PhaseRecord, QueuedReport, Status

#: Phases whose plans are kept in memory.
_PLANS = 64

log = logging.getLogger("discreet.service")


@dataclasses.dataclass(frozen=True)
class Applied:
    """A state that becomes visible once its transaction is committed."""

    generation: int
    state: bytes
    #: How often the learner has released something, sums that are still open included.
    releases: int
    #: Released bits in this update, and how many of them were 1.
    released: int = 0
    ones: int = 0


class HostedLearner:
    """One learner.

    Args:
        record: From the store.
        generation: Of the state.
        state: From the store.
        applied: How many reports are in the sums of open phases.
        ring: Seals secrets.
        guard: Records how far it has released.

    Attributes:
        record: As above, at the time it was read.
        host: Deals, reports and applies; it holds no state.
        state: The committed one: asks are dealt from it, summaries show it.
        generation: Of this state.
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
    ) -> None:
        self.record = record
        self.id = record.id
        self._guard = guard
        self.host = Host(record.settings)
        self.seals, self.drawn = Seals(ring, record.lineage), DrawnBits(self.host)
        self.state = self.host.start()
        #: The last state that was applied or shown, as bytes and as a value.
        self._decoded: tuple[bytes, HostState] = (b"", self.state)
        self._showing, self._applying = threading.Lock(), threading.Lock()
        self._plans: collections.OrderedDict[int, Plan] = collections.OrderedDict()
        self._planning = threading.Lock()
        self.generation = -1
        self.stale = self.damaged = False
        self._latest = (-1, b"")
        #: Whether the rollback guard could not record the last committed state.
        self._unrecorded = False
        #: The generation that is in the history, and when the next may be noted.
        self.noted = (generation, 0)
        try:
            self.follow(generation, state, applied)
        except (InvalidArgument, WrongKey):  # the key is the right one; other learners can continue
            log.error("%s: its stored state is damaged", record.name)
            self.stale = self.damaged = True
            self.generation = generation

    @property
    def limited(self) -> bool:
        """Whether it has a horizon."""
        return self.host.horizon < 1 << 32

    @property
    def cap(self) -> int:
        """How many pieces of one person's feedback count."""
        return self.host.guarantee.rounds_per_person

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
                "this epoch and start a new one (`restart`)."
            )
        return StaleState(
            f"The store is older than what {self.record.name!r} has released: an old backup must not be "
            "continued, it would release the same data again. Restore the latest state, or close this "
            "epoch and start a new one from the last point (`restart`)."
        )

    def end(self, status: Status) -> None:
        """Take over the status that the store has."""
        self.record = dataclasses.replace(self.record, status=status)

    # Showing what is committed

    def show(self, applied: Applied) -> None:
        """Make a committed state visible if it is newer; the rollback guard records it first."""
        generation, releases, lineage = applied.generation, applied.releases, self.record.lineage
        with self._showing:
            value = self._value(applied.state)
            if generation > self.generation:  # otherwise it was read before another thread showed a later one
                # Stale for good: later releases are not in this line of states.
                self.stale = self.stale or self._guard.is_behind(lineage, releases)
            if not self.stale:
                try:
                    self._guard.record(lineage, releases, durable=self.record.secret)
                    self._unrecorded = False
                except StoreError:
                    self._unrecorded = True
                    raise
            if generation > self.generation:
                self.state, self.generation = value, generation
                self._latest = generation, applied.state

    def catch_up(self, reading: Reading) -> None:
        """Show the latest state that the store has.

        Raises:
            StoreError: The rollback guard cannot record it, so it must not be shown.
        """
        if reading.heads([self.id])[self.id][1] > self.generation:
            self.follow(*reading.states([self.id])[self.id])
        elif self.catches_up_always:  # bits are released before the state changes
            generation, state = self._latest
            self.show(Applied(generation, state, self._released(self._value(state), reading)))

    def follow(self, generation: int, sealed: bytes, applied: int) -> None:
        """Show a state that the store has, with so many reports in open sums; see `catch_up`."""
        state = self.seals.open_state(generation, sealed)
        self.show(Applied(generation, state, self._releases(self._value(state), applied)))

    def releases(self, reading: Reading) -> int:
        """How often it has released something up to the state that is shown."""
        return self._released(self.state, reading)

    def _released(self, state: HostState, reading: Reading) -> int:
        """How often it has released something, as the store says."""
        return self._releases(state, reading.applied(self.id) if self._counts_open else 0)

    def _releases(self, state: HostState, applied: int) -> int:
        return self.host.releases(state) + (applied if self._counts_open else 0)

    @property
    def catches_up_always(self) -> bool:
        """Whether something may have been released, or must be recorded, though its state is shown."""
        return self._counts_open or self._unrecorded

    @property
    def _counts_open(self) -> bool:
        """Whether reports in open sums were released already: bits are, as they arrive."""
        return self.host.local and not self.host.by_rounds

    def _value(self, state: bytes) -> HostState:
        """A state as a value; the last one is not decoded again."""
        known, value = self._decoded
        if known != state:
            value = self.host.decode(state)
            self._decoded = state, value
        return value

    # Phases

    def plan_of(self, phase: PhaseRecord) -> Plan:
        """The plan of a stored phase."""
        with self._planning:
            plan = self._plans.get(phase.number)
        if plan is None:
            plan = Plan.decode(phase.plan, len(self.host.items))
            self.remember(phase.number, plan)
        return plan

    def remember(self, number: int, plan: Plan) -> None:
        """Keep the plan of a phase in memory. A number that was not committed may come again."""
        with self._planning:
            self._plans[number] = plan
            while len(self._plans) > _PLANS:
                self._plans.popitem(last=False)

    def forget_plans(self) -> None:
        """A transaction failed: its phases do not exist."""
        with self._planning:
            self._plans.clear()

    # Applying

    def resume(self, writing: Writing, generation: int) -> StateUpdate:
        """An update from the shown state, without reading the store.

        Raises:
            Conflict: The shown state is not of this generation: another thread has just committed a later
                one.
        """
        if self._latest[0] != generation:
            raise Conflict(f"The learner {self.record.name!r} was updated just now; nothing was changed.")
        return writing.resume(self.id, generation, b"")

    def apply(
        self, writing: Writing, update: StateUpdate, tickets: Sequence[bytes], reports: Sequence[bytes]
    ) -> Applied:
        """Apply queued and new reports, and write the state. Nothing is visible before `show`.

        Args:
            writing: A transaction of the caller.
            update: Of this learner, in it.
            tickets: Of the new reports.
            reports: The new reports, not sealed.
        """
        with self._applying:
            state, before = self.latest_state(writing, update)
            told = self._opened(update.queued)
            from_queue = len(told)
            told += zip(tickets, reports, strict=True)
            plans, sums = self._open_phases(writing, told)
            after, changed, applied = self._apply(before, told, from_queue, plans, sums)
            same = after is before
            if not same:
                state = self.host.encode(after)
                self._decoded = state, after
        for number, each in changed.items():
            writing.put_sums(self.id, number, each.applied, self.seals.sums(number, each))
        generation = update.generation + (not same)
        if same:
            update.drop_queued()
        else:
            update.put(self.seals.state(generation, state))
        bits = b"".join(applied) if self.host.local else b""
        releases = self._released(after, writing)
        return Applied(generation, state, releases, len(bits), bits.count(1))

    def close(self, reading: Reading, number: int) -> tuple[int, bytes, Applied] | None:
        """Release the sums of a complete phase: noise is drawn, and the policy learns. Nothing is written.

        Returns:
            The generation that it starts from, the sealed state after, and what to show once it is committed.
        """
        with self._applying:
            generation, sealed = reading.state(self.id)
            record = reading.phases(self.id, [number]).get(number)
            found = reading.sums(self.id, [number]).get(number)
            if record is None or found is None:
                return None  # another process was faster
            plan = self.plan_of(record)
            sums = self.seals.open_sums(self.host, number, plan, *found)
            before = self._value(self.seals.open_state(generation, sealed))
            after = self.host.closed(before, plan, sums)
            state = self.host.encode(after)
            self._decoded = state, after
        releases = self._released(after, reading) - (sums.applied if self.host.local else 0)
        applied = Applied(generation + 1, state, releases)
        return generation, self.seals.state(generation + 1, state), applied

    def moment(self, state: bytes | None, now: int) -> Moment:
        """What a state says of the time so far: by default, the one that is shown."""
        summary = self.host.summary(self.state if state is None else self._value(state))
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

    def latest_state(self, writing: Writing, update: StateUpdate) -> tuple[bytes, HostState]:
        """The state that an update starts from; refused if it is an old one."""
        resumed = not update.state
        state = self._latest[1] if resumed else self.seals.open_state(update.generation, update.state)
        value = self._value(state)
        if self._guard.is_behind(self.record.lineage, self._released(value, writing), look=True):
            self.stale = True
            raise self._stale_error()
        return state, value

    def _opened(self, queued: Sequence[QueuedReport]) -> list[tuple[bytes, bytes]]:
        """Tickets and reports from the queue, except damaged ones, which would block all others."""
        opened, lost = [], 0
        for each in queued:
            try:
                payload = self.seals.open_feedback(each.decision_id, each.payload)
            except WrongKey:
                lost += 1
                neutral = None if phase_of(each.draw) == INLINE else self.neutral(each.draw)
                if neutral is None:
                    continue
                payload = neutral  # the phase needs it to be complete
            opened.append((each.draw, payload))
        self._report_lost(lost)
        return opened

    def _open_phases(
        self, reading: Reading, told: Iterable[tuple[bytes, bytes]]
    ) -> tuple[dict[int, Plan], dict[int, OpenSums]]:
        """The plans and sums of the phases that reports belong to."""
        numbers = {phase_of(ticket) for ticket, _ in told} - {INLINE}
        if not numbers:
            return {}, {}
        plans, sums = {}, {}
        found = reading.sums(self.id, numbers)
        for number, record in reading.phases(self.id, numbers).items():
            try:
                plans[number] = plan = self.plan_of(record)
                if number in found:
                    sums[number] = self.seals.open_sums(self.host, number, plan, *found[number])
            except (InvalidArgument, WrongKey):
                plans.pop(number, None)  # its reports are damaged, too
        return plans, sums

    def _apply(
        self,
        state: HostState,
        told: list[tuple[bytes, bytes]],
        from_queue: int,
        plans: Mapping[int, Plan],
        sums: Mapping[int, OpenSums],
    ) -> tuple[HostState, dict[int, OpenSums], list[bytes]]:
        """Apply tickets and reports, except queued ones that are damaged; return what was applied.

        A new report with a damaged ticket raises: it has not been acknowledged yet.
        """
        room = self.host.horizon - self.host.rounds(state)
        told = told[:room]
        try:
            after, changed = self.host.apply(state, *_transposed(told), plans, sums)
        except InvalidArgument:
            sound = [
                each
                for k, each in enumerate(told)
                if k >= from_queue or self.host.sound(*each, plans.get(phase_of(each[0])))
            ]
            if len(sound) == len(told):
                raise
            self._report_lost(len(told) - len(sound))
            return self._apply(state, sound, 0, plans, sums)
        return after, changed, [report for _, report in told]

    def _report_lost(self, count: int) -> None:
        if count:
            log.error("%s: %d stored decisions are damaged", self.record.name, count)

    # Preparing feedback

    def takes(self, feedback: Feedback) -> bool:
        """Whether feedback is of the right kind, whatever its value."""
        if feedback.person is not None and not isinstance(feedback.person, str):
            return False
        if self.host.whole:
            return feedback.function is not MISSING and feedback.cost is MISSING and feedback.released is None
        if feedback.function is not MISSING:
            return False
        if feedback.released is None:
            return feedback.cost is not MISSING
        return feedback.cost is MISSING and self.host.takes_bit(feedback.released)

    def neutral(self, ticket: bytes) -> bytes | None:
        """The report of a decision that nobody told in time; None if its ticket is damaged."""
        try:
            return self.host.neutral(ticket)
        except InvalidArgument:
            log.error("%s: a stored decision is damaged", self.record.name)
            return None


def _transposed(told: Sequence[tuple[bytes, bytes]]) -> tuple[list[bytes], list[bytes]]:
    return [ticket for ticket, _ in told], [report for _, report in told]
