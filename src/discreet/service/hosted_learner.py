"""A learner in the service: how it is hosted, and the committed state that asks are dealt from."""

from __future__ import annotations

import dataclasses
import logging
import secrets
import threading
from collections.abc import Sequence
from typing import Any

from discreet.errors import Conflict, DiscreetError, InvalidArgument, StaleState, StoreError, WrongKey
from discreet.learners.host import Host, HostState
from discreet.service.clock import minute_of
from discreet.service.encryption import KeyRing
from discreet.service.records import MISSING, Feedback
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.tell_tokens import tell_token
from discreet.storage.base import Reading, StateUpdate, Writing
from discreet.storage.records import Counts, LearnerRecord, QueuedReport, Status, split_ids

_STATE, _FEEDBACK = "state", "feedback"

log = logging.getLogger("discreet.service")


@dataclasses.dataclass(frozen=True)
class Applied:
    """A state that becomes visible once its transaction is committed."""

    generation: int
    state: bytes
    #: Released bits in this update, and how many of them were 1.
    released: int
    ones: int


class HostedLearner:
    """One learner.

    Args:
        record: From the store.
        generation: Of the state.
        state: From the store.
        ring: Seals secrets.
        guard: Records how far it has released.

    Attributes:
        record: As above, at the time it was read.
        host: Deals, reports and applies; it holds no state.
        state: The committed one: asks are dealt from it, summaries show it.
        generation: Of this state.
        stale: Whether it must not continue: the store is an old backup, or its state is damaged.
        damaged: Whether the state in the store cannot be read.
    """

    def __init__(
        self, record: LearnerRecord, generation: int, state: bytes, ring: KeyRing, guard: RollbackGuard
    ) -> None:
        self.record = record
        self.id = record.id
        self._ring, self._guard = ring, guard
        self.host = Host(record.settings)
        self.state = self.host.start()
        #: The last state that was applied or shown, as bytes and as a value.
        self._decoded: tuple[bytes, HostState] = (b"", self.state)
        self._showing, self._applying = threading.Lock(), threading.Lock()
        self.generation = -1
        self.stale = self.damaged = False
        self._latest = (-1, b"")
        #: Whether the rollback guard could not record the last committed state.
        self._unrecorded = False
        try:
            self.show(generation, self.opened_state(generation, state))
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

    def show(self, generation: int, state: bytes) -> None:
        """Make a committed state visible if it is newer; the rollback guard records it first."""
        with self._showing:
            if generation <= self.generation:
                return
            value = self._value(state)
            releases, lineage = self.host.releases(value), self.record.lineage
            # Stale for good: later releases are not in this line of states.
            self.stale = self.stale or self._guard.is_behind(lineage, releases)
            if not self.stale:
                try:
                    self._guard.record(lineage, releases, durable=self.record.secret)
                    self._unrecorded = False
                except StoreError:
                    self._unrecorded = True
                    raise
            self.state, self.generation = value, generation
            self._latest = generation, state

    def catch_up(self, reading: Reading) -> None:
        """Show the latest state that the store has.

        Raises:
            StoreError: The rollback guard cannot record it, so it must not be shown.
        """
        if reading.heads([self.id])[self.id][1] > self.generation:
            generation, state = reading.state(self.id)
            self.show(generation, self.opened_state(generation, state))

    def resume(self, writing: Writing, generation: int) -> StateUpdate:
        """An update from the shown state, without reading the store.

        Raises:
            Conflict: The shown state is not of this generation: another thread has just committed a later
                one.
        """
        latest, state = self._latest
        if latest != generation:
            raise Conflict(f"The learner {self.record.name!r} was updated just now; nothing was changed.")
        return writing.resume(self.id, generation, self.sealed_state(generation, state))

    def apply(self, update: StateUpdate, tickets: Sequence[bytes], reports: Sequence[bytes]) -> Applied:
        """Apply queued and new reports, and write the state. Nothing is visible before `show`.

        Args:
            update: In a transaction of the caller.
            tickets: Of the new reports.
            reports: The new reports, not sealed.
        """
        with self._applying:
            before = self._value(self.opened_state(update.generation, update.state))
            if self._guard.is_behind(self.record.lineage, self.host.releases(before), look=True):
                self.stale = True
                raise self._stale_error()
            told = self._opened(update.queued)
            from_queue = len(told)
            told += zip(tickets, reports, strict=True)
            room = self.host.horizon - self.host.rounds(before)
            after, applied = self._apply(before, told[:room], from_queue)
            state = self.host.encode(after)
            self._decoded = state, after
        update.put(self.sealed_state(update.generation + 1, state))
        bits = b"".join(applied) if self.host.local else b""
        return Applied(update.generation, state, len(bits), bits.count(1))

    def _value(self, state: bytes) -> HostState:
        """A state as a value; the last one is not decoded again."""
        known, value = self._decoded
        if known != state:
            value = self.host.decode(state)
            self._decoded = state, value
        return value

    def apply_queued(self, writing: Writing, update: StateUpdate, now: int) -> Applied:
        """Apply queued reports, and count what is released."""
        applied = self.apply(update, [], [])
        writing.add_counts(self.id, minute_of(now), Counts(released=applied.released, ones=applied.ones))
        return applied

    def _opened(self, queued: Sequence[QueuedReport]) -> list[tuple[bytes, bytes]]:
        """Tickets and reports from the queue, except damaged ones, which would block all others."""
        opened = []
        for each in queued:
            try:
                payload = self._ring.unseal(each.payload, self.record.lineage, _FEEDBACK, each.decision_id)
            except WrongKey:
                continue
            opened.append((each.draw, payload))
        self._report_lost(len(queued) - len(opened))
        return opened

    def _apply(
        self, state: HostState, told: list[tuple[bytes, bytes]], from_queue: int
    ) -> tuple[HostState, list[bytes]]:
        """Apply tickets and reports, except queued ones with a damaged ticket; return what was applied.

        A new report with a damaged ticket raises: it has not been acknowledged yet.
        """
        try:
            after = self.host.apply(state, [ticket for ticket, _ in told], [report for _, report in told])
        except InvalidArgument:
            sound = [each for k, each in enumerate(told) if k >= from_queue or self.host.sound(*each)]
            if len(sound) == len(told):
                raise
            self._report_lost(len(told) - len(sound))
            return self._apply(state, sound, 0)
        return after, [report for _, report in told]

    def _report_lost(self, count: int) -> None:
        if count:
            log.error("%s: %d stored decisions are damaged", self.record.name, count)

    # Preparing feedback

    def takes(self, feedback: Feedback) -> bool:
        """Whether feedback is of the right kind, whatever its value."""
        if feedback.person is not None and not isinstance(feedback.person, str):
            return False
        if not self.host.local:
            return feedback.function is not MISSING and feedback.cost is MISSING and feedback.released is None
        if feedback.function is not MISSING:
            return False
        if feedback.released is None:
            return feedback.cost is not MISSING
        return feedback.cost is MISSING and self.host.takes_bit(feedback.released)

    def bits(self, feedback: Sequence[Feedback]) -> list[bytes]:
        """The bit of each piece of feedback to a bandit learner: all that is ever stored of it."""
        fresh = iter(self.host.bits([each.cost for each in feedback if each.released is None]))
        return [bytes((next(fresh) if each.released is None else each.released,)) for each in feedback]

    def sealed_costs(self, decision_id: bytes, ticket: bytes, function: Any) -> bytes:
        """The costs of a private function along a ticket's order, sealed."""
        return self.sealed_feedback(decision_id, self.host.chain_costs(ticket, function))

    def neutral(self, decision_id: bytes, ticket: bytes) -> bytes:
        """The neutral report of a decision that nobody told in time, sealed."""
        return self.sealed_feedback(decision_id, self.host.neutral(ticket))

    def decision_ids(self, request_id: str | None, count: int) -> list[bytes]:
        """New ids for decisions; those of a request depend on its id, so that a retry finds them."""
        if request_id is None:
            return split_ids(secrets.token_bytes(16 * count))
        return self._ring.decision_ids(self.record.lineage, request_id, count)

    def token(self, decision_id: bytes) -> str:
        """What allows a device to tell a decision."""
        return tell_token(self._ring, self.record.lineage, decision_id)

    def person(self, person: str) -> bytes:
        """The keyed hash of a person's id."""
        return self._ring.person(self.record.lineage, person)

    # Sealing

    def sealed_feedback(self, decision_id: bytes, payload: bytes) -> bytes:
        """A payload as the store may hold it.

        Bits are sealed as well: if a transaction fails at its end and the client tells again, the disk may
        hold traces of both, and two bits of one cost reveal more than one.
        """
        return self._ring.seal(payload, self.record.lineage, _FEEDBACK, decision_id)

    def sealed_state(self, generation: int, state: bytes) -> bytes:
        """A state as the store may hold it."""
        return sealed_state(self._ring, self.record.secret, self.record.lineage, generation, state)

    def opened_state(self, generation: int, state: bytes) -> bytes:
        """A state from the store, unsealed."""
        if not self.record.secret:
            return state
        return self._ring.unseal(state, self.record.lineage, _STATE, str(generation).encode())


def sealed_state(ring: KeyRing, secret: bool, lineage: str, generation: int, state: bytes) -> bytes:
    """A state as the store may hold it."""
    return ring.seal(state, lineage, _STATE, str(generation).encode()) if secret else state
