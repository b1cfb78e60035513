"""Opening a desk's parts: the store, the key it was made with, and the witness."""

from __future__ import annotations

import os
import pathlib
import secrets

from discreet.errors import StaleState, WrongKey
from discreet.service.keys import KeyRing
from discreet.service.witness import Witness
from discreet.storage import Store, open_store
from discreet.storage.sqlite import SqliteStore

#: The environment variable that may name the witness file.
WITNESS_VARIABLE = "DISCREET_WITNESS"
#: Under which names a store notes which key it was made with, and what it is called itself.
FINGERPRINT, NAME = "key fingerprint", "store name"


def opened(
    where: str | os.PathLike[str],
    key_file: str | os.PathLike[str] | None,
    witness_file: str | os.PathLike[str] | None,
    *,
    look_only: bool = False,
    repair: bool = False,
) -> tuple[Store, KeyRing, Witness]:
    """The parts of a desk. A key is made only for a store that has none.

    Args:
        where: See `open_store`.
        key_file: Where the key is, unless the environment has it.
        witness_file: Where the witness is, unless the environment says so.
        look_only: Whether the witness is left as it is.
        repair: Whether a damaged witness is taken for none.
    """
    store = open_store(where)
    try:
        file = pathlib.Path(key_file) if key_file is not None else default_key_file(store)
        with store.reading() as reading:
            noted, name = reading.meta(FINGERPRINT), reading.meta(NAME)
        ring = KeyRing.found(file, create=noted is None)
        if noted is None or name is None:
            with store.writing() as writing:
                noted = writing.note_once(FINGERPRINT, ring.fingerprint)
                name = writing.note_once(NAME, secrets.token_hex(16))
        if noted != ring.fingerprint:
            raise WrongKey(
                "This store was made with another key. With the one given nothing that was sealed can be "
                "opened, and people would be counted anew. Give the key it was made with."
            )
        path = witness_path(store, name, witness_file)
        shared = not store.one_process
        return store, ring, Witness(path, name, shared=shared, look_only=look_only, repair=repair)
    except BaseException:
        store.close()
        raise


def require_latest(store: Store, witness: Witness) -> None:
    """Refuse a store whose witness is gone, and one that lacks learners its witness knows.

    Raises:
        StaleState: In either case. What is missing in a learner that is there is seen when it is read.
    """
    with store.reading() as reading:
        learners = reading.learners()
    if witness.fresh and learners:
        raise StaleState(
            f"The witness {witness.path} is not there, so nobody knows whether this store is the latest. Put "
            "it back, or name it in DISCREET_WITNESS. If it is lost, or this is another machine, see "
            "`discreet store adopt --help`."
        )
    missing = witness.lineages - {learner.lineage for learner in learners}
    if missing:
        raise StaleState(
            f"The store is an old backup: {len(missing)} learners or epochs that its witness knows are not "
            "in it, and what people have lost to them is not counted. Restore the latest state; if there is "
            "none, see `discreet store adopt --help`."
        )


def witness_path(store: Store, name: str, given: str | os.PathLike[str] | None) -> pathlib.Path:
    """Where the witness of a store is: where it was said to be, or where the store alone decides."""
    named = given or os.environ.get(WITNESS_VARIABLE)
    if named:
        return pathlib.Path(named)
    if isinstance(store, SqliteStore):
        return store.path.with_name(store.path.name + ".witness")
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return pathlib.Path(home) / "discreet" / f"{name}.witness"


def default_key_file(store: Store) -> pathlib.Path | None:
    """Where the key of a store is if nothing else is said: beside an SQLite file."""
    return store.path.with_name(store.path.name + ".key") if isinstance(store, SqliteStore) else None
