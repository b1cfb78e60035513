"""Many asks and tells in one transaction."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

from discreet.errors import Archived, Busy, Conflict, HorizonReached, InvalidArgument
from discreet.learners.tickets import INLINE, phase_of
from discreet.service.clock import minute_of
from discreet.service.dealing import Dealer
from discreet.service.hosted_learner import Applied, HostedLearner
from discreet.service.operations import Ask, Report, Tell
from discreet.service.records import Code
from discreet.storage.base import Writing
from discreet.storage.records import Counts, DecisionRecord, How, Status


@dataclasses.dataclass
class BatchResult:
    """The result of a batch.

    Attributes:
        answers: Decisions, codes or an exception for each operation.
        applied: States to show once the transaction is committed.
        behind: Learners that another process has updated.
        queued: Whether reports were queued.
        closed: Decisions that were told about, by learner.
    """

    answers: list[Any]
    applied: list[tuple[HostedLearner, Applied]] = dataclasses.field(default_factory=list)
    behind: list[HostedLearner] = dataclasses.field(default_factory=list)
    queued: bool = False
    closed: list[tuple[HostedLearner, list[bytes]]] = dataclasses.field(default_factory=list)


class Batch:
    """Operations that share a transaction.

    Args:
        writing: The transaction.
        now: Milliseconds.
        alone: Whether no other process has the store: then bits of single rounds are applied at once.
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
        ids = {place: hosted.seals.decision_ids(ask.request_id, ask.count + 1) for place, ask in asks.items()}
        asked_before = [key for place, ask in asks.items() if ask.request_id for key in ids[place]]
        known = self._writing.decisions(asked_before) if asked_before else {}
        drawn: dict[bytes, int] = {}  # places of asks that are new, by their first id
        for place, ask in asks.items():
            first = ids[place][0]
            if first in known or first in drawn:
                continue
            if room is not None and ask.count > room:
                done.answers[place] = HorizonReached(
                    f"The learner {hosted.record.name!r} was made for {hosted.host.horizon} rounds, and "
                    f"{room} are left."
                )
                continue
            drawn[first] = place
            room = None if room is None else room - ask.count
        made = self._draw(hosted, [(asks[place], ids[place]) for place in drawn.values()])
        added = self._writing.add_decisions(made)
        if added < len(made):
            raise Conflict("Another process answered this request just now; nothing was changed.")
        counts.asked += added
        known |= {decision.id: decision for decision in made}
        for place, ask in asks.items():
            if done.answers[place] is None:
                done.answers[place] = _answer(ask, ids[place], known)

    def _draw(self, hosted: HostedLearner, asks: list[tuple[Ask, list[bytes]]]) -> list[DecisionRecord]:
        """Decisions for each ask, dealt from the committed state."""
        if not asks:
            return []
        dealer, made = Dealer(hosted, self._writing, self._now), []
        for ask, ids in asks:
            for decision_id in ids[: ask.count]:
                subset, ticket = dealer.deal(ask.among)
                made.append(DecisionRecord(decision_id, hosted.id, ticket, subset, self._now))
        dealer.finish()
        return made

    def _room(self, hosted: HostedLearner) -> int | None:
        """How many more decisions a learner with a horizon can make; None if it has none."""
        if not hosted.limited:  # all learners count at most 2^32 rounds
            return None if hosted.host.rounds(hosted.state) < hosted.host.horizon else 0
        return hosted.host.horizon - self._writing.counts(hosted.id).asked

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
        payloads = self._payloads(hosted, closed, first)
        if not payloads:
            return
        done.closed.append((hosted, list(closed)))
        if hosted.host.by_rounds and hosted.host.local and self._alone:
            update = hosted.resume(self._writing, generation)
            tickets = [closed[key] for key in payloads]
            applied = hosted.apply(self._writing, update, tickets, list(payloads.values()))
            counts.released += applied.released
            counts.ones += applied.ones
            done.applied.append((hosted, applied))
        else:
            sealed = {key: hosted.seals.feedback(key, payload) for key, payload in payloads.items()}
            self._writing.queue_feedback(hosted.id, sealed)
            done.queued = True

    def _payloads(
        self, hosted: HostedLearner, closed: dict[bytes, bytes], reports: dict[bytes, Report]
    ) -> dict[bytes, bytes]:
        """The reports to apply. Values play no part in which they are.

        At most `rounds_per_person` of each person count. Others give a neutral report, which a phase of
        several rounds needs to be complete; a round that is a phase by itself does without.
        """
        people: dict[bytes, int] = collections.Counter(
            person for key in closed if (person := reports[key].person) is not None
        )
        totals = self._writing.count_attempts(hosted.id, people) if people else {}
        left = {p: max(0, min(k, hosted.cap - (totals[p] - k))) for p, k in people.items()}
        payloads = {}
        for key, ticket in closed.items():
            payload, person = reports[key].payload, reports[key].person
            if person is not None:
                left[person] -= 1
                if left[person] < 0:
                    if phase_of(ticket) == INLINE:
                        continue
                    payload = None
            payload = hosted.neutral(ticket) if payload is None else payload
            if payload is not None:
                payloads[key] = payload
        return payloads


def _answer(
    ask: Ask, ids: list[bytes], known: dict[bytes, DecisionRecord]
) -> list[DecisionRecord] | InvalidArgument:
    """The decisions of an ask, or why a request that was answered before cannot be answered like that."""
    *mine, beyond = ids
    if beyond in known or any(key not in known for key in mine):
        return InvalidArgument("This request was answered before, with another number of decisions.")
    if ask.among is not None:
        available = sum(1 << int(member) for member in ask.among)
        if any(int.from_bytes(known[key].subset, "little") & ~available for key in mine):
            return InvalidArgument("This request was answered before, when other items were available.")
    return [known[key] for key in mine]


def _code(hosted: HostedLearner, record: DecisionRecord | None) -> Code:
    """The answer for a decision that could not be closed now."""
    if record is None:
        return Code.UNKNOWN
    if record.learner != hosted.id:
        return Code.FOREIGN
    if record.how is None:
        raise Conflict("A decision was opened meanwhile; nothing was changed.")
    return Code.ACCEPTED if record.how is How.TOLD else Code.EXPIRED
