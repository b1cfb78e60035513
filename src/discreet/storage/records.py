"""The records of a store: encoded bytes and public numbers, never learners."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple


class Status(enum.StrEnum):
    """The status of an epoch of a learner."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    CLOSED = "closed"  # replaced by a later epoch of the same name


class How(enum.IntEnum):
    """How a decision was closed."""

    TOLD = 1
    EXPIRED = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class LearnerRecord:
    """An epoch of a learner, without its state. Only its settings and its last four fields ever change.

    Attributes:
        name: Shared by its epochs.
        epoch: From 1; the name refers to the highest.
        settings: Kind, items and arguments, as JSON types.
        population: The people it learns from, or None.
        epsilon: The privacy loss of one person, rounded up; the ledger adds these.
        deadline: Seconds after which a decision without feedback is closed.
        lineage: A random id of this line of states.
        secret: Whether its state says more than its guarantee covers.
        created_at: Milliseconds.
        id: Given by the store.
        status: As long as it is active, it can be asked and told.
        generation: Of its state.
        swept: Decisions asked before this time are known to be closed, in milliseconds.
        revision: Of its settings: how often its items were changed.
    """

    name: str
    epoch: int
    settings: dict[str, Any]
    population: str | None
    epsilon: float
    deadline: float
    lineage: str
    secret: bool
    created_at: int
    id: int = 0
    status: Status = Status.ACTIVE
    generation: int = 0
    swept: int = 0
    revision: int = 0


class Head(NamedTuple):
    """What of a learner a cache is checked against: status, generation and revision as in its record."""

    status: Status
    generation: int
    revision: int


class DecisionRecord(NamedTuple):
    """A stored decision.

    Attributes:
        id: 16 random bytes.
        learner: The learner's id.
        draw: What is needed to apply its feedback.
        subset: The chosen items, encoded.
        asked_at: Milliseconds.
        how: How it was closed, or None while it is open.
    """

    id: bytes
    learner: int
    draw: bytes
    subset: bytes
    asked_at: int
    how: How | None = None


class PhaseRecord(NamedTuple):
    """A stored phase, whose rounds are dealt one by one.

    Attributes:
        number: Counts the phases of a learner.
        plan: Encoded, public.
        total: Its rounds.
        dealt: How many of them were dealt.
        last_at: When the last of these was, in milliseconds.
    """

    number: int
    plan: bytes
    total: int
    dealt: int
    last_at: int


class Moment(NamedTuple):
    """What a learner had released at a time.

    Attributes:
        at: Milliseconds.
        rounds: How many it had learned from, of those not held out.
        total: The sum of what was released of them, in costs or rewards.
        held_rounds: The same of those held out.
        held_total: The same of those held out.
        point: Its levels, as float32.
    """

    at: int
    rounds: int
    total: float
    held_rounds: int
    held_total: float
    point: bytes


class QueuedReport(NamedTuple):
    """Feedback that has not been applied yet. The payload is sealed."""

    decision_id: bytes
    draw: bytes
    payload: bytes


class StateUpdate(NamedTuple):
    """The latest state of a learner, how many reports are in open sums, and those queued for it."""

    generation: int
    state: bytes
    applied: int
    queued: list[QueuedReport]


@dataclasses.dataclass
class Counts:
    """How much happened: participation, and the sum of released bits.

    Attributes:
        asked: Decisions made.
        told: Decisions closed by feedback.
        expired: Decisions closed by their deadline.
        released: Released bits.
        ones: How many of these were 1.
    """

    asked: int = 0
    told: int = 0
    expired: int = 0
    released: int = 0
    ones: int = 0

    @property
    def pending(self) -> int:
        """Decisions that are open."""
        return self.asked - self.told - self.expired


#: The columns of counts.
COUNTED = tuple(field.name for field in dataclasses.fields(Counts))


class PopulationRecord(NamedTuple):
    """A group of people who several learners learn from, and the limit of their total privacy loss."""

    name: str
    limit: float | None


@dataclasses.dataclass(frozen=True)
class Loss:
    """The share of an epoch of a learner in the privacy loss of its people.

    Attributes:
        delta: With which probability a person may lose more than epsilon.
    """

    name: str
    epoch: int
    epsilon: float
    delta: float = 0.0


@dataclasses.dataclass(frozen=True)
class KeyRecord:
    """An API key, as its digest.

    Attributes:
        digest: Of its secret.
        role: What it allows.
        label: What it is for.
        created_at: Milliseconds.
        learners: The only ones it may be used for; None for all.
        expires_at: Milliseconds, or None.
    """

    digest: bytes
    role: str
    label: str
    created_at: int
    learners: tuple[str, ...] | None = None
    expires_at: int | None = None


def split_ids(joined: bytes) -> list[bytes]:
    """Ids of 16 bytes that were concatenated."""
    return [joined[k : k + 16] for k in range(0, len(joined), 16)]
