"""Read access to a store: the same statements for SQLite and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, exists, func, select, text
from sqlalchemy.dialects import postgresql

from discreet.errors import UnknownName
from discreet.storage.records import (
    COUNTED,
    Counts,
    DecisionRecord,
    Head,
    How,
    KeyRecord,
    LearnerRecord,
    Loss,
    Moment,
    PhaseRecord,
    PopulationRecord,
    Status,
)
from discreet.storage.tables import (
    counts,
    decisions,
    feedback,
    history,
    keys,
    learners,
    meta,
    people,
    phases,
    populations,
    sums,
)

#: Rows that are passed with one statement; SQLite takes 32,766 parameters.
_AT_ONCE = 4_000

#: Milliseconds that a decision may be stored after its time.
LATE = 10_000

_POSTGRES = postgresql.dialect()  # type: ignore[no-untyped-call]

_SUMS = [func.coalesce(func.sum(counts.c[name]), 0).label(name) for name in COUNTED]
_AMONG = learners.c.id.in_(bindparam("ids", expanding=True))
HEADS = select(learners.c.id, *(learners.c[name] for name in Head._fields)).where(_AMONG)
_LEARNERS = select(*(column for column in learners.c if column.name != "state")).order_by(
    learners.c.name, learners.c.epoch
)
_LATER = learners.alias("later")
_IS_LATEST = ~exists().where(_LATER.c.name == learners.c.name, _LATER.c.epoch > learners.c.epoch)
_ACTIVE = learners.c.status == Status.ACTIVE.value
_APPLIED = (
    select(func.coalesce(func.sum(sums.c.applied), 0))
    .where(sums.c.learner == learners.c.id)
    .scalar_subquery()
)
_STATES = select(learners.c.id, learners.c.generation, learners.c.state, _APPLIED).where(_AMONG)
_PROGRESS = select(learners.c.id, learners.c.generation, _APPLIED).where(_AMONG)
PHASE = [phases.c[name] for name in PhaseRecord._fields]
_MOMENT = [history.c[name] for name in Moment._fields]


class Reading:
    """All calls see one consistent state: everything committed before the first of them.

    In `Store.writing` each call sees what was committed before it.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._sqlite = connection.dialect.name == "sqlite"

    def _given(
        self, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]], statement: str, *more: Any
    ) -> tuple[list[Any], int]:
        """Run a statement that refers to rows which are passed with it, as the table `{given}`.

        Many rows take one statement; it goes to the driver directly, since each call takes longer than its
        work.

        Args:
            table: Has the types of the columns.
            columns: Of the rows.
            rows: Their values.
            statement: Names them.
            more: Its other parameters, after the rows.

        Returns:
            The rows that were returned, and the number of rows that were changed.
        """
        listed = list(rows)
        names, found, count = ", ".join(columns), list[Any](), 0
        for some in (listed[k : k + _AT_ONCE] for k in range(0, len(listed), _AT_ONCE)):
            parameters: tuple[Any, ...]
            if self._sqlite:
                values = ", ".join([f"({', '.join('?' * len(columns))})"] * len(some))
                renamed = ", ".join(f"column{k} AS {name}" for k, name in enumerate(columns, 1))
                source = f"(SELECT {renamed} FROM (VALUES {values})) AS given"
                parameters = tuple(value for row in some for value in row)
            else:
                types = (table.c[name].type.compile(_POSTGRES) for name in columns)
                source = f"unnest({', '.join(f'%s::{kind}[]' for kind in types)}) AS given ({names})"
                parameters = tuple(map(list, zip(*some, strict=True)))
                statement = statement.replace("?", "%s")
            done = self.connection.exec_driver_sql(statement.format(given=source), (*parameters, *more))
            if done.returns_rows:
                found += done.all()
            else:
                count += done.rowcount
        return found, count

    def meta(self, key: str) -> str | None:
        """A fact about the whole store."""
        found: str | None = self.connection.scalar(select(meta.c.value).where(meta.c.key == key))
        return found

    # Learners

    def learners(self, ids: Iterable[int] | None = None) -> list[LearnerRecord]:
        """All learners, or those with these ids, by name and epoch."""
        return self._learners(_LEARNERS if ids is None else _LEARNERS.where(learners.c.id.in_(ids)))

    def _learners(self, statement: Select[Any]) -> list[LearnerRecord]:
        rows = self.connection.execute(statement).mappings()
        return [
            LearnerRecord(**row | {"settings": json.loads(row["settings"]), "status": Status(row["status"])})
            for row in map(dict, rows)
        ]

    def latest(
        self,
        *,
        names: Iterable[str] | None = None,
        search: str = "",
        after: str = "",
        most: int | None = None,
    ) -> list[LearnerRecord]:
        """The latest epoch of each learner, by name.

        Args:
            names: Only these.
            search: Only names that contain this, in capitals or not.
            after: Only names after this one.
            most: Only the first ones.
        """
        wanted = _LEARNERS.where(_IS_LATEST, learners.c.name > after).limit(most)
        if names is not None:
            wanted = wanted.where(learners.c.name.in_(names))
        if search:
            wanted = wanted.where(learners.c.name.icontains(search, autoescape=True))
        return self._learners(wanted)

    def ended(self) -> list[str]:
        """The lineages of all epochs that are not active."""
        return list(self.connection.scalars(select(learners.c.lineage).where(~_ACTIVE)))

    def heads(self, ids: Iterable[int]) -> dict[int, Head]:
        """What a cache is checked against."""
        return self._heads(HEADS, ids)

    def _heads(self, statement: Select[Any], ids: Iterable[int]) -> dict[int, Head]:
        rows = self.connection.execute(statement, {"ids": list(ids)})
        return {learner: Head(Status(status), *others) for learner, status, *others in rows}

    def state(self, learner: int) -> tuple[int, bytes]:
        """The latest generation and its state."""
        found = self.states([learner])
        if learner not in found:
            raise UnknownName(f"No learner has the id {learner}.")
        return found[learner][:2]

    def states(self, ids: Iterable[int]) -> dict[int, tuple[int, bytes, int]]:
        """The same for several learners, and how many reports are in open sums."""
        rows = self.connection.execute(_STATES, {"ids": list(ids)})
        return {learner: (generation, state, int(applied)) for learner, generation, state, applied in rows}

    def progress(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Generations, and how many reports are in open sums: each update changes one of them at least."""
        rows = self.connection.execute(_PROGRESS, {"ids": list(ids)})
        return {learner: (generation, int(applied)) for learner, generation, applied in rows}

    def due(self, now: int) -> list[int]:
        """The ids of active learners that may have decisions past their deadline."""
        d, before = decisions.c, now - 1000 * learners.c.deadline
        since = (func.min if self._sqlite else func.least)(learners.c.swept, before - LATE)
        asked = exists().where(d.learner == learners.c.id, d.asked_at >= since, d.asked_at < before)
        return list(self.connection.scalars(select(learners.c.id).where(_ACTIVE, asked)))

    def to_compact(self, now: int, kept: int) -> list[int]:
        """The ids of learners that have something to forget.

        Args:
            now: Milliseconds.
            kept: Milliseconds that decisions are kept after their deadline.
        """
        d, mine = decisions.c, learners.c.id
        old = exists().where(d.learner == mine, d.asked_at < now - kept - 1000 * learners.c.deadline)
        has_people = exists().where(people.c.learner == mine)
        return list(self.connection.scalars(select(mine).where(old | (~_ACTIVE & has_people))))

    # Decisions and feedback

    def decisions(self, ids: Iterable[bytes]) -> dict[bytes, DecisionRecord]:
        """The decisions that are stored, open or closed."""
        wanted = f"SELECT {', '.join(DecisionRecord._fields)} FROM {{given}} JOIN decisions USING (id)"
        found, _ = self._given(decisions, ["id"], ((each,) for each in set(ids)), wanted)
        records = (DecisionRecord(*row) for row in found)
        return {each.id: each._replace(how=None if each.how is None else How(each.how)) for each in records}

    def subsets(self, learner: int) -> list[bytes]:
        """The sets of all decisions that are remembered, each once."""
        wanted = select(decisions.c.subset).distinct().where(decisions.c.learner == learner)
        return list(self.connection.scalars(wanted))

    def queued(self) -> dict[int, int]:
        """How many reports are queued, by learner; learners with none are left out."""
        wanted = select(feedback.c.learner, func.count()).group_by(feedback.c.learner)
        return {row[0]: row[1] for row in self.connection.execute(wanted)}

    # Phases and what was released

    def phases(self, learner: int, numbers: Iterable[int]) -> dict[int, PhaseRecord]:
        """Phases by number; those that are closed may be gone."""
        wanted = select(*PHASE).where(phases.c.learner == learner, phases.c.number.in_(list(numbers)))
        return {row[0]: PhaseRecord(*row) for row in self.connection.execute(wanted)}

    def open_phases(self, learner: int) -> list[PhaseRecord]:
        """The phases that are not closed, in order."""
        wanted = select(*PHASE).where(phases.c.learner == learner, phases.c.total > 0)
        return [PhaseRecord(*row) for row in self.connection.execute(wanted.order_by(phases.c.number))]

    def sums(self, learner: int, numbers: Iterable[int] | None = None) -> dict[int, tuple[int, bytes]]:
        """Of open phases with reports, all or some, how many these are, and their sums."""
        wanted = select(sums.c.phase, sums.c.applied, sums.c.sums).where(sums.c.learner == learner)
        if numbers is not None:
            wanted = wanted.where(sums.c.phase.in_(list(numbers)))
        return {phase: (applied, data) for phase, applied, data in self.connection.execute(wanted)}

    def applied(self, learner: int) -> int:
        """How many reports are in the sums of open phases."""
        wanted = select(func.sum(sums.c.applied)).where(sums.c.learner == learner)
        return int(self.connection.scalar(wanted) or 0)

    def complete_phases(self) -> list[tuple[int, int, int]]:
        """Learner, number and time of the last round of all phases whose reports are all there.

        By learner, and then by time.
        """
        p = phases.c
        rows = self.connection.execute(
            select(p.learner, p.number, p.last_at)
            .join_from(sums, phases, (sums.c.learner == p.learner) & (sums.c.phase == p.number))
            .where(sums.c.applied >= p.total)
            .order_by(p.learner, p.last_at, p.number)
        )
        return [(learner, number, last_at) for learner, number, last_at in rows]

    def due_phases(self, now: int) -> list[int]:
        """The ids of active learners with open phases whose last deadline has passed."""
        wanted = select(phases.c.learner).distinct().where(_dealt_by(now), _ACTIVE)
        return list(self.connection.scalars(wanted))

    def history(self, learner: int, since: int = 0) -> list[Moment]:
        """What a learner had released over time, in order, since a time."""
        mine = (history.c.learner == learner) & (history.c.at >= since)
        wanted = select(*_MOMENT).where(mine).order_by(history.c.at)
        return [Moment(*row) for row in self.connection.execute(wanted)]

    # Counts

    def counts(self, learner: int) -> Counts:
        """Counts in total."""
        return self.totals([learner]).get(learner, Counts())

    def totals(self, ids: Iterable[int]) -> dict[int, Counts]:
        """The same for several learners; those without any are left out."""
        wanted = select(counts.c.learner, *_SUMS).where(counts.c.learner.in_(ids))
        rows = self.connection.execute(wanted.group_by(counts.c.learner))
        return {learner: Counts(*map(int, numbers)) for learner, *numbers in rows}

    def pending(self) -> int:
        """How many decisions of active learners are open."""
        still_open = func.sum(counts.c.asked - counts.c.told - counts.c.expired)
        wanted = select(still_open).join_from(counts, learners, counts.c.learner == learners.c.id)
        return int(self.connection.scalar(wanted.where(_ACTIVE)) or 0)

    def size(self) -> int:
        """Bytes of the database."""
        pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        whole = pages if self._sqlite else "SELECT pg_database_size(current_database())"
        return int(self.connection.scalar(text(whole)) or 0)

    # Populations and keys

    def populations(self, name: str | None = None) -> list[PopulationRecord]:
        """All populations, or the one with a name, by name."""
        wanted = select(populations).order_by(populations.c.name)
        rows = self.connection.execute(wanted if name is None else wanted.where(populations.c.name == name))
        return [PopulationRecord(*row) for row in rows]

    def losses(self, population: str) -> list[Loss]:
        """The privacy losses of the learners on a population, by name and epoch."""
        t = learners.c
        mine = _LEARNERS.with_only_columns(t.name, t.epoch, t.epsilon, t.settings)
        found = []
        for name, epoch, epsilon, settings in self.connection.execute(mine.where(t.population == population)):
            delta = json.loads(settings).get("arguments", {}).get("delta", 0.0)
            found.append(Loss(name, epoch, epsilon, delta))
        return found

    def keys(self, digests: Iterable[bytes] | None = None, *, locked: bool = False) -> list[KeyRecord]:
        """All API keys that have not been revoked, or those with these digests, oldest first.

        Args:
            digests: Of which.
            locked: In a transaction that writes: whether nobody else changes them until it ends.
        """
        columns = [column for column in keys.c if column.name != "revoked"]
        wanted = select(*columns).where(keys.c.revoked.is_(False)).order_by(keys.c.created_at)
        if digests is not None:
            wanted = wanted.where(keys.c.digest.in_(digests))
        rows = self.connection.execute(wanted.with_for_update() if locked else wanted).mappings()
        return [
            KeyRecord(**row | {"learners": row["learners"] and tuple(json.loads(row["learners"]))})
            for row in map(dict, rows)
        ]


def _dealt_by(now: int) -> ColumnElement[bool]:
    """Whether all rounds of an open phase were dealt, and the deadline of the last one has passed."""
    p, past = phases.c, phases.c.last_at + 1000 * learners.c.deadline <= now
    return (p.learner == learners.c.id) & (p.total > 0) & (p.dealt >= p.total) & past
