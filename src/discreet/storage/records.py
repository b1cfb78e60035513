"""What a store keeps, as plain records: encoded bytes and public numbers, never learners."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class Status(enum.StrEnum):
    """What may still happen to a learner."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    CLOSED = "closed"  # a later epoch of the same name has taken over
    HANDED_OVER = "handed_over"  # it was exported with its secrets, and goes on elsewhere


class How(enum.IntEnum):
    """How a decision was closed."""

    TOLD = 1
    EXPIRED = 2


@dataclasses.dataclass(frozen=True)
class NewLearner:
    """A learner to be kept.

    Attributes:
        name: What it is called; several epochs may share a name.
        epoch: Counts from 1; the highest is the one that the name stands for.
        settings: What it is made from, as JSON types.
        population: The people it learns from, or None.
        epsilon: What one person may lose to it, rounded up; the ledger adds these.
        deadline: Seconds after which a decision that was not told about is closed.
        lineage: A random name of this line of states.
        secret: Whether state and feedback are sealed.
        state: The encoded (and perhaps sealed) state of generation 0.
        created_at: Milliseconds.
    """

    name: str
    epoch: int
    settings: dict[str, Any]
    population: str | None
    epsilon: float
    deadline: float
    lineage: str
    secret: bool
    state: bytes
    created_at: int


@dataclasses.dataclass(frozen=True)
class LearnerRecord:
    """A learner as it is kept, without its state."""

    id: int
    name: str
    epoch: int
    settings: dict[str, Any]
    population: str | None
    epsilon: float
    deadline: float
    lineage: str
    secret: bool
    created_at: int
    status: Status
    generation: int


@dataclasses.dataclass(frozen=True)
class DecisionRecord:
    """A decision as it is kept.

    Attributes:
        id: 16 random bytes.
        learner: The learner's number.
        draw: What its feedback needs in order to be learnt from.
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


@dataclasses.dataclass(frozen=True)
class Waiting:
    """Feedback that has not been folded in: sealed bytes."""

    decision: bytes
    draw: bytes
    payload: bytes


@dataclasses.dataclass
class Counts:
    """How much happened: participation, and a sum of bits that were released.

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


@dataclasses.dataclass(frozen=True)
class Minute:
    """What happened in one minute (in an hour, once it is long ago)."""

    start: int
    counts: Counts


@dataclasses.dataclass(frozen=True)
class PopulationRecord:
    """People who are in the data of several learners, and what they may lose in all."""

    name: str
    limit: float | None


@dataclasses.dataclass(frozen=True)
class KeyRecord:
    """A bearer key: its digest, never itself."""

    digest: bytes
    role: str
    label: str
    created_at: int
