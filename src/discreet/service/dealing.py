"""Deal the rounds of a learner's phases in a transaction, and plan phases as they are needed."""

from __future__ import annotations

from discreet.checks import IntArray
from discreet.learners.tickets import INLINE, Dealt
from discreet.service.hosted_learner import HostedLearner
from discreet.storage.base import Writing
from discreet.storage.records import PhaseRecord


class Dealer:
    """Deals from the committed state of a learner. `finish` writes how far it came.

    Args:
        hosted: The learner.
        writing: The transaction.
        now: Milliseconds.
    """

    def __init__(self, hosted: HostedLearner, writing: Writing, now: int) -> None:
        self._hosted, self._host, self._writing, self._now = hosted, hosted.host, writing, now
        self._current: PhaseRecord | None = None
        if not self._host.by_rounds:
            self._current = writing.current_phase(hosted.id)
        self._dealt = 0 if self._current is None else self._current.dealt

    def deal(self, available: IntArray | None) -> Dealt:
        """The set of the next round, among the available items."""
        current = self._current
        if current is not None:
            plan = self._hosted.plan_of(current)
            if self._host.can_deal(plan, self._dealt, available):
                dealt = self._host.dealt(plan, current.number, self._dealt, available)
                self._dealt += 1
                if self._dealt == current.total:
                    self.finish()
                return dealt
        plan = self._host.plan(self._hosted.state, available)
        if self._host.is_inline(plan):
            return self._host.dealt(plan, INLINE, 0, available)
        beside = current is not None or plan.total == 1
        encoded, dealt_now = plan.encode(), 1 if beside else 0
        number = self._writing.add_phase(self._hosted.id, encoded, plan.total, dealt_now, self._now)
        self._hosted.remember(number, plan)
        if beside:  # a phase of one round, among these items; the current one goes on later
            return self._host.dealt(plan, number, 0, available)
        self._current, self._dealt = PhaseRecord(number, encoded, plan.total, 0, self._now), 0
        return self.deal(available)

    def finish(self) -> None:
        """Write how many rounds were dealt."""
        if self._current is not None and self._dealt > self._current.dealt:
            self._writing.deal(self._hosted.id, self._current.number, self._dealt, self._now)
        self._current = None
