"""Bearer keys: who may ask and tell, read, or administer. The store has digests, never keys.

A key is 256 random bits, so a plain digest is enough: there is nothing to guess. Digests are compared in
constant time.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

from discreet.errors import InvalidArgument
from discreet.storage.base import Store
from discreet.storage.records import KeyRecord

#: Seconds after which keys that other processes issued or revoked are noticed.
LOOK_EVERY = 5.0
_PREFIX = "discreet_"


class Role(enum.StrEnum):
    """What a key allows; an admin may do everything."""

    USE = "use"  # ask and tell
    READ = "read"
    ADMIN = "admin"

    def allows(self, wanted: Role) -> bool:
        """Whether this role may do what another may."""
        return self is wanted or self is Role.ADMIN


class Bearers:
    """The bearer keys of a store.

    Args:
        store: Where their digests are.
        clock: Milliseconds since 1970.
    """

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._known: list[KeyRecord] = []
        self._next_look = 0.0

    def issue(self, role: Role | str, label: str = "") -> str:
        """A new key, which is shown now and never again."""
        if role not in list(Role) or not isinstance(label, str) or len(label) > 200:
            raise InvalidArgument(f"A key has one of the roles {', '.join(Role)}, and a short label.")
        key = _PREFIX + secrets.token_urlsafe(32)
        with self._store.writing() as writing:
            writing.add_key(KeyRecord(_digest(key), str(role), label, self._clock()))
        self._next_look = 0.0
        return key

    def role_of(self, key: str) -> Role | None:
        """What a key allows; None if it is none of ours. Which one it resembles is not to be seen in time."""
        digest = _digest(key)
        found = None
        for record in self.listed():
            if hmac.compare_digest(record.digest, digest):
                found = Role(record.role)
        return found

    def listed(self) -> list[KeyRecord]:
        """All keys that have not been revoked, by their digests; a few seconds old."""
        with self._lock:
            if time.monotonic() >= self._next_look:
                with self._store.reading() as reading:
                    self._known = reading.keys()
                self._next_look = time.monotonic() + LOOK_EVERY
            return self._known

    def revoke(self, key_or_digest: str) -> bool:
        """Revoke a key, given itself or the hexadecimal digits of its digest; whether there was one."""
        if key_or_digest.startswith(_PREFIX):
            digest = _digest(key_or_digest)
        else:
            try:
                digest = bytes.fromhex(key_or_digest)
            except ValueError:
                return False
        with self._store.writing() as writing:
            revoked = writing.revoke_key(digest)
        self._next_look = 0.0
        return revoked


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
