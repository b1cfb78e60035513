"""Many asks and tells of many learners in one transaction, with few statements for all of them."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.checks import IntArray
from discreet.errors import Archived, Busy, Conflict, HorizonReached, InvalidArgument
from discreet.learners.tickets import INLINE, Dealt, phase_of
from discreet.service.hosted_learner import Applied, HostedLearner, write
from discreet.service.operations import Ask, Report, Tell
from discreet.service.records import Code
from discreet.storage.records import Counts, DecisionRecord, Head, How, PhaseRecord, Status
from discreet.storage.writing import Writing

#: A decision and its learner, by their ids.
_Key = tuple[bytes, int]


class Batch:
    """Operations that share a transaction.

    Args:
        writing: The transaction.
        now: Milliseconds.
        alone: Whether no other process has the store: then bits of single rounds are applied at once.

    Attributes:
        applied: States to show once the transaction is committed.
        behind: Learners that another process has updated.
        closed: Decisions that were told about, by learner.
        queued: Whether reports were queued.
    """

    def __init__(self, writing: Writing, now: int, *, alone: bool) -> None:
        self._writing, self._now, self._alone = writing, now, alone
        self._counts: dict[int, Counts] = collections.defaultdict(Counts)
        self.applied: dict[HostedLearner, Applied] = {}
        self.behind: set[HostedLearner] = set()
        self.closed: dict[HostedLearner, list[bytes]] = collections.defaultdict(list)
        self.queued = False

    def run(self, operations: Sequence[Ask | Tell]) -> list[Any]:
        """Decisions, codes or an exception for each operation."""
        hosted = {each.hosted.id: each.hosted for each in operations}
        shown = {number: each.generation for number, each in hosted.items()}
        heads = self._hold(operations)
        for number, each in hosted.items():
            each.require_settings(heads[number])
        refused = {
            number: self._refusal(each, heads[number], shown[number]) for number, each in hosted.items()
        }
        answers, asks, tells = dict[int, Any](), dict[int, Ask](), dict[int, Tell]()
        for place, operation in enumerate(operations):
            learner = operation.hosted.id
            if isinstance(operation, Ask) and heads[learner].status is Status.CLOSED:
                raise Conflict(_restarted(operation.hosted))  # asks are retried with the next epoch
            if refused[learner] is not None:
                answers[place] = refused[learner]
            elif isinstance(operation, Ask):
                asks[place] = operation
            else:
                tells[place] = operation
        answers |= self._ask(asks) | self._tell(tells, heads)
        self._writing.add_counts(self._counts)
        return [answers[place] for place in range(len(operations))]

    def _hold(self, operations: Sequence[Ask | Tell]) -> dict[int, Head]:
        """The heads of the learners; none of them ends or gets other items before this transaction ends."""
        limited = {each.hosted.id for each in operations if isinstance(each, Ask) and each.hosted.limited}
        if limited:  # until the end of the transaction nobody else counts their rounds
            self._writing.start_updates(limited, wait=True, most=0)
        return self._writing.hold({each.hosted.id for each in operations})

    def _refusal(self, hosted: HostedLearner, head: Head, shown: int) -> Exception | None:
        """Why a learner cannot be asked or told now; None if it can."""
        if head.status is not Status.ACTIVE:
            hosted.record = dataclasses.replace(hosted.record, status=head.status)
            if head.status is Status.CLOSED:
                return Busy(f"{_restarted(hosted)} Try again.")
            return Archived(f"The learner {hosted.record.name!r} is {head.status.value}.")
        if head.generation > hosted.generation:
            self.behind.add(hosted)
        return hosted.obstacle(head.generation, shown)

    # Asks

    def _ask(self, asks: Mapping[int, Ask]) -> dict[int, Any]:
        """Answers by place: decisions that were made for the same request before, or new ones."""
        ids = {k: ask.hosted.seals.decision_ids(ask.request_id, ask.count + 1) for k, ask in asks.items()}
        retried = [key for place, ask in asks.items() if ask.request_id for key in ids[place]]
        known = self._writing.decisions(retried) if retried else {}
        new: dict[bytes, int] = {}  # places of asks that are new, by their first id
        left: dict[HostedLearner, int] = {}
        refused: dict[int, HorizonReached] = {}
        for place, ask in asks.items():
            first, hosted = ids[place][0], ask.hosted
            if first in known or first in new:
                continue
            if hosted not in left:
                left[hosted] = self._room(hosted)
            if ask.count > left[hosted]:
                refused[place] = HorizonReached(
                    f"The learner {hosted.record.name!r} was made for {hosted.host.horizon} rounds, and "
                    f"{left[hosted]} are left."
                )
                continue
            new[first] = place
            left[hosted] -= ask.count
        made = self._made([(asks[place], ids[place]) for place in new.values()])
        if self._writing.add_decisions(made) < len(made):
            raise Conflict("Another process answered this request just now; nothing was changed.")
        known |= {decision.id: decision for decision in made}
        return {k: refused.get(k) or _answer(ask, ids[k], known) for k, ask in asks.items()}

    def _made(self, asks: Sequence[tuple[Ask, list[bytes]]]) -> list[DecisionRecord]:
        """Decisions for each ask, dealt from the committed states."""
        by_learner: dict[HostedLearner, list[tuple[Ask, list[bytes]]]] = collections.defaultdict(list)
        for ask, ids in asks:
            by_learner[ask.hosted].append((ask, ids))
        in_phases = [hosted.id for hosted in by_learner if not hosted.host.by_rounds]
        current = self._writing.current_phases(in_phases) if in_phases else {}
        made, dealt = list[DecisionRecord](), list[tuple[int, int, int]]()
        for hosted in sorted(by_learner, key=lambda hosted: hosted.id):
            dealer = _Dealer(hosted, self._writing, self._now, current.get(hosted.id))
            for ask, ids in by_learner[hosted]:
                for decision_id in ids[: ask.count]:
                    subset, ticket = dealer.deal(ask.among)
                    made.append(DecisionRecord(decision_id, hosted.id, ticket, subset, self._now))
                self._counts[hosted.id].asked += ask.count
            dealt += ((hosted.id, number, count) for number, count in dealer.finished())
        self._writing.deal(dealt, self._now)
        return made

    def _room(self, hosted: HostedLearner) -> int:
        """How many more decisions a learner can make; the rounds of one without a horizon are far away."""
        counts = self._writing.counts(hosted.id).asked if hosted.limited else 0
        return hosted.host.horizon - max(counts, hosted.host.rounds(hosted.state))

    # Tells

    def _tell(self, tells: Mapping[int, Tell], heads: Mapping[int, Head]) -> dict[int, Any]:
        """Answers by place: a code for each report. The first report of each decision counts."""
        hosts = {tell.hosted.id: tell.hosted for tell in tells.values()}
        first: dict[_Key, Report] = {}
        for tell in tells.values():
            for report in tell.reports:
                first.setdefault((report.decision_id, tell.hosted.id), report)
        closed = self._writing.close_decisions(first, How.TOLD, self._now)
        codes = dict.fromkeys(closed, Code.ACCEPTED)
        others = [key for key in first if key not in closed]
        if others:
            known = self._writing.decisions(decision_id for decision_id, _ in others)
            codes |= {key: _code(key[1], known.get(key[0])) for key in others}
        for decision_id, learner in closed:
            self._counts[learner].told += 1
            self.closed[hosts[learner]].append(decision_id)
        self._take(self._payloads(hosts, closed, first), heads)
        return {
            place: [codes[report.decision_id, tell.hosted.id] for report in tell.reports]
            for place, tell in tells.items()
        }

    def _take(
        self,
        payloads: Mapping[HostedLearner, Mapping[bytes, tuple[bytes, bytes]]],
        heads: Mapping[int, Head],
    ) -> None:
        """Apply tickets and reports, or queue the reports."""
        queued: list[tuple[bytes, int, bytes]] = []
        for hosted, told in payloads.items():
            if hosted.host.by_rounds and self._alone:
                applied = hosted.apply_now(heads[hosted.id].generation, [*told.values()])
                self._counts[hosted.id].released += applied.released
                self._counts[hosted.id].ones += applied.ones
                self.applied[hosted] = applied
            else:
                queued += (
                    (key, hosted.id, hosted.seals.feedback(key, report)) for key, (_, report) in told.items()
                )
        write(self._writing, self.applied)
        self._writing.queue_feedback(queued)
        self.queued = bool(queued)

    def _payloads(
        self, hosts: Mapping[int, HostedLearner], closed: Mapping[_Key, bytes], reports: Mapping[_Key, Report]
    ) -> dict[HostedLearner, dict[bytes, tuple[bytes, bytes]]]:
        """Tickets and reports to apply, by learner and decision. Values play no part in which they are.

        At most `rounds_per_person` of each person count. Others give a neutral report, which a phase of
        several rounds needs to be complete; a round that is a phase by itself does without.
        """
        people = collections.Counter(
            (key[1], person) for key in closed if (person := reports[key].person) is not None
        )
        totals = self._writing.count_attempts(people) if people else {}
        left = {
            each: hosts[each[0]].host.guarantee.rounds_per_person - (totals[each] - count)
            for each, count in people.items()
        }
        found: dict[HostedLearner, dict[bytes, tuple[bytes, bytes]]] = collections.defaultdict(dict)
        for key, ticket in closed.items():
            (decision_id, learner), (_, payload, person) = key, reports[key]
            if person is not None:
                left[learner, person] -= 1
                if left[learner, person] < 0:
                    if phase_of(ticket) == INLINE:
                        continue
                    payload = None
            payload = hosts[learner].neutral(ticket) if payload is None else payload
            if payload is not None:
                found[hosts[learner]][decision_id] = ticket, payload
        return found


class _Dealer:
    """Deals rounds of a learner from its committed state, and plans phases as they are needed.

    It begins with the current phase, if there is one with rounds to deal.
    """

    def __init__(
        self, hosted: HostedLearner, writing: Writing, now: int, current: PhaseRecord | None
    ) -> None:
        self._hosted, self._writing, self._now = hosted, writing, now
        self._current, self._finished = current, list[tuple[int, int]]()
        self._dealt = self._begun = 0 if current is None else current.dealt
        self._reordered = False  # the plan, so that it must be written
        self._plan = None if current is None else hosted.plan_of(current)

    def deal(self, available: IntArray | None) -> Dealt:
        """The set of the next round, among the available items."""
        current, host = self._current, self._hosted.host
        if current is not None and self._plan is not None:
            plan, fits = host.brought_forward(self._plan, self._dealt, available)
            self._reordered |= plan is not self._plan
            self._plan = plan
            if fits:
                self._dealt += 1
                dealt = host.dealt(plan, current.number, self._dealt - 1, available)
                if self._dealt == current.total:
                    self._leave()
                return dealt
        plan = host.plan(self._hosted.state, available)
        if host.is_inline(plan):
            return host.dealt(plan, INLINE, 0, available)
        beside = current is not None or plan.total == 1
        encoded, dealt_now = plan.encode(), 1 if beside else 0
        number = self._writing.add_phase(self._hosted.id, encoded, plan.total, dealt_now, self._now)
        if beside:  # a phase of one round, among these items; the current one goes on later
            return host.dealt(plan, number, 0, available)
        self._current, self._plan = PhaseRecord(number, encoded, plan.total, 0, self._now), plan
        self._dealt = self._begun = 0
        return self.deal(available)

    def _leave(self) -> None:
        if self._current is not None and self._plan is not None:
            if self._dealt > self._begun:
                self._finished.append((self._current.number, self._dealt))
            if self._reordered and self._dealt < self._plan.total:
                self._writing.put_plan(self._hosted.id, self._current.number, self._plan.encode())
        self._current, self._reordered = None, False

    def finished(self) -> list[tuple[int, int]]:
        """Phases of which rounds were dealt, and how many are dealt now."""
        self._leave()
        return self._finished


def _restarted(hosted: HostedLearner) -> str:
    return f"The learner {hosted.record.name!r} was restarted just now; nothing was changed."


def _answer(
    ask: Ask, ids: list[bytes], known: Mapping[bytes, DecisionRecord]
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


def _code(learner: int, record: DecisionRecord | None) -> Code:
    """The answer for a decision that could not be closed now."""
    if record is None:
        return Code.UNKNOWN
    if record.learner != learner:
        return Code.FOREIGN
    if record.how is None:
        raise Conflict("A decision was opened meanwhile; nothing was changed.")
    return Code.ACCEPTED if record.how is How.TOLD else Code.EXPIRED
