"""Looking whether a store is sound: its file, its schema, how much is in it."""

from __future__ import annotations

import dataclasses

from sqlalchemy import func, select, text

from discreet.storage import tables
from discreet.storage.sql_store import SqlStore


@dataclasses.dataclass(frozen=True)
class Inspection:
    """What was found.

    Attributes:
        backend: "sqlite" or "postgresql".
        schema: The version of the schema.
        rows: How many, by table.
        open: Open decisions, by the learner's number.
        damage: What the database itself found wrong; empty where nothing is.
    """

    backend: str
    schema: str
    rows: dict[str, int]
    open: dict[int, int]
    damage: tuple[str, ...]


def inspect(store: SqlStore) -> Inspection:
    """Look at everything once."""
    with store.reading() as reading:
        connection = reading._connection
        backend = connection.dialect.name
        schema = connection.scalar(text("SELECT version_num FROM schema_version"))
        rows = {
            table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0)
            for table in tables.metadata.sorted_tables
        }
        t = tables.decisions
        waiting = select(t.c.learner, func.count()).where(t.c.closed_at.is_(None)).group_by(t.c.learner)
        still_open = {int(learner): int(count) for learner, count in connection.execute(waiting)}
        damage: tuple[str, ...] = ()
        if backend == "sqlite":
            found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            damage = tuple(str(line) for line in found if line != "ok")
    return Inspection(backend, str(schema), rows, still_open, damage)
