"""Asks and tells that are ready for a transaction: a tell holds no cost any more, but bits or reports."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from discreet.checks import IntArray
from discreet.errors import Busy, DiscreetError, InvalidArgument
from discreet.learners.tickets import probability_in
from discreet.service.hosted_learner import HostedLearner
from discreet.service.records import MISSING, Choice, Code, Feedback, Outcome, members, most_pieces
from discreet.storage.records import DecisionRecord
from discreet.storage.store import Store

#: Pieces of feedback in one tell.
MOST_FEEDBACK = 10_000
#: In one spelling: a client that randomises must not take one decision for two.
_DECISION_ID = re.compile(r"[0-9a-f]{32}")

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

    @classmethod
    def of(cls, hosted: HostedLearner, pieces: Sequence[Feedback], store: Store) -> Self:
        """Randomise or seal feedback; tickets that functions are measured along are read from the store.

        Raises:
            Conflict: Another process has changed the items of a learner that takes functions.
        """
        if len(pieces) > MOST_FEEDBACK or not all(isinstance(each, Feedback) for each in pieces):
            raise InvalidArgument(f"A tell is a list of at most {MOST_FEEDBACK} pieces of Feedback.")
        host, most = hosted.host, most_pieces(hosted.host.costs_told)
        if host.whole and len(pieces) > most:
            raise InvalidArgument(
                f"A tell of functions of {len(host.items)} items has at most {most} pieces. "
                f"Got {len(pieces)} instead."
            )
        outcomes = [_refused(hosted, each) for each in pieces]
        told = [each for each, refused in zip(pieces, outcomes, strict=True) if refused is None]
        ids = [bytes.fromhex(each.decision) for each in told]
        payloads: list[bytes | None]
        if host.local:
            payloads = [*hosted.drawn.of(ids, told)]
        elif not host.whole:
            payloads = [host.cost_report(each.cost, each.items) for each in told]
        else:
            with store.reading() as reading:
                known = reading.decisions(ids)
                hosted.require_settings(reading.heads([hosted.id])[hosted.id])
            payloads = [
                host.function_report(known[decision_id].draw, each.function)
                if decision_id in known and known[decision_id].learner == hosted.id
                else None
                for each, decision_id in zip(told, ids, strict=True)
            ]
        people = [None if each.person is None else hosted.seals.person(each.person) for each in told]
        return cls(hosted, [Report(*parts) for parts in zip(ids, payloads, people, strict=True)], outcomes)

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


def with_items(operation: Ask | Tell, hosted: HostedLearner) -> Ask | Tell | DiscreetError:
    """The same operation on a learner that may have other items; or why it cannot be done."""
    if hosted is operation.hosted:
        return operation
    if isinstance(operation, Tell):
        if hosted.host.whole or hosted.host.by_item:  # numbers of other sets, or of other items
            return Busy(f"The items of {hosted.record.name!r} were changed just now; nothing else was.")
        return dataclasses.replace(operation, hosted=hosted)
    try:
        return operation.of(hosted)
    except DiscreetError as error:  # an item that is not known any more
        return error


def _refused(hosted: HostedLearner, feedback: Feedback) -> Outcome | None:
    """The outcome of feedback that cannot be stored; None if it can, whatever its value."""
    values = {"cost": feedback.cost, "items": feedback.items, "function": feedback.function}
    given = {name for name, value in values.items() if value is not MISSING}
    if feedback.released is not None:
        fits = not given and hosted.host.takes_bit(feedback.released)
    elif hosted.host.whole:
        fits = given == {"function"}
    else:
        fits = given == {"cost"} or (hosted.host.by_item and given == {"cost", "items"})
    if not fits or not isinstance(feedback.person, str | None):
        return Outcome(feedback.decision, Code.INVALID)
    if not _DECISION_ID.fullmatch(feedback.decision):
        return Outcome(feedback.decision, Code.UNKNOWN)
    return None
