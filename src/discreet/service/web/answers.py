"""What routes give, as models: only what is public or released has a field."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from discreet.privacy.guarantee import Guarantee
from discreet.service.bearers import Bearer, Role
from discreet.service.records import Code, LearnerView, MinuteView, PopulationView, RecentChoice
from discreet.service.web.problems import CODES
from discreet.service.web.requests import Kind
from discreet.storage.records import Counts


class DecisionShown(BaseModel):
    """A chosen set, and the id under which to tell what it cost."""

    id: str
    subset: list[str | int]


class AskAnswer(BaseModel):
    """The decisions, in order."""

    decisions: list[DecisionShown]


class TellAnswer(BaseModel):
    """The feedback was accepted; whether it had been told before, or counted, is not said."""

    code: Literal["accepted"]


class TellManyAnswer(BaseModel):
    """What became of each piece, in order."""

    codes: list[Code]


class GuaranteeShown(BaseModel):
    """What is promised to each person, in figures and in words."""

    epsilon: float | None
    delta: float
    rho: float | None
    neighbours: str
    rounds_per_person: int
    local: bool
    horizon: int | None
    private: bool
    reason: str
    proof: str
    text: str

    @classmethod
    def of(cls, promise: Guarantee) -> GuaranteeShown:
        """From the promise itself."""
        names = set(cls.model_fields) - {"text", "neighbours"}
        figures = {name: getattr(promise, name) for name in names}
        return cls(**figures, neighbours=promise.neighbours.value, text=str(promise))


class CountsShown(BaseModel):
    """How much happened: participation is not hidden."""

    asked: int
    told: int
    expired: int
    pending: int

    @classmethod
    def of(cls, counts: Counts) -> CountsShown:
        """From what a store counts."""
        return cls(asked=counts.asked, told=counts.told, expired=counts.expired, pending=counts.pending)


class LearnerListed(BaseModel):
    """What may be shown of a learner, without what is as long as its items."""

    name: str
    epoch: int
    feedback: Kind
    epsilon: float | None
    cost_range: list[float]
    maximize: bool
    rounds_per_person: int
    method: str | None
    horizon: int | None
    gradient_bound: float | None
    population: str | None
    deadline_seconds: float
    status: str
    created_at: int = Field(description="Milliseconds since 1970.")
    generation: int
    rounds: int
    releases: int = Field(description="Released so far: bits of a bandit, blocks, or rounds of a tree.")
    mean: float | None
    noise_variance: float = Field(description="Of one released number: how much of a mean is still noise.")
    counts: CountsShown

    @classmethod
    def of(cls, view: LearnerView, **more: Any) -> Self:
        """From the desk's view."""
        summary, arguments = view.summary, view.arguments
        full = view.kind == "full_information"
        return cls(
            name=view.name,
            epoch=view.epoch,
            feedback=view.kind,  # type: ignore[arg-type] # one of the two
            epsilon=summary.guarantee.epsilon,
            cost_range=arguments["cost_range"],
            maximize=arguments.get("maximize", False),
            rounds_per_person=summary.guarantee.rounds_per_person,
            method=arguments.get("method", "batched") if full else None,
            horizon=arguments.get("horizon"),
            gradient_bound=arguments.get("gradient_bound"),
            population=view.population,
            deadline_seconds=view.deadline_seconds,
            status=view.status,
            created_at=view.created_at,
            generation=view.generation,
            rounds=summary.rounds,
            releases=summary.releases,
            mean=summary.mean,
            noise_variance=summary.noise_variance,
            counts=CountsShown.of(view.counts),
            **more,
        )


class LearnerShown(LearnerListed):
    """What may be shown of a learner: all of it is covered by its guarantee."""

    items: list[str | int]
    point: list[float] = Field(description="The inclusion level of each item.")

    @classmethod
    def of(cls, view: LearnerView, **more: Any) -> Self:
        """From the desk's view."""
        return super().of(view, items=list(view.items), point=list(view.summary.point), **more)


class LearnersShown(BaseModel):
    """All learners, by name."""

    learners: list[LearnerShown]


class LearnersListed(BaseModel):
    """All learners, by name, without their items."""

    learners: list[LearnerListed]


class MinuteShown(BaseModel):
    """A minute (an hour after a week, a day after 90): counts, and the mean of the bits released in it."""

    start: int = Field(description="Milliseconds since 1970.")
    asked: int
    told: int
    expired: int
    released: int
    mean: float | None
    standard_error: float | None = Field(description="Of the mean, at most.")

    @classmethod
    def of(cls, view: MinuteView) -> MinuteShown:
        """From the desk's view."""
        counts = view.counts
        return cls(
            start=view.start,
            asked=counts.asked,
            told=counts.told,
            expired=counts.expired,
            released=counts.released,
            mean=view.mean,
            standard_error=view.standard_error,
        )


class MinutesShown(BaseModel):
    """What happened, in order of time."""

    minutes: list[MinuteShown]


class RecentShown(BaseModel):
    """A set that was chosen."""

    asked_at: int = Field(description="Milliseconds since 1970.")
    subset: list[str | int]

    @classmethod
    def of(cls, choice: RecentChoice) -> RecentShown:
        """From the desk's view."""
        return cls(asked_at=choice.asked_at, subset=list(choice.subset))


class RecentsShown(BaseModel):
    """Sets chosen lately, latest first."""

    recent: list[RecentShown]


class LossShown(BaseModel):
    """What one learner adds to what its people may lose."""

    name: str
    epoch: int
    epsilon: float


class PopulationShown(BaseModel):
    """What the people of a population may lose to all learners on them, archived ones included."""

    name: str
    limit: float | None
    spent: float
    learners: list[LossShown]

    @classmethod
    def of(cls, view: PopulationView) -> PopulationShown:
        """From the desk's view."""
        losses = [LossShown(name=name, epoch=epoch, epsilon=loss) for name, epoch, loss in view.learners]
        return cls(name=view.name, limit=view.limit, spent=view.spent, learners=losses)


class PopulationsShown(BaseModel):
    """All populations, by name."""

    populations: list[PopulationShown]


class KeyShown(BaseModel):
    """A key as it may be shown."""

    id: str
    role: Role
    label: str
    created_at: int = Field(description="Milliseconds since 1970.")

    @classmethod
    def of(cls, bearer: Bearer) -> KeyShown:
        """From the desk's view."""
        return cls(id=bearer.id, role=bearer.role, label=bearer.label, created_at=bearer.created_at)


class KeyMade(KeyShown):
    """A new key. This is the only time that it is shown."""

    key: str


class KeysShown(BaseModel):
    """All keys that have not been revoked, oldest first."""

    keys: list[KeyShown]


class Health(BaseModel):
    """The server answers, and its store does."""

    status: Literal["ok"]


class ErrorDetail(BaseModel):
    """A code that stays the same, and a sentence for people."""

    code: Literal[tuple(CODES)]  # type: ignore[valid-type] # made of the table
    message: str


class ErrorShown(BaseModel):
    """What every error is answered with."""

    error: ErrorDetail
