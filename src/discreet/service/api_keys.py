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
from collections.abc import Callable, Iterable, Sequence

from discreet import checks
from discreet.errors import AlreadyExists, InvalidArgument, UnknownName
from discreet.service.admin_log import IN_PROCESS, note
from discreet.service.records import check_name
from discreet.storage.records import KeyRecord
from discreet.storage.store import Store
from discreet.storage.writing import Writing

#: Printable, so that it can be shown anywhere.
LABEL = re.compile(r"[ -~]{0,100}")
_KEY = re.compile(r"discreet_([0-9a-f]{16})_([0-9a-f]{64})")
_FIRST = "first admin key"
#: Of times, in milliseconds: JSON has no larger integers.
_LATEST = 1 << 53


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
    """The public part of a key.

    Attributes:
        id: Its public id.
        role: What it allows.
        label: What it is for.
        created_at: Milliseconds since 1970.
        learners: The only learners that it sees and is used for; None for all.
        expires_at: When it is refused, in milliseconds since 1970, or None.
    """

    id: str
    role: Role
    label: str
    created_at: int
    learners: tuple[str, ...] | None = None
    expires_at: int | None = None

    def expired(self, now: int) -> bool:
        """Whether it is refused."""
        return self.expires_at is not None and self.expires_at <= now


#: Digests and public parts of keys, by their ids.
_Keys = dict[str, tuple[bytes, ApiKey]]


class ApiKeys:
    """The API keys of a store, cached in memory. The store holds their digests."""

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._cached: _Keys = {}
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
                self._cached = _by_id(reading.keys())
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
        if api_key is None or not hmac.compare_digest(digest, _digest(secret)):
            return None
        return None if api_key.expired(self._clock()) else api_key

    def unknown(self, key: str) -> bytes | None:
        """What `look_up` needs to find a key that another process may have just created.

        None if there is no such key for sure: the id of a key follows from its secret.
        """
        match = None if self._store.one_process else _KEY.fullmatch(key)
        if match is None or match[1] in self._cached:
            return None
        digest = _digest(match[2])
        return digest if _id(digest) == match[1] else None

    def look_up(self, digests: Iterable[bytes]) -> None:
        """Read single keys that are not cached."""
        with self._lock, self._store.reading() as reading:
            self._cached = self._cached | _by_id(reading.keys(digests))

    def all(self) -> list[ApiKey]:
        """All keys that are not revoked, oldest first, freshly read."""
        self.refresh()
        return self.cached

    def create(
        self,
        role: Role | str,
        label: str = "",
        *,
        learners: Sequence[str] | None = None,
        expires_at: int | None = None,
        by: str = IN_PROCESS,
    ) -> tuple[ApiKey, str]:
        """Create a key. The key itself is returned once, and stored nowhere.

        Args:
            role: What it allows.
            label: What it is for.
            learners: The only learners that it sees and is used for.
            expires_at: When it will be refused, in milliseconds since 1970.
            by: Who creates it, for the log.
        """
        record, key = self._new(role, label, learners, expires_at)
        with self._store.writing() as writing:
            _add(writing, record)
        return self._noted(record, by), key

    def first(self, given: str | None = None) -> str | None:
        """The admin key of a new store, which may be given; None if the store had one before."""
        record, key = self._new(Role.ADMIN, "first start", given=given)
        with self._store.writing() as writing:
            if writing.note_once(_FIRST, record.digest.hex()) != record.digest.hex():
                return None
            _add(writing, record)
        self._noted(record, "first start")
        return key

    def revoke(self, key_id: str, *, by: str = IN_PROCESS) -> ApiKey:
        """Revoke a key; not the last admin key, without which no other could be created."""
        with self._store.writing() as writing:
            keys, now = _locked(writing), self._clock()
            digest, api_key = _found(keys, key_id)
            admins = [
                each.id for _, each in keys.values() if each.role is Role.ADMIN and not each.expired(now)
            ]
            if admins == [key_id]:
                raise InvalidArgument("This is the last admin key. Create another one first.")
            writing.revoke_key(digest)
        note(by, "key revoked", key_id, label=api_key.label)
        self.refresh()
        return api_key

    def _new(
        self,
        role: Role | str,
        label: str,
        learners: Sequence[str] | None = None,
        expires_at: int | None = None,
        given: str | None = None,
    ) -> tuple[KeyRecord, str]:
        try:
            wanted = Role(role)
        except ValueError:
            raise InvalidArgument(f"The 'role' of a key must be one of {', '.join(Role)}.") from None
        if not isinstance(label, str) or not LABEL.fullmatch(label):
            raise InvalidArgument("The 'label' of a key must have at most 100 printable ASCII characters.")
        if learners is not None:
            if wanted is Role.ADMIN or not learners:
                raise InvalidArgument("The 'learners' of a key are names; the key of an admin is for all.")
            for name in learners:
                check_name("learner", name)
        now = self._clock()
        if expires_at is not None:
            checks.integer("key", "expires_at", expires_at, now + 1, _LATEST)
        key = given or new_key()
        only = None if learners is None else tuple(learners)
        return KeyRecord(_digest(_secret_of(key)), wanted.value, label, now, only, expires_at), key

    def _noted(self, record: KeyRecord, by: str) -> ApiKey:
        """A key that was just created: from now on it is known here, and the log says so."""
        made = _public(record)
        note(
            by,
            "key created",
            made.id,
            role=made.role.value,
            label=made.label,
            learners=made.learners,
            expires_at=made.expires_at,
        )
        self.refresh()
        return made


def new_key() -> str:
    """A random key, which no store knows yet."""
    secret = secrets.token_hex(32)
    return f"discreet_{_id(_digest(secret))}_{secret}"


def _secret_of(key: str) -> str:
    """The secret of a well-formed key."""
    match = _KEY.fullmatch(key)
    if match is None or _id(_digest(match[2])) != match[1]:
        raise InvalidArgument("A given API key must be as `discreet keys new` prints it.")
    return match[2]


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _id(digest: bytes) -> str:
    return digest[:8].hex()


def _public(record: KeyRecord) -> ApiKey:
    facts = dataclasses.asdict(record)
    return ApiKey(_id(facts.pop("digest")), Role(facts.pop("role")), **facts)


def _by_id(records: Iterable[KeyRecord]) -> _Keys:
    return {_id(record.digest): (record.digest, _public(record)) for record in records}


def _locked(writing: Writing) -> _Keys:
    """All keys that are not revoked; nobody else changes them until the transaction ends."""
    return _by_id(writing.keys(locked=True))


def _add(writing: Writing, record: KeyRecord) -> None:
    """Add a key, with an id that no other has."""
    if _id(record.digest) in _locked(writing):
        raise AlreadyExists("This API key already exists.")
    writing.add_key(record)


def _found(keys: _Keys, key_id: str) -> tuple[bytes, ApiKey]:
    if key_id not in keys:
        raise UnknownName("No key has this id.")
    return keys[key_id]
