"""Opening a desk's parts: the store, the key it was made with, and the witness beside the key."""

from __future__ import annotations

import os
import pathlib

from discreet.errors import WrongKey
from discreet.service.keys import VARIABLE, KeyRing
from discreet.service.witness import Witness
from discreet.storage import Store, open_store
from discreet.storage.sqlite import SqliteStore

#: The environment variable that may name the witness file.
WITNESS_VARIABLE = "DISCREET_WITNESS"
#: Under which name a store notes which key it was made with.
FINGERPRINT = "key fingerprint"


def opened(
    where: str | os.PathLike[str],
    key_file: str | os.PathLike[str] | None,
    witness_file: str | os.PathLike[str] | None,
) -> tuple[Store, KeyRing, Witness]:
    """The parts of a desk. A key is made only for a store that has none."""
    store = open_store(where)
    try:
        base = store.path if isinstance(store, SqliteStore) else None
        file = pathlib.Path(key_file) if key_file is not None else default_key_file(store)
        with store.reading() as reading:
            noted = reading.meta(FINGERPRINT)
        ring = KeyRing.found(file, create=noted is None)
        if noted is None:
            with store.writing() as writing:
                noted = writing.note_once(FINGERPRINT, ring.fingerprint)
        if noted != ring.fingerprint:
            raise WrongKey(
                "This store was made with another key. With the one given nothing that was sealed can be "
                "opened, and people would be counted anew. Give the key it was made with."
            )
        return store, ring, Witness(_witness_path(base, file, witness_file, ring))
    except BaseException:
        store.close()
        raise


def _witness_path(
    base: pathlib.Path | None,
    key_file: pathlib.Path | None,
    given: str | os.PathLike[str] | None,
    ring: KeyRing,
) -> pathlib.Path:
    named = given or os.environ.get(WITNESS_VARIABLE)
    if named:
        return pathlib.Path(named)
    beside = key_file if key_file is not None and not os.environ.get(VARIABLE) else base
    if beside is not None:
        return beside.with_suffix(".witness")
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return pathlib.Path(home) / "discreet" / f"{ring.fingerprint}.witness"


def default_key_file(store: Store) -> pathlib.Path | None:
    """Where the key of a store is if nothing else is said: beside an SQLite file."""
    return store.path.with_name(store.path.name + ".key") if isinstance(store, SqliteStore) else None
