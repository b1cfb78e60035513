"""Writing to an SQL store. Backends override a few methods."""

from __future__ import annotations

import collections
import dataclasses
import functools
import json
import operator
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from discreet.errors import AlreadyExists, Conflict
from discreet.storage import tables
from discreet.storage.base import StateUpdate, Writing
from discreet.storage.records import (
    AuditRecord,
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    NewLearner,
    PopulationRecord,
    QueuedReport,
    Status,
)
from discreet.storage.sql_phases import WritingPhases
from discreet.storage.sql_reading import COUNTED, HEADS, KEYS, SqlReading, in_parts

#: Rows that are looked at, as a multiple of those that are closed or deleted.
_LOOKS = 10
_NEXT_STATE = (
    update(tables.learners)
    .where(tables.learners.c.id == bindparam("of"), tables.learners.c.generation == bindparam("from"))
    .values(generation=bindparam("to"), state=bindparam("new"))
)
#: A shared lock that does not block an UPDATE of the state, and an exclusive one.
_HELD = HEADS.order_by(tables.learners.c.id).with_for_update(read=True, key_share=True)
_HELD_TO_END = HEADS.order_by(tables.learners.c.id).with_for_update()


class SqlWriting(WritingPhases, SqlReading, Writing):
    """One transaction on one connection.

    Args:
        connection: In a transaction that its owner commits.
        writer: Names this process in the rows of counts it writes.
    """

    def __init__(self, connection: Connection, writer: str) -> None:
        super().__init__(connection)
        self._writer = writer

    @staticmethod
    @abstractmethod
    def _insert(table: Any) -> Any:
        """The backend's INSERT with ON CONFLICT."""

    @abstractmethod
    def _lock_updates(self, learner: int, wait: bool) -> bool:
        """Become the only one to update a learner until the transaction ends; False if somebody else is."""

    # Statements on the hot path are built once: building takes longer than running.

    @classmethod
    @functools.cache
    def _adding_decisions(cls) -> Any:
        return cls._insert(tables.decisions).on_conflict_do_nothing()

    @classmethod
    @functools.cache
    def _adding(cls, table: Table, keys: tuple[str, ...], counted: tuple[str, ...]) -> Any:
        """Add to the counts of a row, or insert it."""
        statement = cls._insert(table)
        return statement.on_conflict_do_update(
            index_elements=[table.c[key] for key in keys],
            set_={name: table.c[name] + statement.excluded[name] for name in counted},
        )

    @classmethod
    @functools.cache
    def _closing(cls) -> Any:
        """Close the open ones among `ids`, and return their draws."""
        t = tables.decisions
        return (
            update(t)
            .where(cls._among(t.c.id), t.c.learner == bindparam("of"), t.c.closed_at.is_(None))
            .values(closed_at=bindparam("now"), how=bindparam("as"))
            .returning(t.c.id, t.c.draw)
        )

    def note_once(self, key: str, value: str) -> str:
        t = tables.meta
        self.connection.execute(self._insert(t).values(key=key, value=value).on_conflict_do_nothing())
        return str(self.connection.execute(select(t.c.value).where(t.c.key == key)).scalar_one())

    def note(self, key: str, value: str) -> None:
        statement = self._insert(tables.meta).values(key=key, value=value)
        self.connection.execute(
            statement.on_conflict_do_update(index_elements=["key"], set_={"value": statement.excluded.value})
        )

    def add_population(self, population: PopulationRecord) -> None:
        t = tables.populations
        statement = self._insert(t).values(name=population.name, epsilon_limit=population.limit)
        self.connection.execute(
            statement.on_conflict_do_update(
                index_elements=[t.c.name], set_={"epsilon_limit": statement.excluded.epsilon_limit}
            )
        )

    def lock_population(self, name: str) -> PopulationRecord | None:
        t = tables.populations
        row = self.connection.execute(
            select(t.c.name, t.c.epsilon_limit).where(t.c.name == name).with_for_update()
        ).one_or_none()
        return None if row is None else PopulationRecord(*row)

    def add_learner(self, learner: NewLearner) -> int:
        values = dataclasses.asdict(learner)
        values |= {"settings": json.dumps(learner.settings), "status": Status.ACTIVE.value, "generation": 0}
        statement = self._insert(tables.learners).values(**values).on_conflict_do_nothing()
        added = self.connection.execute(statement.returning(tables.learners.c.id)).scalar_one_or_none()
        if added is None:
            raise AlreadyExists(f"A learner named {learner.name!r} already exists.")
        return int(added)

    def hold(self, learners: Iterable[int], *, to_end: bool = False) -> dict[int, tuple[Status, int]]:
        return self._heads(_HELD_TO_END if to_end else _HELD, learners)

    def set_status(self, learner: int, status: Status) -> None:
        t = tables.learners
        self.connection.execute(update(t).where(t.c.id == learner).values(status=status.value))

    def drop_queued(self, learner: int) -> int:
        t = tables.feedback
        return self.connection.execute(delete(t).where(t.c.learner == learner)).rowcount

    def add_decisions(self, decisions: Sequence[DecisionRecord]) -> int:
        if not decisions:
            return 0
        rows = [
            {"id": d.id, "learner": d.learner, "draw": d.draw, "subset": d.subset, "asked_at": d.asked_at}
            for d in decisions
        ]
        return self.connection.execute(self._adding_decisions(), rows).rowcount

    def close_decisions(self, learner: int, ids: Iterable[bytes], how: How, at: int) -> dict[bytes, bytes]:
        closed = {}
        for some in in_parts(ids):
            for key, draw in self.connection.execute(
                self._closing(), {"ids": self._ids(some), "of": learner, "as": how.value, "now": at}
            ):
                closed[bytes(key)] = bytes(draw)
        return closed

    def expire(
        self, learner: int, since: int, before: int, at: int, most: int
    ) -> tuple[dict[bytes, bytes], int]:
        t = tables.decisions
        asked = (t.c.learner == learner) & (t.c.asked_at >= since) & (t.c.asked_at < before)
        # Most were told about: a look must not go through all that is remembered.
        beyond = select(t.c.asked_at).where(asked).order_by(t.c.asked_at).offset(_LOOKS * most).limit(1)
        end = self.connection.scalar(beyond)
        until = before if end is None else max(end, since + 1)
        due = self.connection.execute(
            select(t.c.id)
            .where(asked, t.c.asked_at < until, t.c.closed_at.is_(None))
            .order_by(t.c.asked_at)
            .limit(most)
        ).scalars()
        ids = [bytes(key) for key in due]
        closed = self.close_decisions(learner, ids, How.EXPIRED, at)
        return closed, until if len(ids) < most else since

    def count_attempts(self, learner: int, people: Mapping[bytes, int]) -> dict[bytes, int]:
        if not people:
            return {}
        t = tables.people
        self.connection.execute(
            self._adding(t, ("learner", "person"), ("attempts",)),
            [{"learner": learner, "person": p, "attempts": k} for p, k in sorted(people.items())],
        )
        totals: dict[bytes, int] = {}
        for some in in_parts(people):
            rows = self.connection.execute(
                select(t.c.person, t.c.attempts).where(t.c.learner == learner, self._among(t.c.person)),
                {"ids": self._ids(some)},
            )
            totals |= {bytes(person): attempts for person, attempts in rows}
        return totals

    def queue_feedback(self, learner: int, feedback: Mapping[bytes, bytes]) -> None:
        if feedback:
            rows = [{"decision": k, "learner": learner, "payload": p} for k, p in sorted(feedback.items())]
            self.connection.execute(insert(tables.feedback), rows)

    def start_update(self, learner: int, *, wait: bool = False, most: int = 10_000) -> StateUpdate | None:
        if not self._lock_updates(learner, wait):
            return None
        generation, state = self.state(learner)
        f, d = tables.feedback, tables.decisions
        rows = self.connection.execute(
            select(f.c.decision, d.c.draw, f.c.payload)
            .join_from(f, d, f.c.decision == d.c.id)
            .where(f.c.learner == learner)
            .limit(most)
        )
        queued = [QueuedReport(bytes(key), bytes(draw), bytes(payload)) for key, draw, payload in rows]
        return SqlStateUpdate(self, learner, generation, state, queued)

    def resume(self, learner: int, generation: int, state: bytes) -> StateUpdate:
        return SqlStateUpdate(self, learner, generation, state, [])

    def add_counts(self, learner: int, minute: int, counts: Counts) -> None:
        self.connection.execute(
            self._adding(tables.minutes, ("learner", "start", "writer"), COUNTED),
            {"learner": learner, "start": minute, "writer": self._writer, **dataclasses.asdict(counts)},
        )

    def compact(self, learner: int, before: int, *, open_too: bool = False, most: int = 10_000) -> int:
        t, f = tables.decisions, tables.feedback
        old = select(t.c.id).where(t.c.learner == learner, t.c.asked_at < before).order_by(t.c.asked_at)
        if not open_too:
            # A queued report needs its decision's draw.
            looked = old.add_columns(t.c.closed_at).limit(_LOOKS * most).subquery()
            waits = select(f.c.decision).where(f.c.decision == looked.c.id).exists()
            old = select(looked.c.id).where(looked.c.closed_at.is_not(None), ~waits)
        gone = [bytes(key) for key in self.connection.execute(old.limit(most)).scalars()]
        for some in in_parts(gone):
            self.connection.execute(delete(t).where(self._among(t.c.id)), {"ids": self._ids(some)})
        return len(gone)

    def forget_people(self, learner: int, *, most: int = 10_000) -> int:
        t = tables.people
        some = select(t.c.person).where(t.c.learner == learner).limit(most)
        gone = delete(t).where(t.c.learner == learner, t.c.person.in_(some.scalar_subquery()))
        return self.connection.execute(gone).rowcount

    def merge_minutes(self, learner: int, before: int, length: int, *, most: int = 2_000) -> int:
        t = tables.minutes
        loose = (t.c.learner == learner) & (t.c.start < before - before % length)
        loose &= (t.c.start % length != 0) | (t.c.writer != "")
        some = select(t.c.start, t.c.writer).where(loose).order_by(t.c.start, t.c.writer).limit(most)
        rows = self.connection.execute(
            delete(t)
            .where(t.c.learner == learner, tuple_(t.c.start, t.c.writer).in_(some))
            .returning(t.c.start, *(t.c[name] for name in COUNTED))
        ).all()
        sums: dict[int, list[int]] = collections.defaultdict(lambda: [0] * len(COUNTED))
        for start, *counts in rows:
            total = sums[start - start % length]
            total[:] = map(operator.add, total, counts)
        merged = [
            {"learner": learner, "start": start, "writer": "", **dict(zip(COUNTED, total, strict=True))}
            for start, total in sorted(sums.items())
        ]
        if merged:
            self.connection.execute(self._adding(t, ("learner", "start", "writer"), COUNTED), merged)
        return len(rows)

    def keys(self, digests: Iterable[bytes] | None = None) -> list[KeyRecord]:
        assert digests is None
        return self._keys(KEYS.with_for_update())  # locked until the transaction ends

    def add_key(self, key: KeyRecord) -> None:
        values = dataclasses.asdict(key)
        values["learners"] = None if key.learners is None else json.dumps(key.learners)
        try:
            self.connection.execute(insert(tables.keys).values(**values, revoked=False))
        except IntegrityError:
            raise AlreadyExists("This API key already exists.") from None

    def revoke_key(self, digest: bytes) -> bool:
        t = tables.keys
        done = self.connection.execute(
            update(t).where(t.c.digest == digest, t.c.revoked.is_(False)).values(revoked=True)
        )
        return done.rowcount == 1

    def let_key_expire(self, digest: bytes, at: int) -> None:
        t = tables.keys
        self.connection.execute(update(t).where(t.c.digest == digest).values(expires_at=at))

    def note_use(self, digests: Iterable[bytes], at: int) -> None:
        t = tables.keys
        earlier = t.c.used_at.is_(None) | (t.c.used_at < at)
        self.connection.execute(update(t).where(t.c.digest.in_(digests), earlier).values(used_at=at))

    def add_audit(self, record: AuditRecord) -> None:
        values = dataclasses.asdict(record) | {"details": json.dumps(record.details)}
        del values["id"]  # the database gives it
        self.connection.execute(insert(tables.audit).values(**values))


class SqlStateUpdate(StateUpdate):
    """An update in the transaction that started it."""

    def __init__(
        self, writing: SqlWriting, learner: int, generation: int, state: bytes, queued: list[QueuedReport]
    ) -> None:
        self._writing = writing
        self.learner = learner
        self.generation = generation
        self.state = state
        self.queued = queued

    def put(self, state: bytes) -> None:
        done = self._writing.connection.execute(
            _NEXT_STATE,
            {"of": self.learner, "from": self.generation, "to": self.generation + 1, "new": state},
        )
        if done.rowcount != 1:
            raise Conflict("Another process updated this learner first; nothing was changed.")
        self.generation += 1
        self.state = state
        self.drop_queued()

    def drop_queued(self) -> None:
        f, writing = tables.feedback, self._writing
        for some in in_parts(report.decision_id for report in self.queued):
            statement = delete(f).where(writing._among(f.c.decision))
            writing.connection.execute(statement, {"ids": writing._ids(some)})
        self.queued = []
