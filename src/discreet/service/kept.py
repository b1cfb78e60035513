"""A learner as the desk holds it: the committed state that asks draw from, and another to fold into."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Sequence
from typing import Any

from discreet.errors import InvalidArgument, StaleState
from discreet.learners.detached import Detached, DetachedBandit, DetachedFunctions, detached
from discreet.service.clock import minute_of
from discreet.service.keys import KeyRing
from discreet.service.records import MISSING, Feedback
from discreet.service.witness import Witness
from discreet.storage.base import Fold, Writing
from discreet.storage.records import Counts, LearnerRecord, Status

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
        stale: Whether the store is an old backup, so that this learner must not go on.
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
        self.stale = False
        self._latest = (-1, b"")
        #: Decisions asked for before this time are known to be closed.
        self.swept = 0
        self.show(generation, self.opened_state(generation, state))

    @property
    def limited(self) -> bool:
        """Whether it was made for a number of rounds that could be reached."""
        return self.shown.horizon < 1 << 32

    @property
    def cap(self) -> int:
        """How many pieces of one person's feedback count."""
        return self.shown.guarantee.rounds_per_person

    def check(self) -> None:
        """Refuse to go on from an old backup, where it could go on at all."""
        if self.stale and self.record.status is Status.ACTIVE:
            raise self._old_backup()

    def _old_backup(self) -> StaleState:
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
                self._witness.record(lineage, releases, durable=self.record.secret)
            self.shown, self._next = self._next, self.shown
            self.generation = generation
            self._latest = generation, state

    def resumed(self, writing: Writing) -> Fold:
        """A fold from the state that is shown, which nobody else can have gone on from."""
        generation, state = self._latest
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
                raise self._old_backup()
            payloads = [*(self.opened_feedback(w.decision, w.payload) for w in fold.waiting), *payloads]
            draws = [*(w.draw for w in fold.waiting), *draws]
            left = learner.horizon - learner.rounds
            payloads = self._learnt(learner, draws[:left], payloads[:left], len(fold.waiting))
            state = self._working_state = learner.state()
        fold.put(self.sealed_state(fold.generation + 1, state))
        bits = b"".join(payloads) if isinstance(learner, DetachedBandit) else b""
        return Folded(fold.generation, state, len(bits), bits.count(1))

    def fold_waiting(self, writing: Writing, fold: Fold, now: int) -> Folded:
        """Learn from what waits, and count what is released by it."""
        folded = self.fold(fold, [], [])
        writing.add_counts(self.id, minute_of(now), Counts(released=folded.released, ones=folded.ones))
        return folded

    def _learnt(
        self, learner: Detached, draws: Sequence[bytes], payloads: Sequence[bytes], waiting: int
    ) -> Sequence[bytes]:
        """Learn, and give what was learnt from: not what waited with a draw that was damaged meanwhile.

        It would keep all that comes after it waiting for ever. What comes with this very transaction was not
        acknowledged yet, and is complained about.
        """
        try:
            learner.fold(draws, payloads)
        except InvalidArgument:
            told = [*zip(draws, payloads, strict=True)]
            sound = [each for k, each in enumerate(told) if k >= waiting or learner.sound(*each)]
            if len(sound) == len(told):
                raise
            lost = len(told) - len(sound)
            log.error("%s: %d decisions were damaged where they were kept", self.record.name, lost)
            learner.fold([draw for draw, _ in sound], [payload for _, payload in sound])
            return [payload for _, payload in sound]
        return payloads

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
        bit = feedback.released
        return feedback.cost is MISSING and type(bit) is int and bit in (0, 1)

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
        """What is learnt from when nothing was told in time, ready to be kept."""
        return self.sealed_feedback(decision, self.shown.neutral(draw))

    def person(self, person: str) -> bytes:
        """What is kept of a person's id."""
        return self._ring.person(self.record.lineage, person)

    # Sealing

    def sealed_feedback(self, decision: bytes, payload: bytes) -> bytes:
        """A payload as a store may keep it."""
        if not self.record.secret:
            return payload
        return self._ring.seal(payload, self.record.lineage, _FEEDBACK, decision)

    def opened_feedback(self, decision: bytes, payload: bytes) -> bytes:
        """A payload that a store kept."""
        if not self.record.secret:
            return payload
        return self._ring.unseal(payload, self.record.lineage, _FEEDBACK, decision)

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
