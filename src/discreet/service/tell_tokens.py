"""Tokens for devices: whoever has one may tell a single decision, and nothing else.

A token names the epoch and the decision, and proves with a keyed hash that the service made it. So it is
checked without the database, whoever sends it; and it ends with the decision, which is closed once.
"""

from __future__ import annotations

import base64
import hmac
import re
from typing import NamedTuple

from discreet.service.encryption import KeyRing

#: How tokens begin.
PREFIX = "discreet_tell_"
_TOKEN = re.compile(PREFIX + "([A-Za-z0-9_-]{64})")


class TellToken(NamedTuple):
    """What a token allows.

    Attributes:
        lineage: Of the epoch of the learner.
        decision: The only decision that may be told.
    """

    lineage: str
    decision: str


def tell_token(ring: KeyRing, lineage: str, decision_id: bytes) -> str:
    """The token of a decision."""
    parts = bytes.fromhex(lineage) + decision_id + ring.token(lineage, decision_id)
    return PREFIX + base64.urlsafe_b64encode(parts).decode()


def read_token(ring: KeyRing, token: str) -> TellToken | None:
    """What a token allows; None if the service has not made it."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    parts = base64.urlsafe_b64decode(match[1])
    lineage, decision_id, proof = parts[:16].hex(), parts[16:32], parts[32:]
    if not hmac.compare_digest(proof, ring.token(lineage, decision_id)):
        return None
    return TellToken(lineage, decision_id.hex())
