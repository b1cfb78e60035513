"""A learner as the desk holds it: the committed state that asks draw from, and another to fold into."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Sequence
from typing import Any

from discreet.errors import Conflict, DiscreetError, InvalidArgument, StaleState, StoreError, WrongKey
from discreet.learners.detached import Detached, DetachedBandit, DetachedFunctions, detached
from discreet.service.clock import minute_of
from discreet.service.keys import KeyRing
from discreet.service.records import MISSING, Feedback
from discreet.service.witness import Witness
from discreet.storage.base import Fold, Reading, Writing
from discreet.storage.records import Counts, LearnerRecord, Status, Waiting

_STATE, _FEEDBACK = "state", "feedback"

log = logging.getLogger("discreet.service")


@dataclasses.dataclass(frozen=True)
class Folded:
    """A state that becomes visible once its transaction is committed."""

    generation: int
    state: bytes
    #: Released bits among what was folded in, and how many of them were 1.
    released: int
    ones: int


class Kept:
    """One learner.

    Args:
        record: As the store has it.
        generation: Of the state.
        state: Of this generation, as the store has it.
        ring: Seals what is secret.
        witness: Knows how far it had released.

    Attributes:
        record: As above; its status and generation are those of the time it was read.
        shown: The committed state: asks draw from it, summaries show it.
        generation: Of the shown state.
        stale: Whether this learner must not go on: the store is an old backup, or its state is damaged.
        damaged: Whether the state in the store cannot be read.
    """

    def __init__(
        self, record: LearnerRecord, generation: int, state: bytes, ring: KeyRing, witness: Witness
    ) -> None:
        self.record = record
        self.id = record.id
        self._ring, self._witness = ring, witness
        self.shown = detached(record.settings)
        self._next = detached(record.settings)
        self._working = detached(record.settings)
        self._working_state: bytes | None = None
        self._showing, self._folding = threading.Lock(), threading.Lock()
        self.generation = -1
        self.stale = self.damaged = False
        self._latest = (-1, b"")
        #: Whether the witness could not note what was committed last.
        self._unnoted = False
        #: Decisions asked for before this time are known to be closed.
        self.swept = 0
        try:
            self.show(generation, self.opened_state(generation, state))
        except (InvalidArgument, WrongKey):  # the key was seen to be the right one; others can go on
            log.error("%s: its state was damaged where it was kept", record.name)
            self.stale = self.damaged = True
            self.generation = generation

    @property
    def limited(self) -> bool:
        """Whether it was made for a number of rounds that could be reached."""
        return self.shown.horizon < 1 << 32

    @property
    def cap(self) -> int:
        """How many pieces of one person's feedback count."""
        return self.shown.guarantee.rounds_per_person

    def check(self) -> None:
        """Refuse to go on from an old backup, or from nothing, where it could go on at all."""
        if self.stale and self.record.status is Status.ACTIVE:
            raise self._cannot_go_on()

    def obstacle(self, generation: int, shown: int) -> DiscreetError | None:
        """Why nothing can be asked or told, given the generation that the store has; None if it can.

        Args:
            generation: Seen by a transaction.
            shown: The one that was shown before the transaction saw this one: a later one may be by now.
        """
        if generation < shown:  # the database was put back while this process had it open
            self.stale = True
        if self.stale:
            return self._cannot_go_on()
        if self._unnoted:  # or more would be released, all of which an old backup would release again
            return StoreError("What was released last cannot be noted by the witness. Nothing was changed.")
        return None

    def _cannot_go_on(self) -> StaleState:
        if self.damaged:
            return StaleState(
                f"What is kept of {self.record.name!r} is damaged. Restore the latest state, or close this "
                "epoch and start a new one (`restart`)."
            )
        return StaleState(
            f"The store is older than what {self.record.name!r} had released: an old backup must not be "
            "continued, it would release the same data again. Restore the latest state, or close this "
            "epoch and start a new one from the last point (`restart`)."
        )

    def end(self, status: Status) -> None:
        """Ask and tell no more: the store says so."""
        self.record = dataclasses.replace(self.record, status=status)

    def show(self, generation: int, state: bytes) -> None:
        """Make a committed state visible, if it is later than the one that is; noted by the witness first."""
        with self._showing:
            if generation <= self.generation:
                return
            self._next.restore(state)
            releases, lineage = self._next.releases, self.record.lineage
            # Once stale, always: what was released since then is not in this line of states.
            self.stale = self.stale or self._witness.knows_more(lineage, releases)
            if not self.stale:
                try:
                    self._witness.record(lineage, releases, durable=self.record.secret)
                    self._unnoted = False
                except StoreError:
                    self._unnoted = True
                    raise
            self.shown, self._next = self._next, self.shown
            self.generation = generation
            self._latest = generation, state

    def catch_up(self, reading: Reading) -> None:
        """Show the latest state that the store has.

        Raises:
            StoreError: It cannot be noted by the witness, so nothing of it may be shown.
        """
        if reading.heads([self.id])[self.id][1] > self.generation:
            generation, state = reading.state(self.id)
            self.show(generation, self.opened_state(generation, state))

    def resumed(self, writing: Writing, generation: int) -> Fold:
        """A fold from the state that is shown, which must be of this generation: the store's.

        Raises:
            Conflict: It is not: another thread has committed a later one just now.
        """
        latest, state = self._latest
        if latest != generation:
            raise Conflict(f"The learner {self.record.name!r} went on just now; nothing was changed.")
        return writing.resume(self.id, generation, self.sealed_state(generation, state))

    def fold(self, fold: Fold, draws: Sequence[bytes], payloads: Sequence[bytes]) -> Folded:
        """Learn from what waits, and from more; writes the state. Nothing is visible before `show`.

        Args:
            fold: Of the store, in a transaction of the caller.
            draws: Of feedback that comes with this very transaction.
            payloads: Likewise, not sealed.
        """
        with self._folding:
            learner = self._working
            kept = self.opened_state(fold.generation, fold.state)
            if self._working_state != kept:  # another process went on, or a transaction was undone
                self._working_state = None
                learner.restore(kept)
            self._working_state = None
            if self._witness.knows_more(self.record.lineage, learner.releases, look=True):
                self.stale = True
                raise self._cannot_go_on()
            told = self._opened(fold.waiting)
            waited = len(told)
            told += zip(draws, payloads, strict=True)
            learnt = self._learnt(learner, told[: learner.horizon - learner.rounds], waited)
            state = self._working_state = learner.state()
        fold.put(self.sealed_state(fold.generation + 1, state))
        bits = b"".join(learnt) if isinstance(learner, DetachedBandit) else b""
        return Folded(fold.generation, state, len(bits), bits.count(1))

    def fold_waiting(self, writing: Writing, fold: Fold, now: int) -> Folded:
        """Learn from what waits, and count what is released by it."""
        folded = self.fold(fold, [], [])
        writing.add_counts(self.id, minute_of(now), Counts(released=folded.released, ones=folded.ones))
        return folded

    def _opened(self, waiting: Sequence[Waiting]) -> list[tuple[bytes, bytes]]:
        """Draws and payloads of what waits, but for what was damaged: all after it would wait for ever."""
        opened = []
        for each in waiting:
            try:
                payload = self._ring.unseal(each.payload, self.record.lineage, _FEEDBACK, each.decision)
            except WrongKey:
                continue
            opened.append((each.draw, payload))
        self._report_lost(len(waiting) - len(opened))
        return opened

    def _learnt(self, learner: Detached, told: list[tuple[bytes, bytes]], waited: int) -> list[bytes]:
        """Learn from draws and payloads, and give the payloads: not what waited with a damaged draw.

        What comes with this very transaction was not acknowledged yet, and is complained about.
        """
        try:
            learner.fold([draw for draw, _ in told], [payload for _, payload in told])
        except InvalidArgument:
            sound = [each for k, each in enumerate(told) if k >= waited or learner.sound(*each)]
            if len(sound) == len(told):
                raise
            self._report_lost(len(told) - len(sound))
            return self._learnt(learner, sound, 0)
        return [payload for _, payload in told]

    def _report_lost(self, count: int) -> None:
        if count:
            log.error("%s: %d decisions were damaged where they were kept", self.record.name, count)

    # What is told, ready to be kept

    def takes(self, feedback: Feedback) -> bool:
        """Whether feedback is of the kind this learner takes; says nothing about its value."""
        if feedback.person is not None and not isinstance(feedback.person, str):
            return False
        if isinstance(self.shown, DetachedFunctions):
            return feedback.function is not MISSING and feedback.cost is MISSING and feedback.released is None
        if feedback.function is not MISSING:
            return False
        if feedback.released is None:
            return feedback.cost is not MISSING
        assert isinstance(self.shown, DetachedBandit)
        bit = feedback.released
        whole = isinstance(bit, int) and not isinstance(bit, bool)
        return feedback.cost is MISSING and whole and bit in (0, 1) and self.shown.randomizer.fits(bit)

    def bits(self, feedback: Sequence[Feedback]) -> list[bytes]:
        """The bit of each piece of feedback to a bandit learner: all that is ever kept of it."""
        assert isinstance(self.shown, DetachedBandit)
        costs = [each.cost for each in feedback if each.released is None]
        fresh = iter(self.shown.privatised_many(costs))
        return [next(fresh) if each.released is None else bytes((each.released,)) for each in feedback]

    def sealed_costs(self, decision: bytes, draw: bytes, function: Any) -> bytes:
        """The costs of a private function along the chain of a draw, sealed."""
        assert isinstance(self.shown, DetachedFunctions)
        return self.sealed_feedback(decision, self.shown.chain_costs(draw, function))

    def neutral(self, decision: bytes, draw: bytes) -> bytes:
        """What is learnt from when nothing was told in time, sealed."""
        return self.sealed_feedback(decision, self.shown.neutral(draw))

    def person(self, person: str) -> bytes:
        """What is kept of a person's id."""
        return self._ring.person(self.record.lineage, person)

    # Sealing

    def sealed_feedback(self, decision: bytes, payload: bytes) -> bytes:
        """A payload as a store may keep it while it waits.

        Bits, too: where a transaction fails at its end and the client tells again, a database may keep traces
        of both, and two bits of one cost say more than one.
        """
        return self._ring.seal(payload, self.record.lineage, _FEEDBACK, decision)

    def sealed_state(self, generation: int, state: bytes) -> bytes:
        """A state as a store may keep it."""
        return sealed_state(self._ring, self.record.secret, self.record.lineage, generation, state)

    def opened_state(self, generation: int, state: bytes) -> bytes:
        """A state that a store kept."""
        if not self.record.secret:
            return state
        return self._ring.unseal(state, self.record.lineage, _STATE, str(generation).encode())


def sealed_state(ring: KeyRing, secret: bool, lineage: str, generation: int, state: bytes) -> bytes:
    """A state as a store may keep it."""
    return ring.seal(state, lineage, _STATE, str(generation).encode()) if secret else state
