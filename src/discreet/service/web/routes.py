"""All routes except ask and tell: learners, populations, keys, health and metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from discreet.errors import InvalidArgument
from discreet.service.api_keys import ApiKey, Role
from discreet.service.learner_service import LearnerService
from discreet.service.views import LearnerPage, LearnerSummaryPage, LearnerView, PopulationView
from discreet.service.web import models
from discreet.service.web.authentication import require_learner, require_role
from discreet.service.web.health import SharedCheck
from discreet.service.web.metrics import Metrics
from discreet.service.web.openapi import BODY, KEY, errors

LearnerName = Annotated[str, Path(description="The learner's name.", examples=["till"])]
#: Latest time that may be asked for, in milliseconds since 1970.
_LATEST = 1 << 53
Since = Annotated[int, Query(ge=0, le=_LATEST, description="Milliseconds since 1970.")]
_LEARNERS = "/v1/learners"
_ONE_DECISION = models.AskRequest.model_validate({})


def needs(role: Role, path: str) -> Any:
    """A dependency that refuses keys without a role, or those for other learners."""

    async def check(request: Request) -> None:
        api_key = require_role(request.scope.get("api_key"), role)
        if path != _LEARNERS:  # the list shows only what the key may see
            learner = request.path_params["name"] if path.startswith(_LEARNERS) else None
            require_learner(api_key, learner)

    return Depends(check)


async def _by(request: Request) -> str:
    """Whose key it is, for the log."""
    api_key: ApiKey = request.scope["api_key"]
    return api_key.id


By = Annotated[str, Depends(_by)]


def add_routes(router: APIRouter, service: LearnerService, metrics: Metrics) -> None:
    """Add the routes of a service."""
    _learners(router, service)
    _populations(router, service)
    _keys(router, service)
    _operations(router, service, metrics)


def _route(
    router: APIRouter,
    role: Role | None,
    path: str,
    *codes: str,
    method: str = "GET",
    status: int = 200,
    **more: Any,
) -> Callable[[Any], Any]:
    """Add a route that needs a role and may answer with these errors."""
    secured: dict[str, Any] = {} if role is None else {"security": [{"bearer": []}], "x-role": role.value}
    return router.api_route(
        path,
        methods=[method],
        status_code=status,
        dependencies=[] if role is None else [needs(role, path)],
        responses=errors(*codes) if role is None else errors(*KEY, *codes),
        openapi_extra=secured,
        **more,
    )


def described() -> APIRouter:
    """The routes of asks and tells, for the document: the middleware answers them."""
    router, one = APIRouter(), f"{_LEARNERS}/{{name}}"
    ended = ("not_found", "archived", "stale_state")
    told = ("invalid_feedback", "unknown_decision", "foreign_decision", "expired")

    @_route(
        router,
        Role.ASK_TELL,
        f"{one}/ask",
        *BODY,
        *ended,
        "horizon_reached",
        method="POST",
        operation_id="ask",
    )
    def ask(name: LearnerName, wanted: models.AskRequest = _ONE_DECISION) -> models.AskResponse:
        """Choose sets. The answer is given once it is durable."""
        raise NotImplementedError

    @_route(router, Role.ASK_TELL, f"{one}/tell", *BODY, *ended, *told, method="POST", operation_id="tell")
    def tell(
        name: LearnerName, told: models.TellRequest | models.TellManyRequest
    ) -> models.TellResponse | models.TellManyResponse:
        """Learn from feedback: one piece, or a list of them, in any order, however late.

        The answer is given once it is durable, and is the same for any value. Telling again changes nothing.
        Of functions, pieces times items are at most a million.
        """
        raise NotImplementedError

    return router


def _learners(router: APIRouter, service: LearnerService) -> None:
    one = f"{_LEARNERS}/{{name}}"
    creation = ("not_found", "already_exists", "budget_exceeded")

    @_route(router, Role.ADMIN, _LEARNERS, *BODY, *creation, method="POST", status=201)
    def create_learner(wanted: models.CreateLearner, by: By) -> LearnerView:
        """Create a learner."""
        given = wanted.model_dump(exclude_none=True)
        outside = {"name", "feedback", "policy", "items", "population", "deadline_seconds"}
        if wanted.holdout is not None:
            given["holdout"] = [wanted.holdout.set, wanted.holdout.share]
        if wanted.policy is not None and wanted.feedback != "bandit":
            raise InvalidArgument("A custom policy learns from costs: its 'feedback' is 'bandit'.")
        return service.create(
            wanted.name,
            wanted.policy or wanted.feedback,
            wanted.items,
            {name: value for name, value in given.items() if name not in outside},
            population=wanted.population,
            deadline_seconds=wanted.deadline_seconds,
            by=by,
        )

    @_route(router, Role.READ, _LEARNERS, "invalid_request", response_model_exclude_unset=True)
    def list_learners(
        request: Request,
        items: Annotated[
            bool, Query(description="Whether to include items and their levels; leave them out when polling.")
        ] = True,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        after: Annotated[str, Query(max_length=100, description="Only names after this one.")] = "",
        search: Annotated[str, Query(max_length=100, description="Only names that contain this.")] = "",
    ) -> LearnerPage | LearnerSummaryPage:
        """The latest epochs of learners, by name: those that the key may see."""
        names = request.scope["api_key"].learners
        page = service.page(limit=limit, after=after, search=search, names=names)
        return page if items else LearnerSummaryPage.model_validate(page, from_attributes=True)

    @_route(router, Role.READ, one, "not_found")
    def show_learner(name: LearnerName) -> LearnerView:
        """The public view of a learner."""
        return service.learner(name)

    @_route(router, Role.ADMIN, f"{one}/archive", "not_found", method="POST")
    def archive_learner(name: LearnerName, by: By) -> LearnerView:
        """End a learner after applying queued feedback. Its loss stays counted."""
        return service.archive(name, by=by)

    @_route(
        router,
        Role.ADMIN,
        f"{one}/items",
        *BODY,
        "not_found",
        "archived",
        "stale_state",
        method="POST",
        operation_id="change_items",
    )
    def change_items(name: LearnerName, wanted: models.ChangeItems, by: By) -> LearnerView:
        """Add items to a running learner, or retire some. It keeps what it learned, and its budget."""
        return service.change_items(name, add=wanted.add, retire=wanted.retire, by=by)

    @_route(router, Role.ADMIN, f"{one}/restart", "not_found", "archived", "budget_exceeded", method="POST")
    def restart_learner(name: LearnerName, by: By) -> LearnerView:
        """Close a learner's epoch; the next goes on with what was learned. Its epsilon is spent once more."""
        return service.restart(name, by=by)

    @_route(router, Role.READ, f"{one}/guarantee", "not_found")
    def show_guarantee(name: LearnerName) -> models.GuaranteeResponse:
        """The privacy guarantee of each person."""
        return models.GuaranteeResponse.of(service.guarantee(name))

    @_route(router, Role.READ, f"{one}/history", "invalid_request", "not_found")
    def show_history(name: LearnerName, since: Since = 0) -> models.HistoryResponse:
        """What was released over time: from the start, or since a time."""
        return models.HistoryResponse(history=service.history(name, since))


