"""Inspect a store: its file, its schema, its size."""

from __future__ import annotations

import dataclasses
import sqlite3

from sqlalchemy import func, select

from discreet.atomic_files import real_path
from discreet.errors import StoreError
from discreet.storage import serves_one_process, tables
from discreet.storage.sql_errors import reason
from discreet.storage.sqlite import read_only
from discreet.storage.store import Store


@dataclasses.dataclass(frozen=True)
class Inspection:
    """The result of an inspection.

    Attributes:
        backend: "sqlite" or "postgresql".
        schema: The version of the schema.
        rows: Number of rows, by table.
        open: Open decisions, by the learner's id.
    """

    backend: str
    schema: str
    rows: dict[str, int]
    open: dict[int, int]


def inspect(store: Store) -> Inspection:
    """Inspect a store."""
    with store.reading() as reading:
        connection = reading.connection
        backend = connection.dialect.name
        schema = connection.scalar(select(tables.schema_version.c.version_num))
        rows = {
            table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0)
            for table in tables.metadata.sorted_tables
        }
        t = tables.decisions
        open_counts = select(t.c.learner, func.count()).where(t.c.closed_at.is_(None)).group_by(t.c.learner)
        still_open = {int(learner): int(count) for learner, count in connection.execute(open_counts)}
    return Inspection(backend, str(schema), rows, still_open)


def damage(where: str) -> tuple[str, ...]:
    """What an SQLite database reports about its own integrity, without opening it as a store.

    A server may have it open. PostgreSQL checks pages as it reads them.
    """
    if not serves_one_process(where):
        return ()
    path = real_path(where.removeprefix("sqlite:///"))
    try:
        with read_only(path) as connection:
            lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(20)")]
    except sqlite3.Error as error:
        why = reason(error)
        if why != "damaged":
            raise StoreError(f"The store {path} cannot be read ({why}).") from None
        return (f"it cannot be read ({why})",)
    return tuple(line for line in lines if line != "ok")
