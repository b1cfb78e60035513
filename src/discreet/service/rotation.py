"""Replace the encryption key of a store that no server has open, and seal everything in it again.

All in one transaction: an interruption leaves the store as it was. Whoever has the old key can then open
nothing in the store, but what was sealed in an old copy of it, with which they can also check guesses of the
ids of people: their hashes cannot be made again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, Row, Table, bindparam, select, tuple_, update

from discreet.errors import StoreInUse, WrongKey
from discreet.service.encryption import KeyRing
from discreet.service.opening import FINGERPRINT, KEYS
from discreet.storage import tables
from discreet.storage.records import AuditRecord
from discreet.storage.store import Store
from discreet.storage.transfer import block_writers

_AT_ONCE = 200


@dataclasses.dataclass(frozen=True)
class _Sealed:
    """A column with sealed values.

    Attributes:
        kind: What `KeyRing.seal` was told.
        table: The table.
        column: The column.
        learner: The column with the learner's id.
        object_id: The id that a value was sealed for, of its row.
    """

    kind: str
    table: Table
    column: str
    learner: str
    object_id: Callable[[Row[Any]], bytes]


_SEALED = (
    _Sealed("state", tables.learners, "state", "id", lambda row: str(row.generation).encode()),
    _Sealed("sums", tables.sums, "sums", "learner", lambda row: f"{row.phase} {row.applied}".encode()),
    _Sealed("feedback", tables.feedback, "payload", "learner", lambda row: bytes(row.decision)),
)


def rotate(store: Store, old: KeyRing, new: KeyRing, audit: AuditRecord) -> int:
    """Seal everything again; return how many values. What the old key cannot open stays as it is.

    Args:
        store: The store.
        old: Its keys.
        new: The keys that it gets.
        audit: Recorded with it.

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
        block_writers(connection)
        lineages = {record.id: record.lineage for record in writing.learners()}
        count = sum(_reseal(connection, each, lineages, old, new) for each in _SEALED)
        writing.note(FINGERPRINT, new.fingerprint)
        writing.note(KEYS, new.keys)
        writing.add_audit(audit)
    return count


def _reseal(
    connection: Connection, sealed: _Sealed, lineages: dict[int, str], old: KeyRing, new: KeyRing
) -> int:
    t, count = sealed.table, 0
    keys = list(t.primary_key.columns)
    mine = [key == bindparam(f"_{key.name}") for key in keys]
    put = update(t).where(*mine).values({sealed.column: bindparam("_new")})
    for rows in _pages(connection, t):
        again = []
        for row in rows:
            lineage, name = lineages.get(getattr(row, sealed.learner), ""), sealed.object_id(row)
            try:
                opened = old.unseal(bytes(getattr(row, sealed.column)), lineage, sealed.kind, name)
            except WrongKey:  # not sealed, or damaged
                continue
            value = new.seal(opened, lineage, sealed.kind, name)
            again.append({f"_{key.name}": getattr(row, key.name) for key in keys} | {"_new": value})
        if again:
            connection.execute(put, again)
        count += len(again)
    return count


def _pages(connection: Connection, table: Table) -> Iterator[list[Row[Any]]]:
    """All rows in the order of their keys; they may be changed meanwhile."""
    keys = tuple_(*table.primary_key.columns)
    ordered = select(table).order_by(*table.primary_key.columns).limit(_AT_ONCE)
    rows = list(connection.execute(ordered))
    while rows:
        yield rows
        last = tuple(getattr(rows[-1], key.name) for key in table.primary_key.columns)
        rows = list(connection.execute(ordered.where(keys > last)))
