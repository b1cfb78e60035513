"""Arguments and answers of the service."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.errors import InvalidType
from discreet.learners.host import Summary
from discreet.storage.records import Counts, Loss, Moment

Item = str | int

#: Names of learners and populations.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")

#: Who did something, in the audit log, if it was not done with an API key.
COMMAND_LINE, IN_PROCESS = "command line", "in process"


class _Missing:
    """Stands for an argument that was not given: None is a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Code(enum.StrEnum):
    """The outcome of one piece of feedback. The values are stable."""

    #: Accepted now or before; which of them, and whether it counted, is not revealed.
    ACCEPTED = "accepted"
    #: There never was such a decision, or it was forgotten long after it was closed.
    UNKNOWN = "unknown_decision"
    #: The decision belongs to another learner.
    FOREIGN = "foreign_decision"
    #: The deadline has passed, and a neutral value was applied instead.
    EXPIRED = "expired"
    #: Of the wrong kind: bandits take a cost or a bit, full-information learners a function.
    INVALID = "invalid_feedback"


@dataclasses.dataclass(frozen=True, repr=False)
class Feedback:
    """Feedback on a decision. Its repr shows no value.

    Attributes:
        decision: The decision's id.
        cost: The private cost (or reward), for bandit learners. No value is refused.
        released: Instead of a cost: the bit that `randomizers.OneBit` made of it.
        function: The private cost function, for full information: a set function, its JSON description, or
            a Python function.
        person: An opaque id of the person, or None. Only a keyed hash is stored.
    """

    decision: str
    cost: Any = MISSING
    released: int | None = None
    function: Any = MISSING
    person: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.decision, str):  # not quoted: it may be the cost, in the wrong place
            raise InvalidType("The 'decision' of Feedback must be a decision's id, a string.")

    def __repr__(self) -> str:
        return f"Feedback(decision={self.decision!r})"


class Outcome(NamedTuple):
    """The outcome of one piece of feedback."""

    decision: str
    code: Code

    @property
    def accepted(self) -> bool:
        """Whether it need not be told again."""
        return self.code is Code.ACCEPTED


@dataclasses.dataclass(frozen=True)
class Choice:
    """A chosen set, the decision's id for its feedback, and the probability of just this set.

    And a token for the decision, if one was asked for.
    """

    id: str
    subset: tuple[Hashable, ...]
    probability: float
    token: str | None = None


@dataclasses.dataclass(frozen=True)
class LearnerView:
    """The public view of a learner.

    Attributes:
        name: Its name.
        epoch: Counts restarts, from 1.
        kind: "bandit" or "full_information".
        items: The items.
        arguments: Those of its constructor.
        close: When the sums of a phase are released.
        population: The people it learns from, or None.
        status: "active", "archived", "closed" (replaced by a later epoch), "handed_over" (exported), "stale"
            (an old backup) or "damaged".
        deadline_seconds: When decisions without feedback are closed.
        created_at: Milliseconds since 1970.
        generation: Of the state shown.
        summary: Point, rounds, mean, noise, guarantee.
        counts: Decisions asked, told and expired.
    """

    name: str
    epoch: int
    kind: str
    items: tuple[Item, ...]
    arguments: dict[str, Any]
    close: str
    population: str | None
    status: str
    deadline_seconds: float
    created_at: int
    generation: int
    summary: Summary
    counts: Counts


class LearnerPage(NamedTuple):
    """Some learners, by name, and the last one's name if there are more."""

    learners: tuple[LearnerView, ...]
    next: str | None


@dataclasses.dataclass(frozen=True)
class PopulationView:
    """The privacy loss of a population's people to all learners on them, including archived ones.

    Attributes:
        name: Its name.
        limit: The most that `spent` may be, or None.
        spent: The epsilon of all learners together: the sum of theirs at most.
        learners: The share of each.
        delta: With which probability somebody may lose more: the sum of the learners'.
    """

    name: str
    limit: float | None
    spent: float
    learners: tuple[Loss, ...]
    delta: float


@dataclasses.dataclass(frozen=True)
class MinuteView:
    """A minute of a learner (an hour or a day, once merged).

    Attributes:
        start: Milliseconds since 1970.
        counts: Of the minute.
        mean: Of what was released, or None.
        standard_error: An upper bound on that of the mean, from noise and values together: half the distance
            of the two numbers that a bit stands for, over the square root of the number of bits.
    """

    start: int
    counts: Counts
    mean: float | None
    standard_error: float | None


@dataclasses.dataclass(frozen=True)
class MomentView:
    """What was released by a time; see `storage.records.Moment`."""

    at: int
    rounds: int
    mean: float | None
    held_rounds: int
    held_mean: float | None
    point: tuple[float, ...]

    @classmethod
    def of(cls, moment: Moment, *, has_mean: bool) -> MomentView:
        """With means instead of totals, where the learner keeps one."""
        mean = moment.total / moment.rounds if moment.rounds and has_mean else None
        held = moment.held_total / moment.held_rounds if moment.held_rounds else None
        point = tuple(np.frombuffer(moment.point, dtype="<f4").tolist())
        return cls(moment.at, moment.rounds, mean, moment.held_rounds, held, point)


@dataclasses.dataclass(frozen=True)
class RecentChoice:
    """A recently chosen set, without its decision's id."""

    asked_at: int
    subset: tuple[Item, ...]


class Backlog(NamedTuple):
    """Open decisions, bytes of the database, and active learners that must not continue."""

    pending: int
    size: int
    stale: int


def members(items: Sequence[Any], subset: bytes) -> tuple[Any, ...]:
    """The items of an encoded subset."""
    bits = np.unpackbits(np.frombuffer(subset, dtype=np.uint8), count=len(items), bitorder="little")
    return tuple(itertools.compress(items, bits.tolist()))


def check_name(what: str, name: str) -> None:
    """Require a name that fits into URLs and logs."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise checks.invalid_argument(what, "name", "1 to 100 letters, digits, '_', '.', '-'", name)
