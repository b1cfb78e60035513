"""Asks and tells, many at once, in one transaction."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from discreet.checks import IntArray
from discreet.errors import Archived, Busy, Conflict, HorizonReached, InvalidArgument
from discreet.learners.detached import DetachedFunctions
from discreet.service.clock import minute_of
from discreet.service.kept import Folded, Kept
from discreet.service.records import Code
from discreet.storage.base import Writing
from discreet.storage.records import Counts, DecisionRecord, How, Status

#: What a piece of feedback takes besides costs: objects for its decision, its person and itself.
_CELLS_OF_A_BIT = 32


@dataclasses.dataclass(frozen=True)
class Ask:
    """Sets to be drawn and kept. The answer is what is kept: the decisions of the first try of a request."""

    kept: Kept
    count: int
    among: IntArray | None
    request: str | None

    @property
    def cells(self) -> int:
        """How much is drawn, in numbers of eight bytes."""
        return self.count * len(self.kept.shown.items)


class Told(NamedTuple):
    """One piece of feedback, ready to be kept: nothing private is in it that is not randomised or sealed."""

    decision: bytes
    payload: bytes | None
    person: bytes | None

    def __repr__(self) -> str:
        return "Told()"


@dataclasses.dataclass(frozen=True)
class Tell:
    """Feedback to one learner. The answer is a code for each piece."""

    kept: Kept
    feedback: list[Told]

    @property
    def cells(self) -> int:
        """How much is kept of it meanwhile, likewise: the costs along a chain, or ids and a bit."""
        learner = self.kept.shown
        costs = len(learner.items) if isinstance(learner, DetachedFunctions) else 0
        return len(self.feedback) * (costs + _CELLS_OF_A_BIT)


@dataclasses.dataclass
class Done:
    """What a batch leads to: answers, states to show once it is committed, and what should happen next."""

    answers: list[Any]
    folded: list[tuple[Kept, Folded]] = dataclasses.field(default_factory=list)
    behind: list[Kept] = dataclasses.field(default_factory=list)
    waiting: bool = False


class Batch:
    """Operations that share a transaction.

    Args:
        writing: The transaction.
        now: Milliseconds.
        alone: Whether no other process has the store: then feedback without secrets is folded in at once.
    """

    def __init__(self, writing: Writing, now: int, *, alone: bool) -> None:
        self._writing, self._now, self._alone = writing, now, alone

    def run(self, operations: Sequence[Ask | Tell]) -> Done:
        """Perform all of them, learner by learner, in the order of the learners' numbers."""
        done = Done([None] * len(operations))
        by_learner: dict[int, list[int]] = collections.defaultdict(list)
        for place, operation in enumerate(operations):
            by_learner[operation.kept.id].append(place)
        shown = {operation.kept.id: operation.kept.generation for operation in operations}
        heads = self._held(operations, by_learner)
        for number, places in sorted(by_learner.items()):
            kept = operations[places[0]].kept
            status, generation = heads[number]
            if status is not Status.ACTIVE:
                kept.end(status)
                restarted = f"The learner {kept.record.name!r} was restarted just now; nothing was changed."
                if status is Status.CLOSED and any(isinstance(operations[place], Ask) for place in places):
                    raise Conflict(restarted)  # then asks are tried again with the next epoch
                for place in places:
                    done.answers[place] = (
                        Busy(f"{restarted} Try again.")
                        if status is Status.CLOSED
                        else Archived(f"The learner {kept.record.name!r} is {status.value}.")
                    )
                continue
            obstacle = kept.obstacle(generation, shown[number])
            if obstacle is not None:
                for place in places:
                    done.answers[place] = obstacle
                continue
            if generation > kept.generation:
                done.behind.append(kept)
            counts = Counts()
            asks = {p: op for p in places if isinstance(op := operations[p], Ask)}
            tells = {p: op for p in places if isinstance(op := operations[p], Tell)}
            if asks:
                self._ask(kept, asks, counts, done)
            if tells:
                self._tell(kept, generation, tells, counts, done)
            if counts != Counts():
                self._writing.add_counts(number, minute_of(self._now), counts)
        return done

    def _held(
        self, operations: Sequence[Ask | Tell], by_learner: dict[int, list[int]]
    ) -> dict[int, tuple[Status, int]]:
        """Status and generation of the learners, none of which ends before this transaction does."""
        for number, places in sorted(by_learner.items()):
            if operations[places[0]].kept.limited and any(isinstance(operations[p], Ask) for p in places):
                self._writing.fold(number, wait=True, most=0)  # nobody else counts its rounds meanwhile
        return self._writing.hold(by_learner)

    def _ask(self, kept: Kept, asks: dict[int, Ask], counts: Counts, done: Done) -> None:
        room = self._room(kept)
        drawn: dict[int, Ask] = {}
        retries: dict[int, int] = {}  # of an ask in this very batch, and which
        for place, ask in asks.items():
            first = None if ask.request is None else _same_request(ask, drawn)
            if first is not None:
                retries[place] = first
                continue
            answer = None if ask.request is None else self._asked_before(kept, ask)
            if answer is None and room is not None and ask.count > room:
                answer = HorizonReached(
                    f"The learner {kept.record.name!r} was made for {kept.shown.horizon} rounds, and {room} "
                    "are left."
                )
            if answer is None:
                drawn[place] = ask
                if room is not None:
                    room -= ask.count
            done.answers[place] = answer
        made = self._drawn(kept, list(drawn.values()))
        counts.asked += self._writing.add_decisions([each for some in made for each in some])
        for (place, ask), decisions in zip(drawn.items(), made, strict=True):
            done.answers[place] = decisions
            if ask.request is not None:
                ids = [decision.id for decision in decisions]
                if self._writing.add_request(kept.id, ask.request, ids, self._now) is not None:
                    raise Conflict("Another process answered this request just now; nothing was changed.")
        for place, first in retries.items():
            same = asks[place].count == asks[first].count
            done.answers[place] = (
                _still_fitting(asks[place], done.answers[first])
                if same
                else _answered_before(asks[first].count)
            )

    def _drawn(self, kept: Kept, asks: list[Ask]) -> list[list[DecisionRecord]]:
        """The decisions for each ask, from the point that is shown; all plain asks are drawn together."""
        learner = kept.shown
        plain = iter(learner.draw(sum(ask.count for ask in asks if ask.among is None)))
        names = secrets.token_bytes(16 * sum(ask.count for ask in asks))
        place, made = 0, []
        for ask in asks:
            some = (
                itertools.islice(plain, ask.count)
                if ask.among is None
                else learner.draw(ask.count, ask.among)
            )
            decisions = []
            for drawn in some:
                name = names[place : place + 16]
                decisions.append(DecisionRecord(name, kept.id, drawn.draw, drawn.subset, self._now))
                place += 16
            made.append(decisions)
        return made

    def _room(self, kept: Kept) -> int | None:
        """How many more decisions a learner for a number of rounds can make; None for any number."""
        if not kept.limited:  # but for the most rounds that any learner can count
            return None if kept.shown.rounds < kept.shown.horizon else 0
        return kept.shown.horizon - self._writing.counts(kept.id).asked

    def _asked_before(self, kept: Kept, ask: Ask) -> list[DecisionRecord] | Exception | None:
        assert ask.request is not None
        ids = self._writing.request(kept.id, ask.request)
        if ids is None:
            return None
        if len(ids) != ask.count:
            return _answered_before(len(ids))
        found = self._writing.decisions(ids)
        return _still_fitting(ask, [found[key] for key in ids])

    def _tell(self, kept: Kept, generation: int, tells: dict[int, Tell], counts: Counts, done: Done) -> None:
        first: dict[bytes, Told] = {}
        for tell in tells.values():
            for told in tell.feedback:
                first.setdefault(told.decision, told)
        closed = self._writing.close_decisions(kept.id, first, How.TOLD, self._now)
        codes = dict.fromkeys(closed, Code.ACCEPTED)
        others = [key for key in first if key not in closed]
        if others:
            known = self._writing.decisions(others)
            codes |= {key: _code(kept, known.get(key)) for key in others}
        for place, tell in tells.items():
            done.answers[place] = [codes[told.decision] for told in tell.feedback]
        counts.told += len(closed)
        counted = self._counted(kept, closed, first)
        if not counted:
            return
        if kept.record.secret or not self._alone:
            self._let_wait(kept, closed, counted)
            done.waiting = True
        else:
            fold = kept.resumed(self._writing, generation)
            bits = [told.payload for told in counted if told.payload is not None]
            folded = kept.fold(fold, [closed[told.decision] for told in counted], bits)
            counts.released += folded.released
            counts.ones += folded.ones
            done.folded.append((kept, folded))

    def _counted(self, kept: Kept, closed: dict[bytes, bytes], told: dict[bytes, Told]) -> list[Told]:
        """The feedback that is learnt from: of each person no more than counts. Values play no part."""
        people: dict[bytes, int] = collections.Counter(
            person for key in closed if (person := told[key].person) is not None
        )
        if not people:
            return [told[key] for key in closed]
        totals = self._writing.count_attempts(kept.id, people)
        left = {p: max(0, min(k, kept.cap - (totals[p] - k))) for p, k in people.items()}
        counted = []
        for key in closed:
            person = told[key].person
            if person is not None:
                if left[person] == 0:
                    continue
                left[person] -= 1
            counted.append(told[key])
        return counted

    def _let_wait(self, kept: Kept, closed: dict[bytes, bytes], counted: list[Told]) -> None:
        """Keep feedback until it is folded in, sealed."""
        waiting = {}
        for decision, payload, _ in counted:
            if payload is None:
                payload = kept.neutral(decision, closed[decision])
            elif not kept.record.secret:
                payload = kept.sealed_feedback(decision, payload)
            waiting[decision] = payload
        self._writing.add_waiting(kept.id, waiting)


def _same_request(ask: Ask, others: dict[int, Ask]) -> int | None:
    return next((place for place, other in others.items() if other.request == ask.request), None)


def _answered_before(count: int) -> InvalidArgument:
    return InvalidArgument(f"This request was answered before, with {count} decisions.")


def _still_fitting(ask: Ask, decisions: list[DecisionRecord]) -> list[DecisionRecord] | Exception:
    """What a request was answered with, unless an item in it can no longer be chosen."""
    if ask.among is not None:
        available = sum(1 << int(member) for member in ask.among)
        if any(int.from_bytes(each.subset, "little") & ~available for each in decisions):
            return InvalidArgument("This request was answered before, when other items were available.")
    return decisions


def _code(kept: Kept, record: DecisionRecord | None) -> Code:
    """What to answer about a decision that could not be closed now."""
    if record is None:
        return Code.UNKNOWN
    if record.learner != kept.id:
        return Code.FOREIGN
    if record.how is None:
        raise Conflict("A decision changed hands meanwhile; nothing was changed.")
    return Code.ACCEPTED if record.how is How.TOLD else Code.EXPIRED
