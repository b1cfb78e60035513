"""Many asks and tells in one transaction."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import secrets
from collections.abc import Sequence
from typing import Any

from discreet.errors import Archived, Busy, Conflict, HorizonReached, InvalidArgument
from discreet.service.clock import minute_of
from discreet.service.hosted_learner import Applied, HostedLearner
from discreet.service.operations import Ask, Report, Tell
from discreet.service.records import Code
from discreet.storage.base import Writing
from discreet.storage.records import Counts, DecisionRecord, How, Status, split_ids


@dataclasses.dataclass
class BatchResult:
    """The result of a batch.

    Attributes:
        answers: Decisions, codes or an exception for each operation.
        applied: States to show once the transaction is committed.
        behind: Learners that another process has updated.
        queued: Whether reports were queued.
    """

    answers: list[Any]
    applied: list[tuple[HostedLearner, Applied]] = dataclasses.field(default_factory=list)
    behind: list[HostedLearner] = dataclasses.field(default_factory=list)
    queued: bool = False


class Batch:
    """Operations that share a transaction.

    Args:
        writing: The transaction.
        now: Milliseconds.
        alone: Whether no other process has the store: then feedback without secrets is applied at once.
    """

    def __init__(self, writing: Writing, now: int, *, alone: bool) -> None:
        self._writing, self._now, self._alone = writing, now, alone

    def run(self, operations: Sequence[Ask | Tell]) -> BatchResult:
        """Perform all of them, learner by learner, in the order of the learners' ids."""
        done = BatchResult([None] * len(operations))
        by_learner: dict[int, list[int]] = collections.defaultdict(list)
        for place, operation in enumerate(operations):
            by_learner[operation.hosted.id].append(place)
        shown = {operation.hosted.id: operation.hosted.generation for operation in operations}
        heads = self._hold(operations, by_learner)
        for learner_id, places in sorted(by_learner.items()):
            hosted = operations[places[0]].hosted
            status, generation = heads[learner_id]
            if status is not Status.ACTIVE:
                hosted.end(status)
                restarted = f"The learner {hosted.record.name!r} was restarted just now; nothing was changed."
                if status is Status.CLOSED and any(isinstance(operations[place], Ask) for place in places):
                    raise Conflict(restarted)  # asks are retried with the next epoch
                for place in places:
                    done.answers[place] = (
                        Busy(f"{restarted} Try again.")
                        if status is Status.CLOSED
                        else Archived(f"The learner {hosted.record.name!r} is {status.value}.")
                    )
                continue
            obstacle = hosted.obstacle(generation, shown[learner_id])
            if obstacle is not None:
                for place in places:
                    done.answers[place] = obstacle
                continue
            if generation > hosted.generation:
                done.behind.append(hosted)
            counts = Counts()
            asks = {p: op for p in places if isinstance(op := operations[p], Ask)}
            tells = {p: op for p in places if isinstance(op := operations[p], Tell)}
            if asks:
                self._ask(hosted, asks, counts, done)
            if tells:
                self._tell(hosted, generation, tells, counts, done)
            if counts != Counts():
                self._writing.add_counts(learner_id, minute_of(self._now), counts)
        return done

    def _hold(
        self, operations: Sequence[Ask | Tell], by_learner: dict[int, list[int]]
    ) -> dict[int, tuple[Status, int]]:
        """Status and generation of the learners; none of them ends before this transaction does."""
        for learner_id, places in sorted(by_learner.items()):
            if operations[places[0]].hosted.limited and any(isinstance(operations[p], Ask) for p in places):
                # Until the end of the transaction nobody else counts its rounds.
                self._writing.start_update(learner_id, wait=True, most=0)
        return self._writing.hold(by_learner)

    def _ask(self, hosted: HostedLearner, asks: dict[int, Ask], counts: Counts, done: BatchResult) -> None:
        room = self._room(hosted)
        drawn: dict[int, Ask] = {}
        retries: dict[int, int] = {}  # of another ask in this batch
        for place, ask in asks.items():
            first = None if ask.request_id is None else _same_request(ask, drawn)
            if first is not None:
                retries[place] = first
                continue
            answer = None if ask.request_id is None else self._earlier_answer(hosted, ask)
            if answer is None and room is not None and ask.count > room:
                answer = HorizonReached(
                    f"The learner {hosted.record.name!r} was made for {hosted.host.horizon} rounds, and "
                    f"{room} are left."
                )
            if answer is None:
                drawn[place] = ask
                if room is not None:
                    room -= ask.count
            done.answers[place] = answer
        made = self._draw(hosted, list(drawn.values()))
        counts.asked += self._writing.add_decisions([each for some in made for each in some])
        for (place, ask), decisions in zip(drawn.items(), made, strict=True):
            done.answers[place] = decisions
            if ask.request_id is not None:
                ids = [decision.id for decision in decisions]
                if self._writing.add_request(hosted.id, ask.request_id, ids, self._now) is not None:
                    raise Conflict("Another process answered this request just now; nothing was changed.")
        for place, first in retries.items():
            same = asks[place].count == asks[first].count
            done.answers[place] = (
                _if_still_available(asks[place], done.answers[first])
                if same
                else _answered_before(asks[first].count)
            )

    def _draw(self, hosted: HostedLearner, asks: list[Ask]) -> list[list[DecisionRecord]]:
        """Decisions for each ask, drawn from the committed point; asks of all items are drawn together."""
        host, state = hosted.host, hosted.state
        plain = iter(host.deal(state, sum(ask.count for ask in asks if ask.among is None)))
        ids = iter(split_ids(secrets.token_bytes(16 * sum(ask.count for ask in asks))))
        made = []
        for ask in asks:
            some = (
                itertools.islice(plain, ask.count)
                if ask.among is None
                else host.deal(state, ask.count, ask.among)
            )
            made.append(
                [
                    DecisionRecord(next(ids), hosted.id, dealt.ticket, dealt.subset, self._now)
                    for dealt in some
                ]
            )
        return made

    def _room(self, hosted: HostedLearner) -> int | None:
        """How many more decisions a learner with a horizon can make; None if it has none."""
        if not hosted.limited:  # all learners count at most 2^32 rounds
            return None if hosted.host.rounds(hosted.state) < hosted.host.horizon else 0
        return hosted.host.horizon - self._writing.counts(hosted.id).asked

    def _earlier_answer(self, hosted: HostedLearner, ask: Ask) -> list[DecisionRecord] | Exception | None:
        assert ask.request_id is not None
        ids = self._writing.request(hosted.id, ask.request_id)
        if ids is None:
            return None
        if len(ids) != ask.count:
            return _answered_before(len(ids))
        found = self._writing.decisions(ids)
        return _if_still_available(ask, [found[key] for key in ids])

    def _tell(
        self,
        hosted: HostedLearner,
        generation: int,
        tells: dict[int, Tell],
        counts: Counts,
        done: BatchResult,
    ) -> None:
        first: dict[bytes, Report] = {}
        for tell in tells.values():
            for report in tell.reports:
                first.setdefault(report.decision_id, report)
        closed = self._writing.close_decisions(hosted.id, first, How.TOLD, self._now)
        codes = dict.fromkeys(closed, Code.ACCEPTED)
        others = [key for key in first if key not in closed]
        if others:
            known = self._writing.decisions(others)
            codes |= {key: _code(hosted, known.get(key)) for key in others}
        for place, tell in tells.items():
            done.answers[place] = [codes[report.decision_id] for report in tell.reports]
        counts.told += len(closed)
        counted = self._counted(hosted, closed, first)
        if not counted:
            return
        if hosted.record.secret or not self._alone:
            self._queue(hosted, closed, counted)
            done.queued = True
        else:
            update = hosted.resume(self._writing, generation)
            bits = [report.payload for report in counted if report.payload is not None]
            applied = hosted.apply(update, [closed[report.decision_id] for report in counted], bits)
            counts.released += applied.released
            counts.ones += applied.ones
            done.applied.append((hosted, applied))

    def _counted(
        self, hosted: HostedLearner, closed: dict[bytes, bytes], reports: dict[bytes, Report]
    ) -> list[Report]:
        """The reports to apply: at most `rounds_per_person` of each person. Values play no part."""
        people: dict[bytes, int] = collections.Counter(
            person for key in closed if (person := reports[key].person) is not None
        )
        if not people:
            return [reports[key] for key in closed]
        totals = self._writing.count_attempts(hosted.id, people)
        left = {p: max(0, min(k, hosted.cap - (totals[p] - k))) for p, k in people.items()}
        counted = []
        for key in closed:
            person = reports[key].person
            if person is not None:
                if left[person] == 0:
                    continue
                left[person] -= 1
            counted.append(reports[key])
        return counted

    def _queue(self, hosted: HostedLearner, closed: dict[bytes, bytes], counted: list[Report]) -> None:
        """Store reports, sealed, until they are applied."""
        queued = {}
        for decision_id, payload, _ in counted:
            if payload is None:
                payload = hosted.neutral(decision_id, closed[decision_id])
            elif not hosted.record.secret:
                payload = hosted.sealed_feedback(decision_id, payload)
            queued[decision_id] = payload
        self._writing.queue_feedback(hosted.id, queued)


def _same_request(ask: Ask, others: dict[int, Ask]) -> int | None:
    return next((place for place, other in others.items() if other.request_id == ask.request_id), None)


def _answered_before(count: int) -> InvalidArgument:
    return InvalidArgument(f"This request was answered before, with {count} decisions.")


def _if_still_available(ask: Ask, decisions: list[DecisionRecord]) -> list[DecisionRecord] | Exception:
    """The earlier answer to a request, unless an item in it is no longer available."""
    if ask.among is not None:
        available = sum(1 << int(member) for member in ask.among)
        if any(int.from_bytes(each.subset, "little") & ~available for each in decisions):
            return InvalidArgument("This request was answered before, when other items were available.")
    return decisions


def _code(hosted: HostedLearner, record: DecisionRecord | None) -> Code:
    """The answer for a decision that could not be closed now."""
    if record is None:
        return Code.UNKNOWN
    if record.learner != hosted.id:
        return Code.FOREIGN
    if record.how is None:
        raise Conflict("A decision was opened meanwhile; nothing was changed.")
    return Code.ACCEPTED if record.how is How.TOLD else Code.EXPIRED
