"""What of a learner depends on the key: sealed states, sums and feedback, ids, hashes of people, tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from discreet.learners.host import Host, OpenSums
from discreet.learners.tickets import Plan
from discreet.service.encryption import KeyRing
from discreet.storage.records import split_ids

#: How tokens begin.
PREFIX = "discreet_tell_"
_TOKEN = re.compile(PREFIX + "([A-Za-z0-9_-]{64})")
#: Kinds of what is sealed.
STATE, FEEDBACK, SUMS = "state", "feedback", "sums"


class Seals:
    """The seals of one epoch of a learner: nothing can be opened in another place than it was made for.

    States of local learners are sealed as well: what a failed transaction leaves on the disk says nothing.
    """

    def __init__(self, ring: KeyRing, lineage: str) -> None:
        self._ring, self._lineage = ring, lineage

    def state(self, generation: int, state: bytes) -> bytes:
        """A state as the store may hold it."""
        return self._ring.seal(state, self._lineage, STATE, state_id(generation))

    def open_state(self, generation: int, state: bytes) -> bytes:
        """A state from the store."""
        return self._ring.unseal(state, self._lineage, STATE, state_id(generation))

    def sums(self, number: int, sums: OpenSums) -> bytes:
        """The sums of a phase as the store may hold them."""
        return self._ring.seal(sums.encode(), self._lineage, SUMS, sums_id(number, sums.applied))

    def open_sums(self, host: Host, number: int, plan: Plan, applied: int, sealed: bytes) -> OpenSums:
        """The sums of a phase from the store."""
        data = self._ring.unseal(sealed, self._lineage, SUMS, sums_id(number, applied))
        return host.decode_sums(data, applied, plan)

    def feedback(self, decision_id: bytes, payload: bytes) -> bytes:
        """A report as the store may hold it."""
        return self._ring.seal(payload, self._lineage, FEEDBACK, decision_id)

    def open_feedback(self, decision_id: bytes, payload: bytes) -> bytes:
        """A report from the store."""
        return self._ring.unseal(payload, self._lineage, FEEDBACK, decision_id)

    def decision_ids(self, request_id: str | None, count: int) -> list[bytes]:
        """New ids for decisions; those of a request depend on its id, so that a retry finds them."""
        if request_id is None:
            return split_ids(secrets.token_bytes(16 * count))
        seed = self._ring.hashed("request", self._lineage, request_id.encode())
        return split_ids(hashlib.shake_256(seed).digest(16 * count))

    def token(self, decision_id: bytes) -> str:
        """What allows a device to tell this decision, and nothing else.

        It proves with a keyed hash that the service made it, so it is checked without the database, whoever
        sends it; and it ends with the decision, which is closed once.
        """
        parts = bytes.fromhex(self._lineage) + decision_id + _proof(self._ring, self._lineage, decision_id)
        return PREFIX + base64.urlsafe_b64encode(parts).decode()

    def person(self, person: str) -> bytes:
        """The keyed hash of a person's id, for this learner."""
        return self._ring.hashed("person", self._lineage, person.encode("utf-8", "surrogatepass"))[:16]


def state_id(generation: int) -> bytes:
    """What a state is sealed for."""
    return str(generation).encode()


def sums_id(phase: int, applied: int) -> bytes:
    """What the sums of a phase with so many reports are sealed for."""
    return f"{phase} {applied}".encode()


class TellToken(NamedTuple):
    """What a token allows.

    Attributes:
        lineage: Of the epoch of the learner.
        decision: The only decision that may be told.
    """

    lineage: str
    decision: str


def read_token(ring: KeyRing, token: str) -> TellToken | None:
    """What a token allows; None if the service has not made it."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    parts = base64.urlsafe_b64decode(match[1])
    lineage, decision_id, proof = parts[:16].hex(), parts[16:32], parts[32:]
    if not hmac.compare_digest(proof, _proof(ring, lineage, decision_id)):
        return None
    return TellToken(lineage, decision_id.hex())


def _proof(ring: KeyRing, lineage: str, decision_id: bytes) -> bytes:
    """What shows that the service allowed its holder to tell a decision."""
    return ring.hashed("token", lineage, decision_id)[:16]
