"""Reading from an SQL store: the same statements for every backend."""

from __future__ import annotations

import functools
import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, text

from discreet.errors import UnknownName
from discreet.storage import tables
from discreet.storage.base import Reading
from discreet.storage.records import (
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    LearnerRecord,
    Minute,
    PopulationRecord,
    Status,
)
from discreet.storage.sql_phases import ReadingPhases

#: Ids in one statement; SQLite takes 32,766 parameters.
_AT_ONCE = 8_000

#: The columns of counts.
COUNTED = ("asked", "told", "expired", "released", "ones")
_SUMS = [func.coalesce(func.sum(tables.minutes.c[name]), 0).label(name) for name in COUNTED]
HEADS = select(tables.learners.c.id, tables.learners.c.status, tables.learners.c.generation).where(
    tables.learners.c.id.in_(bindparam("ids", expanding=True))
)
_K = tables.keys.c
KEYS = (
    select(_K.digest, _K.role, _K.label, _K.created_at).where(_K.revoked.is_(False)).order_by(_K.created_at)
)


class SqlReading(ReadingPhases, Reading):
    """Reads through one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def meta(self, key: str) -> str | None:
        found: str | None = self.connection.scalar(
            select(tables.meta.c.value).where(tables.meta.c.key == key)
        )
        return found

    def learners(self) -> list[LearnerRecord]:
        t = tables.learners
        columns = [column for column in t.c if column.name != "state"]
        rows = self.connection.execute(select(*columns).order_by(t.c.name, t.c.epoch)).mappings()
        return [
            LearnerRecord(**{**row, "settings": json.loads(row["settings"]), "status": Status(row["status"])})
            for row in rows
        ]

    def heads(self, learners: Iterable[int]) -> dict[int, tuple[Status, int]]:
        return self._heads(HEADS, learners)

    def _heads(self, statement: Select[Any], learners: Iterable[int]) -> dict[int, tuple[Status, int]]:
        rows = self.connection.execute(statement, {"ids": list(learners)})
        return {number: (Status(status), generation) for number, status, generation in rows}

    def state(self, learner: int) -> tuple[int, bytes]:
        t = tables.learners
        row = self.connection.execute(
            select(t.c.generation, t.c.state).where(t.c.id == learner)
        ).one_or_none()
        if row is None:
            raise UnknownName(f"No learner has the id {learner}.")
        return row[0], bytes(row[1])

    def decisions(self, ids: Iterable[bytes]) -> dict[bytes, DecisionRecord]:
        found = {}
        for some in in_parts(ids):
            for key, learner, draw, subset, asked_at, how in self.connection.execute(
                self._select_decisions(), {"ids": self._ids(some)}
            ):
                closed = None if how is None else How(how)
                decision_id = bytes(key)
                found[decision_id] = DecisionRecord(
                    decision_id, learner, bytes(draw), bytes(subset), asked_at, closed
                )
        return found

    def next_ask(self, learner: int, since: int) -> int | None:
        t = tables.decisions
        found = select(func.min(t.c.asked_at)).where(t.c.learner == learner, t.c.asked_at >= since)
        first: int | None = self.connection.scalar(found)
        return first

    def recent(self, learner: int, most: int) -> list[tuple[int, bytes]]:
        t = tables.decisions
        rows = self.connection.execute(
            select(t.c.asked_at, t.c.subset)
            .where(t.c.learner == learner)
            .order_by(t.c.asked_at.desc())
            .limit(most)
        )
        return [(asked_at, bytes(subset)) for asked_at, subset in rows]

    def attempts(self, learner: int, person: bytes) -> int:
        t = tables.people
        found: int | None = self.connection.scalar(
            select(t.c.attempts).where(t.c.learner == learner, t.c.person == person)
        )
        return found or 0

    def queued(self) -> dict[int, int]:
        t = tables.feedback
        rows = self.connection.execute(select(t.c.learner, func.count()).group_by(t.c.learner))
        return {row[0]: row[1] for row in rows}

    def minutes(self, learner: int, since: int) -> list[Minute]:
        t = tables.minutes
        rows = self.connection.execute(
            select(t.c.start, *_SUMS)
            .where(t.c.learner == learner, t.c.start >= since)
            .group_by(t.c.start)
            .order_by(t.c.start)
        )
        return [Minute(start, Counts(*map(int, sums))) for start, *sums in rows]

    def counts(self, learner: int) -> Counts:
        row = self.connection.execute(select(*_SUMS).where(tables.minutes.c.learner == learner)).one()
        return Counts(*map(int, row))

    def pending(self) -> int:
        t, learners = tables.minutes, tables.learners
        still_open = func.sum(t.c.asked - t.c.told - t.c.expired)
        active = learners.c.status == Status.ACTIVE.value
        found = self.connection.scalar(
            select(still_open).join_from(t, learners, t.c.learner == learners.c.id).where(active)
        )
        return int(found or 0)

    def size(self) -> int:
        sizes = {
            "sqlite": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            "postgresql": "SELECT pg_database_size(current_database())",
        }
        return int(self.connection.scalar(text(sizes[self.connection.dialect.name])) or 0)

    def populations(self) -> list[PopulationRecord]:
        t = tables.populations
        rows = self.connection.execute(select(t.c.name, t.c.epsilon_limit).order_by(t.c.name))
        return [PopulationRecord(name, limit) for name, limit in rows]

    def keys(self) -> list[KeyRecord]:
        return self._keys(KEYS)

    def _keys(self, statement: Select[Any]) -> list[KeyRecord]:
        rows = self.connection.execute(statement)
        return [KeyRecord(bytes(digest), role, label, at) for digest, role, label, at in rows]

    @staticmethod
    @abstractmethod
    def _among(column: ColumnElement[Any]) -> ColumnElement[bool]:
        """Whether a column is in the parameter `ids`, as `_ids` encodes it."""

    @staticmethod
    @abstractmethod
    def _ids(ids: list[bytes]) -> Any:
        """Ids as one parameter: their number must not change the text of the statement."""

    @classmethod
    @functools.cache
    def _select_decisions(cls) -> Select[Any]:
        t = tables.decisions
        columns = (t.c.id, t.c.learner, t.c.draw, t.c.subset, t.c.asked_at, t.c.how)
        return select(*columns).where(cls._among(t.c.id))


def in_parts(ids: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Sorted unique ids, in batches of what one statement takes."""
    listed = sorted(set(ids))
    for first in range(0, len(listed), _AT_ONCE):
        yield listed[first : first + _AT_ONCE]
