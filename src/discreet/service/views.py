"""What is shown of learners and populations: all of it public, released, or covered by a guarantee.

These are the answers of `LearnerService`, and as JSON those of its routes.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from discreet.service.hosted_learner import HostedLearner
from discreet.storage.records import Counts, Loss, Moment, Status

Item = str | int
Kind = Literal["bandit", "full_information"]
Time = Annotated[int, Field(description="Milliseconds since 1970.")]


class View(BaseModel):
    """What is shown of something."""

    model_config = ConfigDict(frozen=True)


class HeldView(View):
    """What learning earns: rounds held out, which got a default set, beside all others.

    All means are of released values. The interval of the uplift is one of 95%.
    """

    set: tuple[Item, ...]
    share: float
    rounds: int
    mean: float | None
    learned_rounds: int
    learned_mean: float | None
    uplift: float | None = Field(description="By how much the learned sets are better.")
    low: float | None
    high: float | None


class CountsView(View):
    """How much happened: participation is not hidden."""

    asked: int
    told: int
    expired: int
    pending: int
    released: int = Field(description="Released bits.")
    ones: int = Field(description="How many of these were 1.")


class LearnerSummary(View):
    """The public view of a learner, without its items."""

    name: str
    epoch: int = Field(description="Counts restarts, from 1.")
    feedback: Kind
    policy: str | None = Field(description="A custom policy, or null for the built-in one.")
    epsilon: float | None
    cost_range: tuple[float, ...]
    maximize: bool
    rounds_per_person: int
    delta: float
    mode: str = Field(description="Central, or local: then every value is randomised by itself.")
    method: str | None
    holdout: HeldView | None
    horizon: int | None
    population: str | None
    deadline_seconds: float
    status: str = Field(
        description="active, archived, closed (replaced by a later epoch), stale (an old backup) or damaged."
    )
    created_at: Time
    generation: int
    rounds: int
    releases: int = Field(description="Released so far: bits of a bandit, or phases.")
    mean: float | None
    noise_variance: float = Field(description="Of one released number: how much of a mean is still noise.")
    counts: CountsView


class LearnerView(LearnerSummary):
    """The public view of a learner: all of it is covered by its guarantee."""

    items: tuple[Item, ...]
    retired: tuple[Item, ...] = Field(description="The items that are not offered any more.")
    point: tuple[float, ...] = Field(description="The inclusion level of each item.")
    best: tuple[Item, ...] = Field(description="The set that it takes for the best.")


class LearnerPage(View):
    """Some learners, by name."""

    learners: tuple[LearnerView, ...]
    next: str = Field(default="", description="Only if there are more: the `after` of the next page.")


class LearnerSummaryPage(View):
    """Some learners, by name, without their items."""

    learners: tuple[LearnerSummary, ...]
    next: str = Field(default="", description="Only if there are more: the `after` of the next page.")


class PopulationView(View):
    """The privacy loss of a population's people to all learners on them, including archived ones."""

    name: str
    limit: float | None = Field(description="The most that `spent` may be.")
    spent: float = Field(description="The epsilon of all learners together: the sum of theirs.")
    learners: tuple[Loss, ...] = Field(description="The share of each.")
    delta: float = Field(description="With which probability somebody may lose more: the sum of theirs.")


class MomentView(View):
    """What was released by a time, since the start: means of costs (or rewards), and levels."""

    at: Time
    rounds: int
    mean: float | None
    held_rounds: int = Field(description="Rounds held out, which the others do not count.")
    held_mean: float | None
    point: tuple[float, ...]


def learner_view(hosted: HostedLearner, counts: Counts) -> LearnerView:
    """What is shown of a learner: settings, counts and released values."""
    record, summary = hosted.record, hosted.host.summary(hosted.state)
    settings, arguments = record.settings, record.settings["arguments"]
    status = record.status.value
    if hosted.stale and record.status is Status.ACTIVE:
        status = "damaged" if hosted.damaged else "stale"
    built_in = settings["kind"] in ("bandit", "full_information")
    holdout = None
    if summary.held is not None:
        members, share = arguments["holdout"]
        holdout = HeldView(set=members, share=share, **summary.held._asdict())
    return LearnerView(
        name=record.name,
        epoch=record.epoch,
        feedback=settings["kind"] if built_in else "bandit",
        policy=None if built_in else settings["kind"],
        epsilon=summary.guarantee.epsilon,
        cost_range=tuple(arguments["cost_range"]),
        maximize=arguments.get("maximize", False),
        rounds_per_person=summary.guarantee.rounds_per_person,
        delta=summary.guarantee.delta,
        mode="local" if summary.guarantee.local else "central",
        method=arguments.get("method"),
        holdout=holdout,
        horizon=arguments.get("horizon"),
        population=record.population,
        deadline_seconds=record.deadline,
        status=status,
        created_at=record.created_at,
        generation=hosted.generation,
        rounds=summary.rounds,
        releases=summary.releases,
        mean=summary.mean,
        noise_variance=summary.noise_variance,
        counts=CountsView(**vars(counts), pending=counts.pending),
        items=tuple(settings["items"]),
        retired=tuple(settings.get("retired", ())),
        point=summary.point,
        best=summary.best,
    )


def moment_view(hosted: HostedLearner, moment: Moment) -> MomentView:
    """What was released by a time, with means instead of totals, where the learner keeps one."""
    has_mean = moment.rounds and not hosted.host.whole
    return MomentView(
        at=moment.at,
        rounds=moment.rounds,
        mean=moment.total / moment.rounds if has_mean else None,
        held_rounds=moment.held_rounds,
        held_mean=moment.held_total / moment.held_rounds if moment.held_rounds else None,
        point=tuple(np.frombuffer(moment.point, dtype="<f4").tolist()),
    )
