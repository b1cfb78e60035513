"""What of a learner depends on the key: sealed states, sums and feedback, ids, hashes of people, tokens."""

from __future__ import annotations

import secrets

from discreet.learners.host import Host, OpenSums
from discreet.learners.tickets import Plan
from discreet.service.encryption import KeyRing
from discreet.service.tell_tokens import tell_token
from discreet.storage.records import split_ids

_STATE, _FEEDBACK, _SUMS = "state", "feedback", "sums"


class Seals:
    """The seals of one epoch of a learner: nothing can be opened in another place than it was made for.

    States of local learners are sealed as well: what a failed transaction leaves on the disk says nothing.

    Args:
        ring: The keys.
        lineage: Of the epoch.
    """

    def __init__(self, ring: KeyRing, lineage: str) -> None:
        self._ring, self._lineage = ring, lineage

    def state(self, generation: int, state: bytes) -> bytes:
        """A state as the store may hold it."""
        return self._ring.seal(state, self._lineage, _STATE, str(generation).encode())

    def open_state(self, generation: int, state: bytes) -> bytes:
        """A state from the store."""
        return self._ring.unseal(state, self._lineage, _STATE, str(generation).encode())

    def sums(self, number: int, sums: OpenSums) -> bytes:
        """The sums of a phase as the store may hold them."""
        return self._ring.seal(sums.encode(), self._lineage, _SUMS, f"{number} {sums.applied}".encode())

    def open_sums(self, host: Host, number: int, plan: Plan, applied: int, sealed: bytes) -> OpenSums:
        """The sums of a phase from the store."""
        data = self._ring.unseal(sealed, self._lineage, _SUMS, f"{number} {applied}".encode())
        return host.decode_sums(data, applied, plan)

    def feedback(self, decision_id: bytes, payload: bytes) -> bytes:
        """A report as the store may hold it."""
        return self._ring.seal(payload, self._lineage, _FEEDBACK, decision_id)

    def open_feedback(self, decision_id: bytes, payload: bytes) -> bytes:
        """A report from the store."""
        return self._ring.unseal(payload, self._lineage, _FEEDBACK, decision_id)

    def decision_ids(self, request_id: str | None, count: int) -> list[bytes]:
        """New ids for decisions; those of a request depend on its id, so that a retry finds them."""
        if request_id is None:
            return split_ids(secrets.token_bytes(16 * count))
        return self._ring.decision_ids(self._lineage, request_id, count)

    def token(self, decision_id: bytes) -> str:
        """What allows a device to tell a decision."""
        return tell_token(self._ring, self._lineage, decision_id)

    def person(self, person: str) -> bytes:
        """The keyed hash of a person's id."""
        return self._ring.person(self._lineage, person)
