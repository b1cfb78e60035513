"""What the desk is told and what it answers."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Hashable
from typing import Any, NamedTuple

from discreet.errors import InvalidType
from discreet.learners.detached import Summary
from discreet.storage.records import Counts

Item = str | int


class _Missing:
    """Stands for feedback that was not given: None is a value like any other."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Code(enum.StrEnum):
    """What became of one piece of feedback. The words are stable."""

    #: Learnt from, or told before; which of them, and whether it counted, is not said.
    ACCEPTED = "accepted"
    #: Nobody was ever given this id, or it was forgotten long after it was closed.
    UNKNOWN = "unknown_decision"
    #: The decision is another learner's.
    FOREIGN = "foreign_decision"
    #: The deadline has passed, and a neutral value was learnt from in its place.
    EXPIRED = "expired"
    #: Not what this learner takes: a cost or a bit for bandits, a function for full information.
    INVALID = "invalid_feedback"


@dataclasses.dataclass(frozen=True, repr=False)
class Feedback:
    """What happened after a decision. Its printed form shows no value.

    Attributes:
        decision: The id of the decision.
        cost: The private cost (or reward), for bandit learners; anything, nothing is raised for any value.
        released: Instead: the bit that `randomizers.OneBit` made of it.
        function: The private cost function, for full information: a set function, its JSON description, or
            a Python function.
        person: An opaque id of the person, or None. It is kept as a keyed hash only.
    """

    decision: str
    cost: Any = MISSING
    released: int | None = None
    function: Any = MISSING
    person: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.decision, str):  # not quoted: it may be the cost, given in the wrong place
            raise InvalidType("The 'decision' of Feedback must be the id of one, a string.")

    def __repr__(self) -> str:
        return f"Feedback(decision={self.decision!r})"


class Outcome(NamedTuple):
    """What became of one piece of feedback."""

    decision: str
    code: Code

    @property
    def accepted(self) -> bool:
        """Whether it need not be told again."""
        return self.code is Code.ACCEPTED


@dataclasses.dataclass(frozen=True)
class Choice:
    """A decision: a chosen set, and the id under which to tell what it cost."""

    id: str
    subset: tuple[Hashable, ...]


@dataclasses.dataclass(frozen=True)
class LearnerView:
    """What may be shown of a learner.

    Attributes:
        name: What it is called.
        epoch: How often it has been started anew under this name, from 1.
        kind: "bandit" or "full_information".
        items: The items.
        arguments: Those it was made with.
        population: The people it learns from, or None.
        status: "active", "archived", "closed" (a later epoch took over), "handed_over" (exported), "stale"
            (an old backup) or "damaged".
        deadline_seconds: When decisions that were not told about are closed.
        created_at: Milliseconds since 1970.
        generation: Of the state shown.
        summary: Point, rounds, mean, noise, guarantee.
        counts: How much was asked, told and closed by the deadline.
    """

    name: str
    epoch: int
    kind: str
    items: tuple[Item, ...]
    arguments: dict[str, Any]
    population: str | None
    status: str
    deadline_seconds: float
    created_at: int
    generation: int
    summary: Summary
    counts: Counts


@dataclasses.dataclass(frozen=True)
class PopulationView:
    """What the people of a population may lose to all learners on them, archived ones included.

    Attributes:
        name: What it is called.
        limit: What `spent` may reach, or None.
        spent: The sum of the learners' epsilons.
        learners: Name, epoch and epsilon of each.
    """

    name: str
    limit: float | None
    spent: float
    learners: tuple[tuple[str, int, float], ...]


@dataclasses.dataclass(frozen=True)
class MinuteView:
    """A minute of a learner (an hour, once it is long ago).

    Attributes:
        start: Milliseconds since 1970.
        counts: What happened.
        mean: Of what was released, or None.
        standard_error: Of the mean, at most: half the distance of the two numbers that a bit can stand for,
            over the square root of how many bits there were. Of noise and values together.
    """

    start: int
    counts: Counts
    mean: float | None
    standard_error: float | None


@dataclasses.dataclass(frozen=True)
class RecentChoice:
    """A set that was chosen lately, without the id under which to tell."""

    asked_at: int
    subset: tuple[Item, ...]
