"""Asks and tells that are ready for a transaction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

from discreet.checks import IntArray
from discreet.learners.tickets import probability_in
from discreet.service.hosted_learner import HostedLearner
from discreet.service.records import Choice, Code, Outcome, members
from discreet.storage.records import DecisionRecord

#: Memory of a report besides its costs: ids and a payload, in numbers of eight bytes.
_REPORT_SIZE = 32


@dataclasses.dataclass(frozen=True)
class Ask:
    """Decisions to draw and store. A retry of a request gets the decisions of the first try."""

    hosted: HostedLearner
    count: int
    among: IntArray | None
    request_id: str | None
    #: Whether to give a token for each decision.
    tokens: bool = False
    #: What can be chosen, as it was given; `among` has the numbers of these items, or None for all.
    available: Iterable[Any] | None = None

    def of(self, hosted: HostedLearner) -> Ask:
        """The same ask of the learner's next epoch, or of one with other items."""
        among = None if self.available is None else hosted.host.among(self.available)
        return dataclasses.replace(self, hosted=hosted, among=among)

    @property
    def size(self) -> int:
        """Memory it takes, in numbers of eight bytes."""
        return self.count * len(self.hosted.host.items)

    def answer(self, decisions: list[DecisionRecord]) -> list[Choice]:
        """What the caller gets."""
        items = self.hosted.host.items
        return [
            Choice(
                each.id.hex(),
                members(items, each.subset),
                probability_in(each.draw),
                self.hosted.seals.token(each.id) if self.tokens else None,
            )
            for each in decisions
        ]


class Report(NamedTuple):
    """Feedback on its way to the store: a bit, or costs that are sealed before they are written."""

    decision_id: bytes
    payload: bytes | None
    person: bytes | None

    def __repr__(self) -> str:
        return "Report()"


@dataclasses.dataclass(frozen=True)
class Tell:
    """Reports to one learner.

    Attributes:
        hosted: The learner.
        reports: The valid ones.
        outcomes: An outcome for each piece of feedback; None for those with a report.
    """

    hosted: HostedLearner
    reports: list[Report]
    outcomes: list[Outcome | None]

    @property
    def size(self) -> int:
        """Memory it takes, in numbers of eight bytes."""
        costs = sum(len(report.payload or b"") // 8 for report in self.reports)
        return len(self.reports) * _REPORT_SIZE + costs

    def answer(self, codes: list[Code]) -> list[Outcome]:
        """What the caller gets, from a code for each report."""
        told = (
            Outcome(report.decision_id.hex(), code) for report, code in zip(self.reports, codes, strict=True)
        )
        return [next(told) if outcome is None else outcome for outcome in self.outcomes]
