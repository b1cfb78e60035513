"""Open the parts of a service: the store, its encryption key and its rollback guard."""

from __future__ import annotations

import os
import pathlib
import secrets

from discreet.errors import InvalidArgument, StaleState, WrongKey
from discreet.imports import require_extra
from discreet.service.encryption import KeyRing, fingerprint, load_key
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.sqlite_guard import SqliteGuard
from discreet.storage import open_store, serves_one_process
from discreet.storage.sqlite import SqliteStore
from discreet.storage.store import Store

#: The environment variable that may name the rollback guard.
GUARD_VARIABLE = "DISCREET_ROLLBACK_GUARD"
#: The store's own facts: the fingerprint of its encryption key, the keys that it opens, its random name.
FINGERPRINT, KEYS, NAME = "key fingerprint", "sealed keys", "store name"


def open_parts(
    where: str | os.PathLike[str],
    key_file: str | os.PathLike[str] | None,
    guard_file: str | os.PathLike[str] | None,
    *,
    look_only: bool = False,
    repair: bool = False,
    patience: float | None = None,
) -> tuple[Store, KeyRing, RollbackGuard]:
    """The parts of a service. An encryption key is created only for a store that has none.

    Args:
        where: See `open_store`.
        key_file: The encryption key, unless the environment has it.
        guard_file: The rollback guard, a path or address, unless the environment names it.
        look_only: Whether to leave the rollback guard unchanged.
        repair: Whether to treat a damaged rollback guard as missing.
        patience: See `open_store`.
    """
    store = open_store(where, patience=patience)
    try:
        file = pathlib.Path(key_file) if key_file is not None else default_key_file(store)
        with store.reading() as reading:
            noted, keys, name = (reading.meta(fact) for fact in (FINGERPRINT, KEYS, NAME))
        key = load_key(file, create=noted is None)
        if noted is None or keys is None or name is None:
            with store.writing() as writing:
                noted = writing.note_once(FINGERPRINT, fingerprint(key))
                keys = writing.note_once(KEYS, KeyRing(key).keys)
                name = writing.note_once(NAME, secrets.token_hex(16))
        if noted != fingerprint(key):
            raise WrongKey(
                "This store was made with another key. With this one nothing sealed can be opened, and "
                "people would be counted again from zero. Give the key that it was made with, or rotated to."
            )
        ring = KeyRing(key, keys)
        return store, ring, open_guard(store, where, name, guard_file, look_only=look_only, repair=repair)
    except BaseException:
        store.close()
        raise


def require_latest(store: Store, guard: RollbackGuard) -> None:
    """Refuse a store whose rollback guard is missing, or that lacks learners its rollback guard knows.

    Raises:
        StaleState: In either case. An old state of a learner is detected when it is read.
    """
    with store.reading() as reading:
        learners = reading.learners()
    if guard.fresh and learners:
        raise StaleState(
            f"The rollback guard {guard.where} is missing (or comes from a dump), so this store may be "
            f"an old backup. Put it back, or name it in {GUARD_VARIABLE}. If it is lost, see `discreet store "
            "adopt --help`."
        )
    missing = guard.lineages - {learner.lineage for learner in learners}
    if missing:
        raise StaleState(
            f"The store is an old backup: {len(missing)} learners or epochs that its rollback guard knows "
            "are not in it, and their privacy loss is not counted. Restore the latest state; if there is "
            "none, see `discreet store adopt --help`."
        )


def open_guard(
    store: Store,
    where: str | os.PathLike[str],
    name: str,
    given: str | os.PathLike[str] | None = None,
    *,
    look_only: bool = False,
    repair: bool = False,
) -> RollbackGuard:
    """The rollback guard of a store: an SQLite file, or a table of PostgreSQL.

    Args:
        store: The store.
        where: Its address.
        name: Its random name.
        given: The guard's path or address. By default the environment names it, or it is a file beside an
            SQLite file, or a schema apart in a PostgreSQL database.
        look_only: Whether to leave it unchanged, until `settle`.
        repair: Whether to treat a damaged guard as missing.
    """
    at = os.fspath(given or os.environ.get(GUARD_VARIABLE) or "")
    if not at:
        at = f"{store.path}.guard" if isinstance(store, SqliteStore) else os.fspath(where)
    if serves_one_process(at):
        place = at.removeprefix("sqlite:///")
        if "://" in place:
            raise InvalidArgument(
                "A rollback guard is a path, sqlite:///path, or postgresql://user@host/database."
            )
        return SqliteGuard(place, name, look_only=look_only, repair=repair)
    require_extra("service", "A rollback guard in PostgreSQL needs", "psycopg")
    from discreet.service.postgres_guard import PostgresGuard
    from discreet.storage.postgres_engine import postgres_url

    return PostgresGuard(postgres_url(at), name, look_only=look_only)


def default_key_file(store: Store) -> pathlib.Path | None:
    """Where the encryption key of a store is by default: beside an SQLite file."""
    return store.path.with_name(store.path.name + ".key") if isinstance(store, SqliteStore) else None
