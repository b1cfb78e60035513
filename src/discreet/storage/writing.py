"""Write access to a store: one durable transaction, with the same statements for SQLite and PostgreSQL."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from discreet.errors import AlreadyExists, Conflict
from discreet.storage.reading import HEADS, LATE, PHASE, Reading
from discreet.storage.records import (
    COUNTED,
    Counts,
    DecisionRecord,
    Head,
    How,
    KeyRecord,
    LearnerRecord,
    Moment,
    PhaseRecord,
    PopulationRecord,
    QueuedReport,
    StateUpdate,
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

#: Rows that are looked at, as a multiple of those that are closed or deleted.
_LOOKS = 10
_MINUTE = 60_000
#: The first key of the advisory locks of PostgreSQL by which one process at a time updates a learner.
_UPDATING = 0x64697363
#: A shared lock that does not block an UPDATE of the state, and an exclusive one.
_HELD = HEADS.order_by(learners.c.id).with_for_update(read=True, key_share=True)
_HELD_ALONE = HEADS.order_by(learners.c.id).with_for_update()
_CLOSE = """
WITH mine AS (SELECT given.id, given.learner FROM {given})
UPDATE decisions SET closed_at = ?, how = ? FROM mine
WHERE decisions.id = mine.id AND +decisions.learner = mine.learner AND decisions.closed_at IS NULL
RETURNING decisions.id, decisions.learner, decisions.draw
"""
#: Locked in the order of ids, so that two processes with the same decisions never deadlock.
_CLOSE_LOCKED = _CLOSE.replace(
    "{given})",
    "{given} JOIN decisions d ON d.id = given.id AND d.learner = given.learner "
    "WHERE d.closed_at IS NULL ORDER BY d.id FOR UPDATE OF d)",
)


class Writing(Reading):
    """One transaction on one connection, which the store commits.

    Args:
        connection: See there.
        writer: Names this process in the rows of counts it writes.
    """

    def __init__(self, connection: Connection, writer: str) -> None:
        super().__init__(connection)
        self._writer = writer
        self._insert: Callable[[Table], Any] = (sqlite if self._sqlite else postgresql).insert

    def _add(
        self, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]], conflict: str = ""
    ) -> tuple[list[Any], int]:
        """Insert rows; what happens to those that are there may be said."""
        names = ", ".join(columns)
        added = f"INSERT INTO {table.name} ({names}) SELECT * FROM {{given}} WHERE true {conflict}"
        return self._given(table, columns, rows, added)

    def _put(self, table: Table, **values: Any) -> None:
        """Insert a row, or replace the one that has its key."""
        statement, key = self._insert(table).values(**values), [column.name for column in table.primary_key]
        others = {name: statement.excluded[name] for name in values if name not in key}
        self.connection.execute(statement.on_conflict_do_update(index_elements=key, set_=others))

    def _is_new(self, table: Table, **values: Any) -> bool:
        """Insert a row, unless there is one that has its key."""
        statement = self._insert(table).values(**values).on_conflict_do_nothing()
        kept = {"preserve_rowcount": True}  # which is not a matter of course for an INSERT
        return self.connection.execute(statement, execution_options=kept).rowcount == 1

    def note_once(self, key: str, value: str) -> str:
        """Store a fact unless there is one; return the stored value."""
        return value if self._is_new(meta, key=key, value=value) else self.meta(key) or value

    def note(self, key: str, value: str) -> None:
        """Store a fact, in place of an earlier one."""
        self._put(meta, key=key, value=value)

    # Learners

    def add_learner(self, learner: LearnerRecord, state: bytes) -> int:
        """Add a learner with its first state, perhaps sealed, and return its id; raises `AlreadyExists`."""
        values = dataclasses.asdict(learner) | {"settings": json.dumps(learner.settings), "state": state}
        del values["id"]  # the database gives it
        statement = self._insert(learners).values(**values).on_conflict_do_nothing()
        added: int | None = self.connection.scalar(statement.returning(learners.c.id))
        if added is None:
            raise AlreadyExists(f"A learner named {learner.name!r} already exists.")
        return added

    def hold(self, ids: Iterable[int], *, alone: bool = False) -> dict[int, Head]:
        """Like `heads`; nobody else changes status or settings of these learners until the transaction ends.

        Many transactions may hold a learner at once; `alone` is exclusive. Call it after any `start_update`
        with `wait`, never before, or two processes could deadlock.
        """
        return self._heads(_HELD_ALONE if alone else _HELD, ids)

    def set_status(self, learner: int, status: Status) -> None:
        """Change the status of a learner."""
        self.connection.execute(update(learners).where(learners.c.id == learner).values(status=status.value))

    def put_settings(self, learner: int, settings: Mapping[str, Any]) -> None:
        """Replace the settings of a learner that is held alone: its next revision."""
        mine = update(learners).where(learners.c.id == learner)
        values = {"settings": json.dumps(settings), "revision": learners.c.revision + 1}
        self.connection.execute(mine.values(**values))

    def start_update(self, learner: int, *, wait: bool = False, most: int = 10_000) -> StateUpdate | None:
        """Become the only one to update this learner until the transaction ends; None if somebody else is."""
        return self.start_updates([learner], wait=wait, most=most).get(learner)

    def start_updates(
        self, ids: Iterable[int], *, wait: bool = False, most: int = 10_000
    ) -> dict[int, StateUpdate]:
        """The same for several learners, with `most` queued reports together."""
        mine = sorted(ids)
        if not self._sqlite:  # which has one writer
            lock = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
            locking = f"SELECT given.id, {lock}({_UPDATING}, given.id::int) FROM {{given}}"
            found, _ = self._given(learners, ["id"], ((each,) for each in mine), locking)
            mine = [learner for learner, locked in found if wait or locked]
        queued: dict[int, list[QueuedReport]] = {learner: [] for learner in mine}
        if most and mine:
            wanted = (
                select(feedback.c.learner, feedback.c.decision, decisions.c.draw, feedback.c.payload)
                .join_from(feedback, decisions, feedback.c.decision == decisions.c.id)
                .where(feedback.c.learner.in_(mine))
                .limit(most)
            )
            for learner, *report in self.connection.execute(wanted):
                queued[learner].append(QueuedReport(*report))
        states = self.states(mine) if mine else {}
        return {each: StateUpdate(*stored, queued[each]) for each, stored in states.items()}

    def put_states(self, states: Mapping[int, tuple[int, bytes]]) -> None:
        """Write states of the next generations, given those that they follow; raises `Conflict`.

        Nothing is read: if another process has written one meanwhile, its generation is not the one given.
        """
        following = (
            "UPDATE learners SET generation = learners.generation + 1, state = given.state FROM {given} "
            "WHERE learners.id = given.id AND learners.generation = given.generation"
        )
        rows = ((learner, *state) for learner, state in sorted(states.items()))
        _, done = self._given(learners, ["id", "generation", "state"], rows, following)
        if done != len(states):
            raise Conflict("Another process updated this learner first; nothing was changed.")

    # Decisions and feedback

    def add_decisions(self, made: Iterable[DecisionRecord]) -> int:
        """Store open decisions; return how many were new."""
        rows = (each[:5] for each in (made if self._sqlite else sorted(made)))
        return self._add(decisions, DecisionRecord._fields[:5], rows, "ON CONFLICT DO NOTHING")[1]

    def close_decisions(
        self, ids: Iterable[tuple[bytes, int]], how: How, at: int
    ) -> dict[tuple[bytes, int], bytes]:
        """Close decisions, given with a learner: those that are open and this learner's.

        Returns:
            The draws of these.
        """
        close = _CLOSE if self._sqlite else _CLOSE_LOCKED
        found, _ = self._given(decisions, ["id", "learner"], set(ids), close, at, how.value)
        return {(row[0], row[1]): row[2] for row in found}

    def expire(self, learner: int, before: int, at: int, most: int) -> tuple[dict[bytes, bytes], bool]:
        """Close at most `most` open decisions that were asked before a time.

        Returns:
            Their draws, and whether there may be more. No call looks at more than ten times `most` decisions;
            those that are known to be closed are not looked at again.
        """
        d = decisions.c
        swept = self.connection.scalar(select(learners.c.swept).where(learners.c.id == learner)) or 0
        since = swept if swept < before else before - LATE  # the clock was set back
        asked = (d.learner == learner) & (d.asked_at >= since) & (d.asked_at < before)
        # Most were told about: a look must not go through all that is remembered.
        beyond = select(d.asked_at).where(asked).order_by(d.asked_at).offset(_LOOKS * most).limit(1)
        end = self.connection.scalar(beyond)
        until = before if end is None else max(end, since + 1)
        due = select(d.id).where(asked, d.asked_at < until, d.closed_at.is_(None)).order_by(d.asked_at)
        ids = list(self.connection.scalars(due.limit(most)))
        if len(ids) < most:
            swept = until if until < before else before - LATE
            self.connection.execute(update(learners).where(learners.c.id == learner).values(swept=swept))
        closed = self.close_decisions(((key, learner) for key in ids), How.EXPIRED, at)
        return {key: draw for (key, _), draw in closed.items()}, len(ids) == most or until < before

    def expire_open(self, learner: int, at: int) -> int:
        """Close all open decisions of a learner that takes no feedback on them; return how many."""
        d = decisions.c
        still_open = update(decisions).where(d.learner == learner, d.closed_at.is_(None))
        return self.connection.execute(still_open.values(closed_at=at, how=How.EXPIRED.value)).rowcount

    def look_back(self, ids: Iterable[int], milliseconds: int) -> None:
        """Decisions may have been stored so late, or by a process whose clock is so far behind."""
        swept = learners.c.swept - milliseconds
        self.connection.execute(update(learners).where(learners.c.id.in_(ids)).values(swept=swept))

    def count_attempts(self, people_told: Mapping[tuple[int, bytes], int]) -> dict[tuple[int, bytes], int]:
        """Add to the attempts of people, given by learner and person; return the new totals."""
        add = (
            "ON CONFLICT (learner, person) DO UPDATE SET attempts = people.attempts + excluded.attempts "
            "RETURNING learner, person, attempts"
        )
        rows = ((*key, count) for key, count in sorted(people_told.items()))
        found, _ = self._add(people, ["learner", "person", "attempts"], rows, add)
        return {(learner, person): total for learner, person, total in found}

    def queue_feedback(self, payloads: Iterable[tuple[bytes, int, bytes]]) -> None:
        """Store payloads of closed decisions, given with decision and learner, until they are applied."""
        self._add(feedback, ["decision", "learner", "payload"], sorted(payloads))

    def drop_feedback(self, ids: Iterable[bytes]) -> None:
        """Delete queued reports that were applied."""
        gone = "DELETE FROM feedback WHERE decision IN (SELECT decision FROM {given})"
        self._given(feedback, ["decision"], ((each,) for each in ids), gone)

    def drop_queued(self, learner: int) -> int:
        """Delete the queued reports of a learner that will never apply them."""
        return self.connection.execute(delete(feedback).where(feedback.c.learner == learner)).rowcount

    # Phases and what was released

    def current_phases(self, ids: Iterable[int]) -> dict[int, PhaseRecord]:
        """The first phase of each with rounds to deal. Nobody else deals them until the transaction ends."""
        p = phases.c
        unfinished = p.dealt < p.total
        first = (
            select(p.learner, func.min(p.number)).where(p.learner.in_(ids), unfinished).group_by(p.learner)
        )
        wanted = select(p.learner, *PHASE).where(tuple_(p.learner, p.number).in_(first), unfinished)
        rows = self.connection.execute(wanted.order_by(p.learner).with_for_update())
        return {learner: PhaseRecord(*row) for learner, *row in rows}

    def add_phase(self, learner: int, plan: bytes, total: int, dealt: int, at: int) -> int:
        """Store a phase and return its number, which no other ever had; raises `Conflict` if others do so."""
        latest = self.connection.scalar(select(func.max(phases.c.number)).where(phases.c.learner == learner))
        number = 0 if latest is None else int(latest) + 1
        row = {"learner": learner, "number": number, "plan": plan}
        if not self._is_new(phases, **row, total=total, dealt=dealt, last_at=at):
            raise Conflict("Another process planned a phase just now; nothing was changed.")
        return number

    def deal(self, dealt: Iterable[tuple[int, int, int]], at: int) -> None:
        """So many rounds of phases are dealt: learner, number and rounds of each."""
        put = (
            "UPDATE phases SET dealt = given.dealt, last_at = given.last_at FROM {given} "
            "WHERE phases.learner = given.learner AND phases.number = given.number"
        )
        rows = ((*each, at) for each in sorted(dealt))
        self._given(phases, ["learner", "number", "dealt", "last_at"], rows, put)

    def put_plan(self, learner: int, number: int, plan: bytes) -> None:
        """Replace the plan of a phase: the rounds that are left are dealt in another order."""
        mine = update(phases).where(phases.c.learner == learner, phases.c.number == number)
        self.connection.execute(mine.values(plan=plan))

    def end_dealing(self, learner: int) -> None:
        """Let no more rounds of the open phases of a learner be dealt: they end with those that were."""
        unfinished = update(phases).where(phases.c.learner == learner, phases.c.dealt < phases.c.total)
        self.connection.execute(unfinished.values(total=phases.c.dealt))

    def put_sums(self, learner: int, number: int, applied: int, data: bytes) -> None:
        """Replace the sums of a phase."""
        self._put(sums, learner=learner, phase=number, applied=applied, sums=data)

    def drop_phases(self, learner: int, numbers: Iterable[int] | None = None) -> None:
        """Delete phases and their sums, by default all: they are closed, or will never be released."""
        of_phases, of_sums = phases.c.learner == learner, sums.c.learner == learner
        if numbers is not None:
            closed = list(numbers)
            of_sums &= sums.c.phase.in_(closed)
            emptied = update(phases).where(of_phases, phases.c.number.in_(closed))
            self.connection.execute(emptied.values(plan=b"", total=0, dealt=0))
            # The row of the latest phase stays: the next one is counted from it.
            latest = select(func.max(phases.c.number)).where(of_phases).scalar_subquery()
            of_phases &= (phases.c.total == 0) & (phases.c.number < latest)
        self.connection.execute(delete(sums).where(of_sums))
        self.connection.execute(delete(phases).where(of_phases))

    def add_moment(self, learner: int, moment: Moment) -> None:
        """Add to the history; it has one entry a minute at most, the latest."""
        at = moment.at - moment.at % _MINUTE
        self._put(history, learner=learner, **moment._replace(at=at)._asdict())

    # Counts

    def add_counts(self, added: Mapping[int, Counts]) -> None:
        """Add to the counts of learners."""
        add = ", ".join(f"{name} = counts.{name} + excluded.{name}" for name in COUNTED)
        listed = sorted(
            (learner, self._writer, *(getattr(each, name) for name in COUNTED))
            for learner, each in added.items()
        )
        columns = ["learner", "writer", *COUNTED]
        self._add(counts, columns, listed, f"ON CONFLICT (learner, writer) DO UPDATE SET {add}")

    # Forgetting

    def compact(self, learner: int, before: int, *, open_too: bool = False, most: int = 10_000) -> int:
        """Delete closed decisions asked before a time; return how many decisions."""
        d, f = decisions.c, feedback.c
        old = select(d.id).where(d.learner == learner, d.asked_at < before).order_by(d.asked_at)
        if not open_too:
            # A queued report needs its decision's draw.
            looked = old.add_columns(d.closed_at).limit(_LOOKS * most).subquery()
            waits = select(f.decision).where(f.decision == looked.c.id).exists()
            old = select(looked.c.id).where(looked.c.closed_at.is_not(None), ~waits)
        gone = list(self.connection.scalars(old.limit(most)))
        forget = "DELETE FROM decisions WHERE id IN (SELECT id FROM {given})"
        return self._given(decisions, ["id"], ((each,) for each in gone), forget)[1]

    def forget_people(self, learner: int, *, most: int = 10_000) -> int:
        """Delete the attempts of people for a learner that has ended; return how many were deleted."""
        mine = people.c.learner == learner
        some = select(people.c.person).where(mine).limit(most).scalar_subquery()
        return self.connection.execute(delete(people).where(mine, people.c.person.in_(some))).rowcount

    # Populations and keys

    def add_population(self, population: PopulationRecord) -> None:
        """Add a population, or change its limit."""
        self._put(populations, name=population.name, epsilon_limit=population.limit)

    def lock_population(self, name: str) -> PopulationRecord | None:
        """Read a population, and block others from adding learners to it until the transaction ends."""
        wanted = select(populations).where(populations.c.name == name).with_for_update()
        row = self.connection.execute(wanted).one_or_none()
        return None if row is None else PopulationRecord(*row)

    def add_key(self, key: KeyRecord) -> None:
        """Add an API key; raises `AlreadyExists`."""
        values = dataclasses.asdict(key) | {"learners": key.learners and json.dumps(key.learners)}
        if not self._is_new(keys, **values, revoked=False):
            raise AlreadyExists("This API key already exists.")

    def revoke_key(self, digest: bytes) -> bool:
        """Revoke an API key, if there is one."""
        mine = (keys.c.digest == digest) & keys.c.revoked.is_(False)
        return self.connection.execute(update(keys).where(mine).values(revoked=True)).rowcount == 1
