"""What routes take, as models: they check what comes in, and the OpenAPI document is made of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from discreet.service.bearers import Role
from discreet.service.desk import MOST_DECISIONS, MOST_FEEDBACK
from discreet.service.web.hot import LONGEST_PERSON

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}$", strict=True)]
ItemName = Annotated[str, Field(max_length=200, strict=True)]
ItemNumber = Annotated[int, Field(ge=-(1 << 53), le=1 << 53, strict=True)]
Item = ItemName | ItemNumber
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Level = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Whole = Annotated[int, Field(ge=1, le=1 << 32, strict=True)]
Kind = Literal["bandit", "full_information"]

#: Items of a learner.
MOST_ITEMS = 10_000


def example(**body: Any) -> ConfigDict:
    """Settings of a model that show one body."""
    return ConfigDict(json_schema_extra={"examples": [body]})


class Taken(BaseModel):
    """What comes in: no other fields than these."""

    model_config = ConfigDict(extra="forbid")


class StartSet(Taken):
    """A set of items to start from."""

    set: Annotated[list[Item], Field(max_length=MOST_ITEMS)]


class NewLearner(Taken):
    """A learner to be made. All of it is public, and declared before any feedback is seen."""

    model_config = example(
        name="till",
        feedback="bandit",
        items=["tea", "milk", "rice"],
        epsilon=1.0,
        cost_range=[0, 1],
        deadline_seconds=3600.0,
    )

    name: Name
    feedback: Kind = Field(description="What it is told: the cost of the chosen set, or a whole function.")
    items: (
        Annotated[int, Field(ge=1, le=MOST_ITEMS, strict=True)]
        | Annotated[list[Item], Field(min_length=1, max_length=MOST_ITEMS)]
    ) = Field(description="How many, or their names, all different.")
    epsilon: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False, strict=True)] = Field(
        description="What one person may lose, in all their rounds."
    )
    cost_range: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(
        description="Lowest and highest cost (or reward). Others are clipped."
    )
    maximize: Annotated[bool, Field(strict=True)] = Field(False, description="Whether large is good.")
    rounds_per_person: Whole = Field(1, description="How much feedback of one person counts.")
    start: Annotated[list[Level], Field(max_length=MOST_ITEMS)] | StartSet | None = Field(
        None, description="Where to start: a level from 0 to 1 for each item, or a set of items."
    )
    method: Literal["batched", "tree"] | None = Field(None, description="For full information only.")
    horizon: Whole | None = Field(None, description="For full information only: the number of rounds.")
    gradient_bound: Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)] | None = Field(
        None, description="For full information only: a declared bound on gradients."
    )
    population: Name | None = Field(None, description="The people it learns from; losses add up.")
    deadline_seconds: Annotated[float, Field(gt=0, le=315_360_000, allow_inf_nan=False, strict=True)] = Field(
        604_800.0, description="When a decision that was not told about is closed, with a neutral value."
    )


class NewLimit(Taken):
    """What the people of a population may lose in all."""

    model_config = example(limit=3.0)

    limit: Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)] | None = None


class NewKey(Taken):
    """A key to be made."""

    model_config = example(role="ask_tell", label="web")

    role: Role
    label: Annotated[str, Field(pattern=r"^[ -~]{0,100}$", strict=True)] = ""


class AskRequest(Taken):
    """Which decisions are wanted. All of it is public."""

    model_config = example(count=2, request_id="basket-17")

    count: Annotated[int, Field(ge=1, le=MOST_DECISIONS, strict=True)] = Field(
        1,
        description="How many. Times the learner's items at most a million; of sets of all items at most "
        "4 MiB of JSON.",
    )
    request_id: Annotated[str, Field(pattern=r"^[!-~]{1,200}$", strict=True)] | None = Field(
        None, description="Names this request: a retry under the same name gets the same decisions."
    )
    available: Annotated[list[Item], Field(max_length=MOST_ITEMS)] | None = Field(
        None, description="The items that can be chosen now; never dependent on anybody's feedback."
    )


class FeedbackPiece(Taken):
    """What happened after a decision.

    No value of `cost`, `bit` or `function` is refused: what makes no sense, or is missing, counts as neutral.
    """

    model_config = example(decision="0123456789abcdef0123456789abcdef", cost=0.3, person="customer-5")

    decision: Annotated[str, Field(strict=True)] = Field(description="The id of the decision.")
    cost: Any = Field(None, description="Bandits: what the set cost (or brought in). Private.")
    bit: Any = Field(None, description="Bandits: instead of a cost, 0 or 1 as the client randomised it.")
    function: Any = Field(None, description="Full information: a set function as JSON. Private.")
    person: Annotated[str, Field(max_length=LONGEST_PERSON, strict=True)] | None = Field(
        None, description="An opaque id of the person; kept only as a keyed hash."
    )


FeedbackList = Annotated[list[FeedbackPiece], Field(max_length=MOST_FEEDBACK)]