def _populations(router: APIRouter, service: LearnerService) -> None:
    one = "/v1/populations/{name}"

    @_route(router, Role.READ, "/v1/populations")
    def list_populations() -> models.PopulationsResponse:
        """All populations, and their privacy losses."""
        return models.PopulationsResponse(populations=service.populations())

    @_route(router, Role.READ, one, "not_found")
    def show_population(name: str) -> PopulationView:
        """The privacy loss of a population's people, by learner."""
        return service.population(name)

    @_route(router, Role.ADMIN, one, *BODY, method="PUT")
    def set_population(name: models.Name, wanted: models.SetLimit, by: By) -> PopulationView:
        """Create a population, or change the limit of its people's total privacy loss."""
        return service.set_population(name, wanted.limit, by=by)


def _keys(router: APIRouter, service: LearnerService) -> None:
    one = "/v1/keys/{key_id}"

    @_route(router, Role.ADMIN, "/v1/keys", *BODY, method="POST", status=201)
    def create_key(wanted: models.CreateKey, by: By) -> models.NewApiKey:
        """Create an API key. It is shown only this once."""
        api_key, key = service.api_keys.create(
            wanted.role, wanted.label, learners=wanted.learners, expires_at=wanted.expires_at, by=by
        )
        return models.NewApiKey(**dataclasses.asdict(api_key), key=key)

    @_route(router, Role.ADMIN, "/v1/keys")
    def list_keys() -> models.KeysResponse:
        """The API keys that have not been revoked."""
        return models.KeysResponse(keys=service.api_keys.all())

    @_route(router, Role.ADMIN, one, "invalid_request", "not_found", method="DELETE")
    def revoke_key(key_id: str, by: By) -> ApiKey:
        """Revoke an API key. Other server processes notice within three seconds."""
        return service.api_keys.revoke(key_id, by=by)


def _operations(router: APIRouter, service: LearnerService, metrics: Metrics) -> None:
    ready = SharedCheck(lambda: service.ready())

    @_route(router, None, "/livez")
    async def live() -> models.HealthResponse:
        """Whether the process answers; nothing else is looked at."""
        return models.HealthResponse(status="ok")

    @_route(router, None, "/readyz")
    async def show_ready() -> models.HealthResponse:
        """Whether the store can be written: something is, once a second at most."""
        await ready()
        return models.HealthResponse(status="ok")

    @router.get(
        "/metrics",
        dependencies=[needs(Role.READ, "/metrics")],
        responses=errors(*KEY) | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        response_class=Response,
        openapi_extra={"security": [{"bearer": []}], "x-role": Role.READ.value},
    )
    def show_metrics() -> Response:
        """Metrics for Prometheus."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")
