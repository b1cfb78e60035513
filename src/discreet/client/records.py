"""Records of the clients."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

from ..errors import InvalidArgument, InvalidType

_LONGEST_PERSON = 1000


class MISSING:
    """Stands for an argument that was not given; None is a value, which counts as neutral."""


def _tuples(shown: Any) -> Any:
    return tuple(map(_tuples, shown)) if isinstance(shown, list) else shown


def _by(reader: Callable[[Any], Any]) -> dict[str, Callable[[Any], Any]]:
    """How a field is read that is not just JSON; null stays None."""
    return {"read": lambda shown: None if shown is None else reader(shown)}


@dataclasses.dataclass(frozen=True)
class Record:
    """A record of a response: what is missing there has its default, what is unknown here is ignored."""

    @classmethod
    def read(cls, shown: Any) -> Self:
        """From JSON."""
        known = [each for each in dataclasses.fields(cls) if each.name in shown]
        return cls(**{each.name: each.metadata.get("read", _tuples)(shown[each.name]) for each in known})


@dataclasses.dataclass(frozen=True)
class Decision(Record):
    """A chosen set.

    Attributes:
        id: For its feedback.
        subset: The items.
        learner: The learner's name.
        probability: With which the set was chosen, where that is known.
        token: A key for telling about this decision, and for nothing else. It is not shown.
    """

    id: str
    subset: frozenset[Hashable] = dataclasses.field(metadata=_by(frozenset))
    learner: str
    probability: float | None = None
    token: str | None = dataclasses.field(default=None, repr=False, compare=False)


@dataclasses.dataclass(frozen=True, repr=False)
class Feedback:
    """Feedback on a decision, for `tell_many`: exactly one of cost, released and function.

    Beside a cost, there may be items.

    Attributes:
        decision: The decision or its id.
        cost: Bandits: the cost, or the reward. Private; anything but a number counts as neutral.
        items: Bandits with an `item_total`: what items of the set brought, by item. Names and numbers are
            private: those that are unknown or not in the set, and what is not a number, count as 0.
        released: Bandits: instead of a cost, a bit that you randomised; keep it for retries.
        function: Full information: a set function, or its JSON description. Private.
        person: An opaque id, stored as a keyed hash: at most `rounds_per_person` tells of one person count.

    Examples:
        >>> Feedback("d-1", 0.7, person="ann")  # nothing private is shown
        Feedback('d-1', ...)
    """

    decision: Decision | str
    cost: Any = MISSING
    _: dataclasses.KW_ONLY
    items: Mapping[Any, Any] | None = None
    released: int | None = None
    function: Any = MISSING
    person: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.cost, Decision) or not isinstance(self.decision, Decision | str):
            raise InvalidType("Feedback has the decision (or its id) first and the cost second.")
        if [self.cost is MISSING, self.released is None, self.function is MISSING].count(False) != 1:
            raise InvalidArgument(
                "Tell a 'cost', or what was 'released', or a 'function': exactly one of them."
            )
        if self.items is not None and self.cost is MISSING:
            raise InvalidArgument("What 'items' brought is told beside a 'cost'.")
        if self.items is not None and not issubclass(type(self.items), Mapping):
            raise InvalidType("The 'items' that are told must be a mapping from items to numbers.")
        if not (self.released is None or (isinstance(self.released, int) and self.released in (0, 1))):
            raise InvalidArgument("What was 'released' must be a bit: 0 or 1.")
        person = self.person
        if not (person is None or (isinstance(person, str) and len(person) <= _LONGEST_PERSON)):
            raise InvalidArgument(f"A 'person' must be a string of at most {_LONGEST_PERSON} characters.")

    @property
    def id(self) -> str:
        """Of the decision."""
        return self.decision.id if isinstance(self.decision, Decision) else self.decision

    def __repr__(self) -> str:
        return f"Feedback({self.id!r}, ...)"


@dataclasses.dataclass(frozen=True)
class Counts(Record):
    """How much happened to a learner."""

    asked: int
    told: int
    expired: int
    pending: int


@dataclasses.dataclass(frozen=True)
class HeldOut(Record):
    """What a learner earns, against a share of decisions that get a fixed set.

    Attributes:
        share, set: Of decisions, and what they get.
        rounds, mean: How many were told, and the mean of their released costs or rewards.
        learned_rounds, learned_mean: The same of all other decisions.
        uplift, low, high: How much better the learner's sets are, with a private interval.
    """

    share: float
    set: frozenset[Hashable] = dataclasses.field(metadata=_by(frozenset))
    rounds: int = 0
    mean: float | None = None
    learned_rounds: int = 0
    learned_mean: float | None = None
    uplift: float | None = None
    low: float | None = None
    high: float | None = None


@dataclasses.dataclass(frozen=True)
class Learner(Record):
    """The public view of a learner: all of it is covered by its guarantee.

    Attributes:
        name, epoch: Which one; a restart begins the next epoch.
        feedback: "bandit" or "full_information".
        items: Their names, in order.
        epsilon, rounds_per_person, delta: The privacy loss of one person, over so many rounds.
        cost_range, maximize: The declared range, and whether large is good.
        population: The people it learns from.
        deadline_seconds: When a decision without feedback is closed.
        status: "active", "archived" or "stale".
        point: The inclusion level of each item.
        rounds: How many rounds it has learned from.
        mean: The mean of the released costs or rewards.
        noise_variance: Of one released number.
        counts: How much happened.
        mode, method: "local" or "central", and how it learns.
        best: The set that it takes for the best.
        retired: The items that are not offered any more.
        holdout: What it earns against a fixed set, if a share of decisions is held out.
    """

    name: str
    epoch: int
    feedback: str
    items: tuple[Hashable, ...]
    epsilon: float | None
    cost_range: tuple[float, float]
    maximize: bool
    rounds_per_person: int
    population: str | None
    deadline_seconds: float
    status: str
    point: tuple[float, ...]
    rounds: int
    mean: float | None
    noise_variance: float
    counts: Counts = dataclasses.field(metadata=_by(Counts.read))
    mode: str = "local"
    method: str | None = None
    best: tuple[Hashable, ...] = ()
    holdout: HeldOut | None = dataclasses.field(default=None, metadata=_by(HeldOut.read))
    delta: float = 0.0
    retired: tuple[Hashable, ...] = ()

    @property
    def declared(self) -> dict[str, Any]:
        """What whoever randomises compares with what is pinned."""
        names = ("feedback", "mode", "epsilon", "cost_range", "rounds_per_person", "delta")
        return {name: getattr(self, name) for name in names}


@dataclasses.dataclass(frozen=True)
class History(Record):
    """What a learner was like at a moment.

    Attributes:
        at: Milliseconds since 1970.
        rounds, mean, point: As of a `Learner`.
        held_rounds, held_mean: Of the decisions that were held out.
    """

    at: int
    rounds: int
    mean: float | None
    point: tuple[float, ...]
    held_rounds: int = 0
    held_mean: float | None = None


@dataclasses.dataclass(frozen=True)
class Population(Record):
    """The privacy loss of people to all learners on them.

    Attributes:
        name: Of the population.
        limit: Of the total loss; None for no limit.
        spent: The total loss, including archived learners.
        learners: Name, epoch and epsilon of each.
        delta: With which probability somebody may lose more.
    """

    name: str
    limit: float | None
    spent: float
    learners: tuple[tuple[str, int, float], ...] = dataclasses.field(
        metadata=_by(lambda shown: tuple((each["name"], each["epoch"], each["epsilon"]) for each in shown))
    )
    delta: float = 0.0


@dataclasses.dataclass(frozen=True)
class ApiKey(Record):
    """An API key of the service. Times are milliseconds since 1970.

    Attributes:
        id, role, label: Which key, what it allows ("read", "ask_tell" or "admin"), and what it is for.
        created_at, expires_at: When; None for never, or if the service does not say.
        learners: The only ones that it is for; None for all.
        key: The key itself, when it was just made; it is shown nowhere else, and not here.
    """

    id: str
    role: str
    label: str = ""
    created_at: int | None = None
    expires_at: int | None = None
    learners: tuple[str, ...] | None = None
    key: str | None = dataclasses.field(default=None, repr=False)
