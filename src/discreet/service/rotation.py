"""Replace the encryption key of a store that no server has open, and seal everything in it again.

All in one transaction: an interruption leaves the store as it was. Whoever has the old key can then open
nothing in the store, but what was sealed in an old copy of it, with which they can also check guesses of the
ids of people: their hashes cannot be made again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, Connection, Row, bindparam, select, text, update

from discreet.errors import StoreInUse, WrongKey
from discreet.service.encryption import KeyRing
from discreet.service.opening import FINGERPRINT, KEYS
from discreet.service.sealing import FEEDBACK, STATE, SUMS, state_id, sums_id
from discreet.storage import tables
from discreet.storage.records import LearnerRecord
from discreet.storage.store import Store

#: By kind: a column with sealed values, the one with the learner's id, and what a value was sealed for.
_SEALED: dict[str, tuple[Column[Any], Column[Any], Callable[[Row[Any]], bytes]]] = {
    STATE: (tables.learners.c.state, tables.learners.c.id, lambda row: state_id(row.generation)),
    SUMS: (tables.sums.c.sums, tables.sums.c.learner, lambda row: sums_id(row.phase, row.applied)),
    FEEDBACK: (tables.feedback.c.payload, tables.feedback.c.learner, lambda row: bytes(row.decision)),
}


def rotate(store: Store, old: KeyRing, new: KeyRing) -> int:
    """Seal everything again; return how many values. What the old key cannot open stays as it is.

    Raises:
        StoreInUse: A server has the store open.
    """
    if store.others():
        raise StoreInUse(
            "Servers have this store open, or a pooler keeps their connections: stop them first."
        )
    with store.writing() as writing:
        connection = writing.connection
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA secure_delete = ON")  # leave nothing of the old keys
        _block_writers(connection)
        count = sum(
            _reseal(connection, kind, record, old, new) for record in writing.learners() for kind in _SEALED
        )
        writing.note(FINGERPRINT, new.fingerprint)
        writing.note(KEYS, new.keys)
    return count


def _block_writers(connection: Connection) -> None:
    """Block other writers until the transaction ends, as SQLite does anyway."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(table.name for table in tables.metadata.sorted_tables)
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))


def _reseal(connection: Connection, kind: str, record: LearnerRecord, old: KeyRing, new: KeyRing) -> int:
    """Seal the values of a learner again."""
    sealed, learner, object_id = _SEALED[kind]
    keys = list(sealed.table.primary_key.columns)
    again = []
    for row in connection.execute(select(sealed.table).where(learner == record.id)):
        name = object_id(row)
        try:
            opened = old.unseal(bytes(getattr(row, sealed.name)), record.lineage, kind, name)
        except WrongKey:  # not sealed, or damaged
            continue
        value = new.seal(opened, record.lineage, kind, name)
        again.append({f"_{key.name}": getattr(row, key.name) for key in keys} | {"_new": value})
    if again:
        mine = [key == bindparam(f"_{key.name}") for key in keys]
        connection.execute(update(sealed.table).where(*mine).values({sealed.name: bindparam("_new")}), again)
    return len(again)
