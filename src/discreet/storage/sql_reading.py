"""Reading from an SQL store: the same statements for every backend."""

from __future__ import annotations

import functools
import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, exists, func, select, text

from discreet.errors import UnknownName
from discreet.storage import tables
from discreet.storage.base import Reading
from discreet.storage.records import (
    AuditRecord,
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    LearnerRecord,
    Loss,
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
KEYS = select(tables.keys).where(_K.revoked.is_(False)).order_by(_K.created_at)
_L, _D = tables.learners.c, tables.decisions.c
_LEARNERS = select(*(column for column in _L if column.name != "state")).order_by(_L.name, _L.epoch)
_LATER = tables.learners.alias("later")
_IS_LATEST = ~exists().where(_LATER.c.name == _L.name, _LATER.c.epoch > _L.epoch)
_ACTIVE = _L.status == Status.ACTIVE.value
#: A look-up in the index, for each learner.
_FIRST_ASKED = select(func.min(_D.asked_at)).where(_D.learner == _L.id).scalar_subquery()
_S = tables.sums.c
_APPLIED = select(func.coalesce(func.sum(_S.applied), 0)).where(_S.learner == _L.id).scalar_subquery()

_PROGRESS = select(_L.id, _L.generation, _APPLIED).where(_L.id.in_(bindparam("ids", expanding=True)))


class SqlReading(ReadingPhases, Reading):
    """Reads through one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def meta(self, key: str) -> str | None:
        found: str | None = self.connection.scalar(
            select(tables.meta.c.value).where(tables.meta.c.key == key)
        )
        return found

    def learners(self, ids: Iterable[int] | None = None) -> list[LearnerRecord]:
        return self._learners(_LEARNERS if ids is None else _LEARNERS.where(_L.id.in_(ids)))

    def _learners(self, statement: Select[Any]) -> list[LearnerRecord]:
        return [
            LearnerRecord(**{**row, "settings": json.loads(row["settings"]), "status": Status(row["status"])})
            for row in self.connection.execute(statement).mappings()
        ]

    def latest(
        self,
        *,
        names: Iterable[str] | None = None,
        search: str = "",
        after: str = "",
        most: int | None = None,
    ) -> list[LearnerRecord]:
        wanted = _LEARNERS.where(_IS_LATEST).limit(most)
        if names is not None:
            wanted = wanted.where(_L.name.in_(names))
        if search:
            wanted = wanted.where(_L.name.icontains(search, autoescape=True))
        if after:
            wanted = wanted.where(_L.name > after)
        return self._learners(wanted)

    def first_asked(self, ids: Iterable[int] | None = None) -> dict[int, tuple[float, int | None]]:
        wanted = select(_L.id, _L.deadline, _FIRST_ASKED).where(_ACTIVE)
        rows = self.connection.execute(wanted if ids is None else wanted.where(_L.id.in_(ids)))
        return {learner: (deadline, first) for learner, deadline, first in rows}

    def next_asked(self, learner: int, since: int) -> int | None:
        found: int | None = self.connection.scalar(
            select(func.min(_D.asked_at)).where(_D.learner == learner, _D.asked_at >= since)
        )
        return found

    def to_compact(self, now: int, kept: int, counted: int) -> list[int]:
        person = tables.people.c
        has_people = exists().where(person.learner == _L.id)
        old = now - kept - 1000 * _L.deadline > _FIRST_ASKED
        minute = tables.minutes.c
        unmerged = select(minute.learner).where(minute.writer != "", minute.start < now - counted)
        some = old | (~_ACTIVE & has_people) | _L.id.in_(unmerged)
        return list(self.connection.scalars(select(_L.id).where(some)))

    def ended(self) -> list[str]:
        return list(self.connection.scalars(select(_L.lineage).where(~_ACTIVE)))

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

    def states(self, learners: Iterable[int]) -> dict[int, tuple[int, bytes, int]]:
        wanted = select(_L.id, _L.generation, _L.state, _APPLIED).where(_L.id.in_(learners))
        return {row[0]: (row[1], bytes(row[2]), int(row[3])) for row in self.connection.execute(wanted)}

    def progress(self, learners: Iterable[int]) -> dict[int, tuple[int, int]]:
        rows = self.connection.execute(_PROGRESS, {"ids": list(learners)})
        return {learner: (generation, int(applied)) for learner, generation, applied in rows}

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

    def totals(self, learners: Iterable[int]) -> dict[int, Counts]:
        t = tables.minutes
        rows = self.connection.execute(
            select(t.c.learner, *_SUMS).where(t.c.learner.in_(learners)).group_by(t.c.learner)
        )
        return {learner: Counts(*map(int, sums)) for learner, *sums in rows}

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

    def populations(self, name: str | None = None) -> list[PopulationRecord]:
        t = tables.populations
        wanted = select(t.c.name, t.c.epsilon_limit).order_by(t.c.name)
        rows = self.connection.execute(wanted if name is None else wanted.where(t.c.name == name))
        return [PopulationRecord(*row) for row in rows]

    def losses(self, population: str) -> list[Loss]:
        mine = _LEARNERS.with_only_columns(_L.name, _L.epoch, _L.epsilon)
        return [Loss(*row) for row in self.connection.execute(mine.where(_L.population == population))]

    def keys(self, digests: Iterable[bytes] | None = None) -> list[KeyRecord]:
        return self._keys(KEYS if digests is None else KEYS.where(_K.digest.in_(digests)))

    def _keys(self, statement: Select[Any]) -> list[KeyRecord]:
        found = []
        for row in self.connection.execute(statement).mappings():
            learners = None if row["learners"] is None else tuple(json.loads(row["learners"]))
            values = {**row, "digest": bytes(row["digest"]), "learners": learners}
            del values["revoked"]
            found.append(KeyRecord(**values))
        return found

    def audit(self, *, before: int | None = None, most: int = 100) -> list[AuditRecord]:
        t = tables.audit
        wanted = select(t).order_by(t.c.id.desc()).limit(most)
        if before is not None:
            wanted = wanted.where(t.c.id < before)
        rows = self.connection.execute(wanted).mappings()
        return [AuditRecord(**{**row, "details": json.loads(row["details"])}) for row in rows]

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
