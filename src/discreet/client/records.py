"""Records of the clients."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any, Self

from discreet.errors import InvalidType


class Missing:
    """Stands for an argument that was not given; None is a value, which counts as neutral."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


@dataclasses.dataclass(frozen=True)
class Decision:
    """A chosen set.

    Attributes:
        id: For its feedback.
        subset: The items.
        learner: The learner's name.

    Examples:
        >>> decision = Decision("d-1", frozenset({"tea"}), learner="shop")
        >>> "tea" in decision.subset
        True
    """

    id: str
    subset: frozenset[Hashable]
    learner: str


@dataclasses.dataclass(frozen=True, repr=False)
class Feedback:
    """Feedback on a decision, for `tell_many`: exactly one of cost, released and function.

    Attributes:
        decision: The decision or its id.
        cost: Bandits: the cost, or the reward. Private.
        released: Bandits: the bit, if you randomised it yourself.
        function: Full information: a set function, or its JSON description. Private.
        person: An opaque id; the service stores only a keyed hash.

    Examples:
        >>> Feedback("d-1", 0.7, person="ann")  # nothing private is shown
        Feedback('d-1', ...)
    """

    decision: Decision | str
    cost: Any = MISSING
    _: dataclasses.KW_ONLY
    released: int | None = None
    function: Any = MISSING
    person: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.cost, Decision) or not isinstance(self.decision, Decision | str):
            raise InvalidType("Feedback has the decision (or its id) first and the cost second.")

    @property
    def id(self) -> str:
        """Of the decision."""
        return self.decision.id if isinstance(self.decision, Decision) else self.decision

    def __repr__(self) -> str:
        return f"Feedback({self.id!r}, ...)"


@dataclasses.dataclass(frozen=True)
class Counts:
    """How much happened to a learner.

    Examples:
        >>> counts = Counts(asked=10, told=7, expired=1, pending=2)
        >>> counts.told / counts.asked
        0.7
    """

    asked: int
    told: int
    expired: int
    pending: int


@dataclasses.dataclass(frozen=True)
class Learner:
    """The public view of a learner: all of it is covered by its guarantee.

    Attributes:
        name, epoch: Which one; a restart begins the next epoch.
        feedback: "bandit" or "full_information".
        items: Their names, in order.
        epsilon, rounds_per_person: The privacy loss of one person, over so many rounds.
        cost_range, maximize: The declared range, and whether large is good.
        population: The people it learns from.
        deadline_seconds: When a decision without feedback is closed.
        status: "active", "archived" or "stale".
        point: The inclusion level of each item.
        rounds: How many rounds it has learned from.
        mean: The mean of the released costs or rewards.
        noise_variance: Of one released number.
        counts: How much happened.

    Examples:
        >>> counts = Counts(asked=121, told=120, expired=0, pending=1)
        >>> learner = Learner(
        ...     "shop", 1, "bandit", ("tea", "milk"), 1.0, (0.0, 1.0), False, 1, None, 3600.0, "active",
        ...     point=(0.9, 0.2), rounds=120, mean=0.4, noise_variance=1.2, counts=counts,
        ... )
        >>> learner.chosen
        frozenset({'tea'})
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
    counts: Counts

    @property
    def chosen(self) -> frozenset[Hashable]:
        """The items with a level above 1/2."""
        return frozenset(item for item, level in zip(self.items, self.point, strict=True) if level > 0.5)

    @classmethod
    def read(cls, shown: dict[str, Any]) -> Self:
        """From a response; fields that are new to this client are ignored."""
        known = {field.name: shown[field.name] for field in dataclasses.fields(cls)}
        lists = {name: tuple(known[name]) for name in ("items", "cost_range", "point")}
        counts = {field.name: shown["counts"][field.name] for field in dataclasses.fields(Counts)}
        return cls(**known | lists | {"counts": Counts(**counts)})


@dataclasses.dataclass(frozen=True)
class Population:
    """The privacy loss of people to all learners on them.

    Attributes:
        name: Of the population.
        limit: Of the total loss; None for no limit.
        spent: The total loss, including archived learners.
        learners: Name, epoch and epsilon of each.

    Examples:
        >>> learners = (("shop", 1, 1.0), ("mail", 1, 0.5))
        >>> people = Population("customers", limit=3.0, spent=1.5, learners=learners)
        >>> people.limit - people.spent  # for learners to come
        1.5
    """

    name: str
    limit: float | None
    spent: float
    learners: tuple[tuple[str, int, float], ...]

    @classmethod
    def read(cls, shown: dict[str, Any]) -> Self:
        """From a response."""
        learners = tuple((each["name"], each["epoch"], each["epsilon"]) for each in shown["learners"])
        return cls(shown["name"], shown["limit"], shown["spent"], learners)
