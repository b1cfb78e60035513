"""The JSON of requests and responses, as models. The OpenAPI document is generated from them.

Requests are checked by them; responses have fields only for what is public or released.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from discreet.privacy.guarantee import Guarantee
from discreet.service.api_keys import ApiKey, Role
from discreet.service.learner_service import MOST_DECISIONS
from discreet.service.operations import MOST_FEEDBACK
from discreet.service.records import Code
from discreet.service.views import Kind, MomentView, PopulationView
from discreet.service.web.errors import CODES

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}$", strict=True)]
ItemName = Annotated[str, Field(max_length=200, strict=True)]
ItemNumber = Annotated[int, Field(ge=-(1 << 53), le=1 << 53, strict=True)]
Item = ItemName | ItemNumber
Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
PositiveInteger = Annotated[int, Field(ge=1, le=1 << 32, strict=True)]

#: Items of a learner, and characters of a person's id.
MOST_ITEMS, LONGEST_PERSON = 10_000, 1_000


def _example(**body: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


class RequestModel(BaseModel):
    """A request body: no other fields than these."""

    model_config = ConfigDict(extra="forbid")


class HoldOut(RequestModel):
    """A set of items to show in a share of the rounds, whatever was learned."""

    set: Annotated[list[Item], Field(max_length=MOST_ITEMS)]
    share: Annotated[float, Field(gt=0, lt=1, strict=True)]


class ChangeItems(RequestModel):
    """Other items for a running learner, decided by what is public or released."""

    model_config = _example(add=["soy milk"], retire=["milk"])

    add: Annotated[list[Item], Field(max_length=MOST_ITEMS)] = Field(
        [], description="New items, or retired ones that are offered again."
    )
    retire: Annotated[list[Item], Field(max_length=MOST_ITEMS)] = Field(
        [], description="Items that are offered no more."
    )


class CreateLearner(RequestModel):
    """A new learner. All of it is public, and declared before any feedback is seen."""

    model_config = _example(
        name="till",
        feedback="bandit",
        items=["tea", "milk", "rice"],
        epsilon=1.0,
        cost_range=[0, 1],
        deadline_seconds=3600.0,
    )

    name: Name
    feedback: Kind = Field(
        description="What it learns from: the cost of the chosen set, or a whole function."
    )
    policy: Name | None = Field(
        None, description="A custom policy by the name under which the server was started with it."
    )
    items: (
        Annotated[int, Field(ge=1, le=MOST_ITEMS, strict=True)]
        | Annotated[list[Item], Field(min_length=1, max_length=MOST_ITEMS)]
    ) = Field(description="How many, or their names, all different.")
    epsilon: Annotated[float, Field(gt=0, le=1000, strict=True)] = Field(
        description="The privacy loss of one person, over all their rounds."
    )
    cost_range: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(
        description="Lowest and highest cost (or reward). Others are clipped."
    )
    maximize: Annotated[bool, Field(strict=True)] = Field(False, description="Whether large is good.")
    rounds_per_person: PositiveInteger = Field(
        1, description="How many pieces of feedback of one person count."
    )
    delta: Annotated[float, Field(ge=0, lt=1, strict=True)] | None = Field(
        None, description="For local bandits: the probability with which a person may lose more than epsilon."
    )
    mode: Literal["central", "local"] | None = Field(
        None,
        description="For bandits: whether exact sums are kept, sealed, until they are released with noise, "
        "or every cost becomes one random bit at once. Central by default.",
    )
    method: Literal["model", "worst-case", "choose", "leader", "blocks"] | None = Field(
        None, description="How it learns; by default what suits the number of items."
    )
    at_most: Annotated[int, Field(ge=0, strict=True)] | None = Field(
        None, description="The most items of a set; for the model and choose, as are the four that follow."
    )
    at_least: Annotated[int, Field(ge=0, strict=True)] | None = Field(
        None, description="The fewest items of a set."
    )
    required: Annotated[list[Item], Field(max_length=MOST_ITEMS)] | None = Field(
        None, description="Items of every set."
    )
    forbidden: Annotated[list[Item], Field(max_length=MOST_ITEMS)] | None = Field(
        None, description="Items of no set."
    )
    groups: (
        Annotated[list[Annotated[list[Item], Field(max_length=MOST_ITEMS)]], Field(max_length=MOST_ITEMS)]
        | None
    ) = Field(None, description="Items of which a set has at most one; no item may be in two groups.")
    holdout: HoldOut | None = Field(None, description="For bandits: to see what learning earns.")
    forget: PositiveNumber | None = Field(
        None, description="For the model: rounds after which a round counts half."
    )
    item_total: PositiveNumber | None = Field(
        None,
        description="For the central model: feedback also has `items`, what each brought, and this is the "
        "most, in absolute values, that all of one round bring.",
    )
    horizon: PositiveInteger | None = Field(
        None,
        description="For full information only: the number of rounds, which limits the length of blocks.",
    )
    population: Name | None = Field(None, description="The people it learns from; losses add up.")
    deadline_seconds: Annotated[
        float | None, Field(gt=0, le=315_360_000, allow_inf_nan=False, strict=True)
    ] = Field(
        None,
        description="When a decision without feedback is closed, with a neutral value: by default after an "
        "hour, after a week for learners that learn from every round by itself.",
    )


class SetLimit(RequestModel):
    """The limit of a population's total privacy loss."""

    model_config = _example(limit=3.0)

    limit: PositiveNumber | None = Field(description="null lifts the limit.")


