"""Bearer keys: who may do what over HTTP.

A key is ``discreet_<id>_<secret>``: 256 random bits behind an id that may be shown. What is kept is the
SHA-256 of the secret. A slow hash, as for passwords, would add nothing: nobody can try out 2^256 secrets, at
whatever speed. The id is the beginning of the digest, so a key names the one digest it is compared with, and
that comparison takes the same time whatever differs.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable

from discreet.errors import AlreadyExists, InvalidArgument, UnknownName
from discreet.storage.base import Reading, Store, Writing
from discreet.storage.records import KeyRecord

#: Letters of a label: printable, so that it can be shown anywhere.
LABEL = re.compile(r"[ -~]{0,100}")
_KEY = re.compile(r"discreet_([0-9a-f]{16})_([0-9a-f]{64})")
_FIRST = "first admin key"


class Role(enum.StrEnum):
    """What a key allows. Each role may do what those before it may."""

    #: Look at learners, populations and metrics: all of it is covered by the guarantee.
    READ = "read"
    #: Ask and tell.
    ASK_TELL = "ask_tell"
    #: Make and end learners, set limits, make and revoke keys.
    ADMIN = "admin"

    def covers(self, needed: Role) -> bool:
        """Whether this role may do what another may."""
        return _RANKS[self] >= _RANKS[needed]


_RANKS = {role: rank for rank, role in enumerate(Role)}


@dataclasses.dataclass(frozen=True)
class Bearer:
    """A key as it may be shown."""

    id: str
    role: Role
    label: str
    created_at: int


class Bearers:
    """The bearer keys of a store, held in memory.

    Args:
        store: Where their digests are.
        clock: Milliseconds since 1970.
    """

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._held: dict[str, tuple[bytes, Bearer]] = {}
        self._looked_at = -float("inf")
        self.refresh()

    @property
    def age(self) -> float:
        """For how many seconds another process may have changed keys unnoticed; 0 where there is none."""
        return 0.0 if self._store.one_process else time.monotonic() - self._looked_at

    def refresh(self) -> None:
        """Read the keys again."""
        with self._lock:
            began = time.monotonic()
            with self._store.reading() as reading:
                self._held = _by_id(reading)
            self._looked_at = began

    @property
    def held(self) -> list[Bearer]:
        """The keys as they were last read."""
        return [bearer for _, bearer in self._held.values()]

    def known(self, key: str) -> Bearer | None:
        """Whose key this is; looks at memory only."""
        match = _KEY.fullmatch(key)
        if match is None:
            return None
        name, secret = match.groups()
        digest, bearer = self._held.get(name, (b"", None))
        return bearer if hmac.compare_digest(digest, _digest(secret)) else None

    def listed(self) -> list[Bearer]:
        """All keys that are not revoked, oldest first."""
        self.refresh()
        return self.held

    def create(self, role: Role | str, label: str = "") -> tuple[Bearer, str]:
        """Make a key. The key itself is returned once, and kept nowhere."""
        record, key = self._made(role, label)
        with self._store.writing() as writing:
            _add(writing, record)
        self.refresh()
        return _shown(record), key

    def first(self) -> str | None:
        """The admin key that a new store begins with; None where there has been one."""
        record, key = self._made(Role.ADMIN, "first start")
        with self._store.writing() as writing:
            if writing.note_once(_FIRST, record.digest.hex()) != record.digest.hex():
                return None
            _add(writing, record)
        self.refresh()
        return key

    def revoke(self, name: str) -> Bearer:
        """Make a key useless; not the last one of an admin, who could not make another."""
        with self._store.writing() as writing:
            held = _by_id(writing)
            if name not in held:
                raise UnknownName("No key has this id.")
            digest, bearer = held[name]
            admins = [b for _, b in held.values() if b.role is Role.ADMIN]
            if admins == [bearer]:
                raise InvalidArgument("This is the last admin key. Make another one first.")
            writing.revoke_key(digest)
        self.refresh()
        return bearer

    def _made(self, role: Role | str, label: str) -> tuple[KeyRecord, str]:
        try:
            wanted = Role(role)
        except ValueError:
            raise InvalidArgument(f"The 'role' of a key must be one of {', '.join(Role)}.") from None
        if not isinstance(label, str) or not LABEL.fullmatch(label):
            raise InvalidArgument("The 'label' of a key must have at most 100 printable ASCII letters.")
        secret = secrets.token_hex(32)
        record = KeyRecord(_digest(secret), wanted.value, label, self._clock())
        return record, f"discreet_{_id(record)}_{secret}"


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _id(record: KeyRecord) -> str:
    return record.digest[:8].hex()


def _shown(record: KeyRecord) -> Bearer:
    return Bearer(_id(record), Role(record.role), record.label, record.created_at)


def _by_id(reading: Reading) -> dict[str, tuple[bytes, Bearer]]:
    kept = reading.keys()
    return {_id(record): (record.digest, _shown(record)) for record in kept}


def _add(writing: Writing, record: KeyRecord) -> None:
    if _id(record) in _by_id(writing):
        raise AlreadyExists("This bearer key is known already.")
    writing.add_key(record)
