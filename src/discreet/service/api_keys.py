"""API keys: who may do what over HTTP.

A key is ``discreet_<id>_<secret>``: 256 random bits after a public id. The store holds the SHA-256 of the
secret. A slow hash, as for passwords, would add nothing: nobody can try 2^256 secrets. The id is the
beginning of the digest, so a key is compared with one digest, in constant time.
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

#: Printable, so that it can be shown anywhere.
LABEL = re.compile(r"[ -~]{0,100}")
_KEY = re.compile(r"discreet_([0-9a-f]{16})_([0-9a-f]{64})")
_FIRST = "first admin key"


class Role(enum.StrEnum):
    """What a key allows. Each role includes those before it."""

    #: Read learners, populations and metrics: all of it is covered by the guarantee.
    READ = "read"
    #: Ask and tell.
    ASK_TELL = "ask_tell"
    #: Create and end learners, set limits, create and revoke keys.
    ADMIN = "admin"

    def covers(self, needed: Role) -> bool:
        """Whether this role includes another."""
        return _RANKS[self] >= _RANKS[needed]


_RANKS = {role: rank for rank, role in enumerate(Role)}


@dataclasses.dataclass(frozen=True)
class ApiKey:
    """The public part of a key."""

    id: str
    role: Role
    label: str
    created_at: int


class ApiKeys:
    """The API keys of a store, cached in memory.

    Args:
        store: Holds their digests.
        clock: Milliseconds since 1970.
    """

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._cached: dict[str, tuple[bytes, ApiKey]] = {}
        self._read_at = -float("inf")
        self.refresh()

    @property
    def age(self) -> float:
        """Seconds since the keys were read; 0 if no other process can change them."""
        return 0.0 if self._store.one_process else time.monotonic() - self._read_at

    def refresh(self) -> None:
        """Read the keys again."""
        with self._lock:
            started = time.monotonic()
            with self._store.reading() as reading:
                self._cached = _by_id(reading)
            self._read_at = started

    @property
    def cached(self) -> list[ApiKey]:
        """The keys as they were last read."""
        return [api_key for _, api_key in self._cached.values()]

    def find(self, key: str) -> ApiKey | None:
        """The key, if it is valid; reads memory only."""
        match = _KEY.fullmatch(key)
        if match is None:
            return None
        key_id, secret = match.groups()
        digest, api_key = self._cached.get(key_id, (b"", None))
        return api_key if hmac.compare_digest(digest, _digest(secret)) else None

    def all(self) -> list[ApiKey]:
        """All keys that are not revoked, oldest first, freshly read."""
        self.refresh()
        return self.cached

    def create(self, role: Role | str, label: str = "") -> tuple[ApiKey, str]:
        """Create a key. The key itself is returned once, and stored nowhere."""
        record, key = self._new(role, label)
        with self._store.writing() as writing:
            _add(writing, record)
        self.refresh()
        return _public(record), key

    def first(self, given: str | None = None) -> str | None:
        """The admin key of a new store, which may be given; None if the store had one before."""
        record, key = self._new(Role.ADMIN, "first start", given)
        with self._store.writing() as writing:
            if writing.note_once(_FIRST, record.digest.hex()) != record.digest.hex():
                return None
            _add(writing, record)
        self.refresh()
        return key

    def revoke(self, key_id: str) -> ApiKey:
        """Revoke a key; not the last admin key, without which no other could be created."""
        with self._store.writing() as writing:
            keys = _by_id(writing)
            if key_id not in keys:
                raise UnknownName("No key has this id.")
            digest, api_key = keys[key_id]
            admins = [b for _, b in keys.values() if b.role is Role.ADMIN]
            if admins == [api_key]:
                raise InvalidArgument("This is the last admin key. Create another one first.")
            writing.revoke_key(digest)
        self.refresh()
        return api_key

    def _new(self, role: Role | str, label: str, given: str | None = None) -> tuple[KeyRecord, str]:
        try:
            wanted = Role(role)
        except ValueError:
            raise InvalidArgument(f"The 'role' of a key must be one of {', '.join(Role)}.") from None
        if not isinstance(label, str) or not LABEL.fullmatch(label):
            raise InvalidArgument("The 'label' of a key must have at most 100 printable ASCII characters.")
        key = given or new_key()
        return KeyRecord(_digest(_secret_of(key)), wanted.value, label, self._clock()), key


def new_key() -> str:
    """A random key, which no store knows yet."""
    secret = secrets.token_hex(32)
    return f"discreet_{_digest(secret)[:8].hex()}_{secret}"


def _secret_of(key: str) -> str:
    """The secret of a well-formed key."""
    match = _KEY.fullmatch(key)
    if match is None or _digest(match[2])[:8].hex() != match[1]:
        raise InvalidArgument("A given API key must be as `discreet keys new` prints it.")
    return match[2]


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _id(record: KeyRecord) -> str:
    return record.digest[:8].hex()


def _public(record: KeyRecord) -> ApiKey:
    return ApiKey(_id(record), Role(record.role), record.label, record.created_at)


def _by_id(reading: Reading) -> dict[str, tuple[bytes, ApiKey]]:
    return {_id(record): (record.digest, _public(record)) for record in reading.keys()}  # noqa: SIM118 # a method of the store


def _add(writing: Writing, record: KeyRecord) -> None:
    if _id(record) in _by_id(writing):
        raise AlreadyExists("This API key already exists.")
    writing.add_key(record)
