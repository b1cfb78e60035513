"""Phases, their sums, and the history of what was released, in an SQL store."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from discreet.errors import Conflict
from discreet.storage import tables
from discreet.storage.records import Moment, PhaseRecord, Status

_P, _S, _H = tables.phases, tables.sums, tables.history
_PHASE = select(_P.c.number, _P.c.plan, _P.c.total, _P.c.dealt, _P.c.last_at)
_MINUTE = 60_000


def _record(row: Any) -> PhaseRecord:
    number, plan, total, dealt, last_at = row
    return PhaseRecord(number, bytes(plan), total, dealt, last_at)


class ReadingPhases:
    """Reads through a connection."""

    connection: Connection

    def phases(self, learner: int, numbers: Iterable[int]) -> dict[int, PhaseRecord]:
        rows = self.connection.execute(_PHASE.where(_P.c.learner == learner, _P.c.number.in_(list(numbers))))
        return {row[0]: _record(row) for row in rows}

    def sums(self, learner: int, numbers: Iterable[int] | None = None) -> dict[int, tuple[int, bytes]]:
        wanted = select(_S.c.phase, _S.c.applied, _S.c.sums).where(_S.c.learner == learner)
        if numbers is not None:
            wanted = wanted.where(_S.c.phase.in_(list(numbers)))
        rows = self.connection.execute(wanted)
        return {phase: (applied, bytes(sums)) for phase, applied, sums in rows}

    def complete_phases(self) -> list[tuple[int, int, int]]:
        rows = self.connection.execute(
            select(_P.c.learner, _P.c.number, _P.c.last_at)
            .join_from(_S, _P, (_S.c.learner == _P.c.learner) & (_S.c.phase == _P.c.number))
            .where(_S.c.applied >= _P.c.total)
            .order_by(_P.c.learner, _P.c.last_at, _P.c.number)
        )
        return [(learner, number, last_at) for learner, number, last_at in rows]

    def applied(self, learner: int) -> int:
        found = select(func.coalesce(func.sum(_S.c.applied), 0)).where(_S.c.learner == learner)
        return int(self.connection.scalar(found) or 0)

    def due_phases(self, now: int) -> list[int]:
        learners = tables.learners.c
        due = (_P.c.total > 0) & (_P.c.dealt >= _P.c.total) & (_P.c.last_at + 1000 * learners.deadline <= now)
        wanted = select(_P.c.learner).distinct().join_from(_P, tables.learners, _P.c.learner == learners.id)
        return list(self.connection.scalars(wanted.where(due, learners.status == Status.ACTIVE.value)))

    def history(self, learner: int) -> list[Moment]:
        columns = [_H.c[field.name] for field in dataclasses.fields(Moment)]
        found = self.connection.execute(select(*columns).where(_H.c.learner == learner).order_by(_H.c.at))
        rows = [dict(row) for row in found.mappings()]
        return [Moment(**row | {"point": bytes(row["point"])}) for row in rows]


class WritingPhases(ReadingPhases):
    """Writes in a transaction."""

    @staticmethod
    def _insert(table: Any) -> Any:
        raise AssertionError("backends override it")

    def current_phase(self, learner: int) -> PhaseRecord | None:
        unfinished = _PHASE.where(_P.c.learner == learner, _P.c.dealt < _P.c.total).order_by(_P.c.number)
        row = self.connection.execute(unfinished.limit(1).with_for_update()).one_or_none()
        return None if row is None else _record(row)

    def add_phase(self, learner: int, plan: bytes, total: int, dealt: int, at: int) -> int:
        latest = self.connection.scalar(select(func.max(_P.c.number)).where(_P.c.learner == learner))
        number = 0 if latest is None else int(latest) + 1
        row = {"learner": learner, "number": number, "plan": plan}
        try:
            self.connection.execute(insert(_P), row | {"total": total, "dealt": dealt, "last_at": at})
        except IntegrityError:
            raise Conflict("Another process planned a phase just now; nothing was changed.") from None
        return number

    def deal(self, learner: int, number: int, dealt: int, at: int) -> None:
        self.connection.execute(
            update(_P).where(_P.c.learner == learner, _P.c.number == number).values(dealt=dealt, last_at=at)
        )

    def put_sums(self, learner: int, number: int, applied: int, sums: bytes) -> None:
        statement = self._insert(_S).values(learner=learner, phase=number, applied=applied, sums=sums)
        self.connection.execute(
            statement.on_conflict_do_update(
                index_elements=[_S.c.learner, _S.c.phase],
                set_={"applied": statement.excluded.applied, "sums": statement.excluded.sums},
            )
        )

    def drop_phases(self, learner: int, numbers: Iterable[int] | None = None) -> None:
        phases, sums = delete(_P).where(_P.c.learner == learner), delete(_S).where(_S.c.learner == learner)
        if numbers is not None:
            closed = list(numbers)
            sums = sums.where(_S.c.phase.in_(closed))
            emptied = update(_P).where(_P.c.learner == learner, _P.c.number.in_(closed))
            self.connection.execute(emptied.values(plan=b"", total=0, dealt=0))
            # The row of the latest phase stays: the next one is counted from it.
            latest = select(func.max(_P.c.number)).where(_P.c.learner == learner).scalar_subquery()
            phases = phases.where(_P.c.total == 0, _P.c.number < latest)
        self.connection.execute(sums)
        self.connection.execute(phases)

    def add_moment(self, learner: int, moment: Moment) -> None:
        values = dataclasses.asdict(moment) | {"learner": learner, "at": moment.at - moment.at % _MINUTE}
        statement = self._insert(_H).values(**values)
        latest = {name: statement.excluded[name] for name in values if name not in ("learner", "at")}
        self.connection.execute(
            statement.on_conflict_do_update(index_elements=[_H.c.learner, _H.c.at], set_=latest)
        )

    def merge_history(self, learner: int, before: int, length: int) -> None:
        later, end = _H.alias(), before - before % length
        same_span = (later.c.at - later.c.at % length) == (_H.c.at - _H.c.at % length)
        kept = select(later.c.at).where(later.c.learner == _H.c.learner, later.c.at > _H.c.at, same_span)
        self.connection.execute(delete(_H).where(_H.c.learner == learner, _H.c.at < end, kept.exists()))
