"""Writing to a store that speaks SQL. What differs between backends is in a few overridden methods."""

from __future__ import annotations

import dataclasses
import functools
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from discreet.errors import AlreadyExists, Conflict
from discreet.storage import tables
from discreet.storage.base import Fold, Writing
from discreet.storage.records import (
    Counts,
    DecisionRecord,
    How,
    KeyRecord,
    NewLearner,
    PopulationRecord,
    Status,
    Waiting,
)
from discreet.storage.sql_reading import COUNTED, HEADS, KEYS, SqlReading, in_parts

_NEXT_STATE = (
    update(tables.learners)
    .where(tables.learners.c.id == bindparam("of"), tables.learners.c.generation == bindparam("from"))
    .values(generation=bindparam("to"), state=bindparam("new"))
)
#: Weaker than the lock of an UPDATE, so that folding need not wait for those who hold; and as strong.
_HELD = HEADS.order_by(tables.learners.c.id).with_for_update(read=True, key_share=True)
_HELD_TO_END = HEADS.order_by(tables.learners.c.id).with_for_update()


class SqlWriting(SqlReading, Writing):
    """One transaction on one connection.

    Args:
        connection: In a transaction that its owner commits.
        writer: The name of this process among those that write.
    """

    def __init__(self, connection: Connection, writer: str) -> None:
        super().__init__(connection)
        self._writer = writer

    @staticmethod
    @abstractmethod
    def _insert(table: Any) -> Any:
        """The backend's INSERT, which knows ON CONFLICT."""

    @abstractmethod
    def _alone(self, learner: int, wait: bool) -> bool:
        """Become the only one who folds a learner until the transaction ends."""

    # Statements that every decision needs are built once: building them takes longer than running them.

    @classmethod
    @functools.cache
    def _adding_decisions(cls) -> Any:
        return cls._insert(tables.decisions).on_conflict_do_nothing()

    @classmethod
    @functools.cache
    def _adding(cls, table: Table, keys: tuple[str, ...], counted: tuple[str, ...]) -> Any:
        """Add to the numbers of a row, or make the row."""
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
        self._connection.execute(self._insert(t).values(key=key, value=value).on_conflict_do_nothing())
        return str(self._connection.execute(select(t.c.value).where(t.c.key == key)).scalar_one())

    def add_population(self, population: PopulationRecord) -> None:
        t = tables.populations
        statement = self._insert(t).values(name=population.name, epsilon_limit=population.limit)
        self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[t.c.name], set_={"epsilon_limit": statement.excluded.epsilon_limit}
            )
        )

    def lock_population(self, name: str) -> PopulationRecord | None:
        t = tables.populations
        row = self._connection.execute(
            select(t.c.name, t.c.epsilon_limit).where(t.c.name == name).with_for_update()
        ).one_or_none()
        return None if row is None else PopulationRecord(*row)

    def add_learner(self, learner: NewLearner) -> int:
        values = dataclasses.asdict(learner)
        values |= {"settings": json.dumps(learner.settings), "status": Status.ACTIVE.value, "generation": 0}
        statement = self._insert(tables.learners).values(**values).on_conflict_do_nothing()
        added = self._connection.execute(statement.returning(tables.learners.c.id)).scalar_one_or_none()
        if added is None:
            raise AlreadyExists(f"There is a learner called {learner.name!r} already.")
        return int(added)

    def hold(self, learners: Iterable[int], *, to_end: bool = False) -> dict[int, tuple[Status, int]]:
        return self._heads(_HELD_TO_END if to_end else _HELD, learners)

    def set_status(self, learner: int, status: Status) -> None:
        t = tables.learners
        self._connection.execute(update(t).where(t.c.id == learner).values(status=status.value))

    def drop_waiting(self, learner: int) -> int:
        t = tables.feedback
        return self._connection.execute(delete(t).where(t.c.learner == learner)).rowcount

    def add_decisions(self, decisions: Sequence[DecisionRecord]) -> int:
        if not decisions:
            return 0
        rows = [
            {"id": d.id, "learner": d.learner, "draw": d.draw, "subset": d.subset, "asked_at": d.asked_at}
            for d in decisions
        ]
        return self._connection.execute(self._adding_decisions(), rows).rowcount

    def add_request(self, learner: int, name: str, ids: Sequence[bytes], at: int) -> list[bytes] | None:
        statement = self._insert(tables.requests).values(
            learner=learner, name=name, decisions=b"".join(ids), asked_at=at
        )
        noted = statement.on_conflict_do_nothing().returning(tables.requests.c.asked_at)
        if self._connection.execute(noted).one_or_none() is not None:
            return None
        return self.request(learner, name)

    def close_decisions(self, learner: int, ids: Iterable[bytes], how: How, at: int) -> dict[bytes, bytes]:
        closed = {}
        for some in in_parts(ids):
            for key, draw in self._connection.execute(
                self._closing(), {"ids": self._ids(some), "of": learner, "as": how.value, "now": at}
            ):
                closed[bytes(key)] = bytes(draw)
        return closed

    def expire(self, learner: int, since: int, before: int, at: int, most: int) -> dict[bytes, bytes]:
        t = tables.decisions
        due = self._connection.execute(
            select(t.c.id)
            .where(t.c.learner == learner, t.c.asked_at >= since, t.c.asked_at < before)
            .where(t.c.closed_at.is_(None))
            .order_by(t.c.asked_at)
            .limit(most)
        ).scalars()
        return self.close_decisions(learner, [bytes(key) for key in due], How.EXPIRED, at)

    def count_attempts(self, learner: int, people: Mapping[bytes, int]) -> dict[bytes, int]:
        if not people:
            return {}
        t = tables.people
        self._connection.execute(
            self._adding(t, ("learner", "person"), ("attempts",)),
            [{"learner": learner, "person": p, "attempts": k} for p, k in sorted(people.items())],
        )
        totals: dict[bytes, int] = {}
        for some in in_parts(people):
            rows = self._connection.execute(
                select(t.c.person, t.c.attempts).where(t.c.learner == learner, self._among(t.c.person)),
                {"ids": self._ids(some)},
            )
            totals |= {bytes(person): attempts for person, attempts in rows}
        return totals

    def add_waiting(self, learner: int, feedback: Mapping[bytes, bytes]) -> None:
        if feedback:
            rows = [{"decision": k, "learner": learner, "payload": p} for k, p in sorted(feedback.items())]
            self._connection.execute(insert(tables.feedback), rows)

    def fold(self, learner: int, *, wait: bool = False, most: int = 10_000) -> Fold | None:
        if not self._alone(learner, wait):
            return None
        generation, state = self.state(learner)
        f, d = tables.feedback, tables.decisions
        rows = self._connection.execute(
            select(f.c.decision, d.c.draw, f.c.payload)
            .join_from(f, d, f.c.decision == d.c.id)
            .where(f.c.learner == learner)
            .limit(most)
        )
        waiting = [Waiting(bytes(key), bytes(draw), bytes(payload)) for key, draw, payload in rows]
        return SqlFold(self, learner, generation, state, waiting)

    def resume(self, learner: int, generation: int, state: bytes) -> Fold:
        return SqlFold(self, learner, generation, state, [])

    def add_counts(self, learner: int, minute: int, counts: Counts) -> None:
        self._connection.execute(
            self._adding(tables.minutes, ("learner", "start", "writer"), COUNTED),
            {"learner": learner, "start": minute, "writer": self._writer, **dataclasses.asdict(counts)},
        )

    def compact(self, learner: int, before: int, *, open_too: bool = False, most: int = 10_000) -> int:
        t, r, f = tables.decisions, tables.requests, tables.feedback
        old = select(t.c.id).where(t.c.learner == learner, t.c.asked_at < before)
        if not open_too:
            # What waits to be folded in needs its draw.
            old = old.where(t.c.closed_at.is_not(None), t.c.id.not_in(select(f.c.decision)))
        gone = [
            bytes(key) for key in self._connection.execute(old.order_by(t.c.asked_at).limit(most)).scalars()
        ]
        for some in in_parts(gone):
            self._connection.execute(delete(t).where(self._among(t.c.id)), {"ids": self._ids(some)})
        self._connection.execute(delete(r).where(r.c.learner == learner, r.c.asked_at < before))
        return len(gone)

    def forget_people(self, learner: int, *, most: int = 10_000) -> int:
        t = tables.people
        some = select(t.c.person).where(t.c.learner == learner).limit(most)
        gone = delete(t).where(t.c.learner == learner, t.c.person.in_(some.scalar_subquery()))
        return self._connection.execute(gone).rowcount

    def merge_minutes(self, before: int, length: int) -> None:
        t = tables.minutes
        end = before - before % length
        loose = (t.c.start < end) & ((t.c.start % length != 0) | (t.c.writer != ""))
        rows = self._connection.execute(
            delete(t).where(loose).returning(t.c.learner, t.c.start, *(t.c[name] for name in COUNTED))
        )
        sums: dict[tuple[int, int], list[int]] = {}
        for learner, start, *counted in rows:
            total = sums.setdefault((learner, start - start % length), [0] * len(COUNTED))
            for k, number in enumerate(counted):
                total[k] += number
        keep, self._writer = self._writer, ""
        for (learner, start), total in sorted(sums.items()):
            self.add_counts(learner, start, Counts(*total))
        self._writer = keep

    def keys(self) -> list[KeyRecord]:
        return self._keys(KEYS.with_for_update())  # what is decided by them holds until the transaction ends

    def add_key(self, key: KeyRecord) -> None:
        try:
            self._connection.execute(insert(tables.keys).values(**dataclasses.asdict(key), revoked=False))
        except IntegrityError:
            raise AlreadyExists("This bearer key is known already.") from None

    def revoke_key(self, digest: bytes) -> bool:
        t = tables.keys
        done = self._connection.execute(
            update(t).where(t.c.digest == digest, t.c.revoked.is_(False)).values(revoked=True)
        )
        return done.rowcount == 1


class SqlFold(Fold):
    """A fold in the transaction that it was begun in."""

    def __init__(
        self, writing: SqlWriting, learner: int, generation: int, state: bytes, waiting: list[Waiting]
    ) -> None:
        self._writing = writing
        self.learner = learner
        self.generation = generation
        self.state = state
        self.waiting = waiting

    def put(self, state: bytes) -> None:
        f = tables.feedback
        connection = self._writing._connection
        done = connection.execute(
            _NEXT_STATE,
            {"of": self.learner, "from": self.generation, "to": self.generation + 1, "new": state},
        )
        if done.rowcount != 1:
            raise Conflict("Somebody else folded this learner first; nothing was changed.")
        for some in in_parts(waiting.decision for waiting in self.waiting):
            connection.execute(
                delete(f).where(self._writing._among(f.c.decision)), {"ids": self._writing._ids(some)}
            )
        self.generation += 1
        self.state = state
        self.waiting = []