class CreateKey(RequestModel):
    """A new API key."""

    model_config = _example(role="ask_tell", label="web", learners=["till"])

    role: Role
    label: Annotated[str, Field(pattern=r"^[ -~]{0,100}$", strict=True)] = ""
    learners: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="The only learners it sees and is used for; not for admins."
    )
    expires_at: Annotated[int, Field(ge=1, le=1 << 53, strict=True)] | None = Field(
        None, description="When it will be refused, in milliseconds since 1970."
    )


class AskRequest(RequestModel):
    """How many decisions, and among which items. All of it is public."""

    model_config = _example(count=2, request_id="basket-17")

    count: Annotated[int, Field(ge=1, le=MOST_DECISIONS, strict=True)] = Field(
        1,
        description="How many. Times the learner's items at most a million; sets of all items at most 4 MiB "
        "of JSON.",
    )
    request_id: Annotated[str, Field(pattern=r"^[!-~]{1,200}$", strict=True)] | None = Field(
        None, description="A retry with the same id gets the same decisions."
    )
    available: Annotated[list[Item], Field(max_length=MOST_ITEMS)] | None = Field(
        None, description="The items that can be chosen now; never dependent on anybody's feedback."
    )
    tokens: Annotated[bool, Field(strict=True)] = Field(
        False, description="Whether to give a token for each decision, with which a device may tell it."
    )


class TellRequest(RequestModel):
    """Feedback on a decision.

    No value of `cost`, `items`, `bit` or `function` is refused: a missing or invalid one counts as neutral.
    """

    model_config = _example(decision="0123456789abcdef0123456789abcdef", cost=0.3, person="customer-5")

    decision: Annotated[str, Field(strict=True)] = Field(description="The id of the decision.")
    cost: Any = Field(None, description="Bandits: the cost (or reward) of the set. Private.")
    items: Any = Field(
        None,
        description="Bandits with an `item_total`, beside the cost: what items of the set brought, an object "
        "from their names to numbers. Private: names that are unknown or not in the set, and what is not a "
        "number, count as 0.",
    )
    bit: Any = Field(None, description="Bandits: instead of a cost, 0 or 1 as the client randomised it.")
    function: Any = Field(None, description="Full information: a set function as JSON. Private.")
    person: Annotated[str, Field(max_length=LONGEST_PERSON, strict=True)] | None = Field(
        None, description="An opaque id of the person; only a keyed hash is stored."
    )


TellManyRequest = Annotated[list[TellRequest], Field(max_length=MOST_FEEDBACK)]

#: Fields that error messages may repeat; nested ones by their paths.
FIELDS = {name for model in (CreateLearner, ChangeItems, SetLimit, CreateKey) for name in model.model_fields}
FIELDS |= {f"holdout.{name}" for name in HoldOut.model_fields}
FIELDS |= {"since", "limit", "name", "items", "after", "search"}


class ResponseModel(BaseModel):
    """A response body, read from the attributes of a record."""

    model_config = ConfigDict(from_attributes=True)


class DecisionResponse(ResponseModel):
    """A chosen set, the id for its feedback, and the probability with which just this set was chosen."""

    id: str
    subset: list[str | int]
    probability: float
    token: str = Field("", description="Only with `tokens`: instead of an API key, to tell this decision.")


class AskResponse(ResponseModel):
    """The decisions, in order."""

    decisions: list[DecisionResponse]


class TellResponse(ResponseModel):
    """The feedback was accepted; whether it was told before, or counted, is not revealed."""

    code: Literal["accepted"]


class TellManyResponse(ResponseModel):
    """The outcome of each piece, in order."""

    codes: list[Code]


class GuaranteeResponse(ResponseModel):
    """The privacy guarantee of each person, in numbers and as text."""

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
    def of(cls, guarantee: Guarantee) -> GuaranteeResponse:
        """From a guarantee."""
        fields = {name: getattr(guarantee, name) for name in set(cls.model_fields) - {"text", "neighbours"}}
        return cls(**fields, neighbours=guarantee.neighbours.value, text=str(guarantee))


class HistoryResponse(ResponseModel):
    """Moments in order: one a minute at most."""

    history: list[MomentView]


class PopulationsResponse(ResponseModel):
    """All populations, by name."""

    populations: list[PopulationView]


@dataclasses.dataclass(frozen=True)
class NewApiKey(ApiKey):
    """A new API key, and its public part. The key is shown only this once."""

    key: str = dataclasses.field(default="", repr=False)


class KeysResponse(ResponseModel):
    """All API keys that have not been revoked, oldest first."""

    keys: list[ApiKey]


class HealthResponse(ResponseModel):
    """The server and its store answer."""

    status: Literal["ok"]


class ErrorDetail(ResponseModel):
    """A code that stays the same, and a sentence for people."""

    code: Literal[tuple(CODES)]  # type: ignore[valid-type] # generated from the table
    message: str


class ErrorResponse(ResponseModel):
    """The body of every error."""

    error: ErrorDetail
