"""Inspect a store: its file, its schema, its size."""

from __future__ import annotations

import dataclasses

from sqlalchemy import func, select, text

from discreet.storage import tables
from discreet.storage.sql_store import SqlStore


@dataclasses.dataclass(frozen=True)
class Inspection:
    """The result of an inspection.

    Attributes:
        backend: "sqlite" or "postgresql".
        schema: The version of the schema.
        rows: Number of rows, by table.
        open: Open decisions, by the learner's id.
        damage: Problems that the database itself reports.
    """

    backend: str
    schema: str
    rows: dict[str, int]
    open: dict[int, int]
    damage: tuple[str, ...]


def inspect(store: SqlStore) -> Inspection:
    """Inspect a store."""
    with store.reading() as reading:
        connection = reading.connection
        backend = connection.dialect.name
        schema = connection.scalar(text("SELECT version_num FROM schema_version"))
        rows = {
            table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0)
            for table in tables.metadata.sorted_tables
        }
        t = tables.decisions
        open_counts = select(t.c.learner, func.count()).where(t.c.closed_at.is_(None)).group_by(t.c.learner)
        still_open = {int(learner): int(count) for learner, count in connection.execute(open_counts)}
        damage: tuple[str, ...] = ()
        if backend == "sqlite":
            found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            damage = tuple(str(line) for line in found if line != "ok")
    return Inspection(backend, str(schema), rows, still_open, damage)
