"""PostgreSQL: several processes, also on several machines, serve the same learners."""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    LargeBinary,
    any_,
    bindparam,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from discreet.storage import tables
from discreet.storage.migrate import migrate
from discreet.storage.postgres_engine import OTHERS, PATIENCE, new_engine, postgres_url
from discreet.storage.records import DecisionRecord
from discreet.storage.sql_errors import clear_errors
from discreet.storage.sql_reading import SqlReading
from discreet.storage.sql_store import SqlStore
from discreet.storage.sql_writing import SqlWriting

#: First keys of this package's advisory locks; the learner's id is the second.
_UPDATING, _MIGRATING = 0x64697363, 0x64697364

_DECISION_COLUMNS = ("id", "learner", "draw", "subset", "asked_at")
_ADD_DECISIONS = (
    f"INSERT INTO decisions ({', '.join(_DECISION_COLUMNS)}) SELECT * FROM "
    "unnest(%s::bytea[], %s::integer[], %s::bytea[], %s::bytea[], %s::bigint[]) ON CONFLICT DO NOTHING"
)
_QUEUE_FEEDBACK = (
    "INSERT INTO feedback (decision, learner, payload) "
    "SELECT d, %s::integer, p FROM unnest(%s::bytea[], %s::bytea[]) AS t (d, p)"
)

log = logging.getLogger("discreet.storage")


class _PostgresReading(SqlReading):
    @staticmethod
    def _among(column: ColumnElement[Any]) -> ColumnElement[bool]:
        return column == any_(bindparam("ids", type_=ARRAY(LargeBinary)))

    @staticmethod
    def _ids(ids: list[bytes]) -> Any:
        return ids


class _PostgresWriting(_PostgresReading, SqlWriting):
    @staticmethod
    def _insert(table: Any) -> Any:
        return insert(table)

    def _lock_updates(self, learner: int, wait: bool) -> bool:
        numbers = {"first": _UPDATING, "second": learner}
        if wait:
            self.connection.execute(text("SELECT pg_advisory_xact_lock(:first, :second)"), numbers)
            return True
        tried = self.connection.scalar(text("SELECT pg_try_advisory_xact_lock(:first, :second)"), numbers)
        return bool(tried)

    def add_decisions(self, decisions: Sequence[DecisionRecord]) -> int:
        # As arrays: one statement with a reliable row count.
        rows = sorted(decisions, key=lambda decision: decision.id)
        columns = [[getattr(row, name) for row in rows] for name in _DECISION_COLUMNS]
        return self.connection.exec_driver_sql(_ADD_DECISIONS, tuple(columns)).rowcount

    def queue_feedback(self, learner: int, feedback: Mapping[bytes, bytes]) -> None:
        rows = sorted(feedback.items())
        columns = ([key for key, _ in rows], [payload for _, payload in rows])
        self.connection.exec_driver_sql(_QUEUE_FEEDBACK, (learner, *columns))

    @classmethod
    @functools.cache
    def _closing(cls) -> Any:
        # Locked in the order of ids, so that two processes with the same decisions never deadlock.
        t = tables.decisions
        mine = (
            select(t.c.id)
            .where(cls._among(t.c.id), t.c.learner == bindparam("of"), t.c.closed_at.is_(None))
            .order_by(t.c.id)
            .with_for_update()
            .cte("mine")
        )
        return (
            update(t)
            .where(t.c.id == mine.c.id)
            .values(closed_at=bindparam("now"), how=bindparam("as"))
            .returning(t.c.id, t.c.draw)
        )


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database.

    Args:
        url: ``postgresql://user@host/database``. The password is better left to ``PGPASSFILE``.
        patience: Seconds that a statement may take.
    """

    one_process = False

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self.address = postgres_url(url)
        engine = new_engine(self.address, patience)
        super().__init__(engine, engine.execution_options(snapshot=True))
        try:
            with clear_errors(), engine.begin() as connection:
                if connection.scalar(text("SHOW fsync")) == "off":
                    log.warning("The PostgreSQL server has fsync off: a power failure loses what was told.")
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATING})
                migrate(connection)
        except BaseException:
            self.close()
            raise

    def others(self) -> int:
        with self.reading() as reading:
            return int(reading.connection.scalar(text(OTHERS)) or 0)

    def _read(self, connection: Connection) -> SqlReading:
        return _PostgresReading(connection)

    def _write(self, connection: Connection) -> SqlWriting:
        return _PostgresWriting(connection, self._name)
