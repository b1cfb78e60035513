"""All routes but ask and tell: making learners and looking at them, populations, keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from discreet.service.bearers import Role
from discreet.service.desk import Desk
from discreet.service.registry import answer_bytes, set_bytes
from discreet.service.web import answers, requests
from discreet.service.web.gate import allowed
from discreet.service.web.memory import COPIES, Held
from discreet.service.web.metrics import Metrics
from discreet.service.web.openapi import BODY, KEY, errors

LearnerName = Annotated[str, Path(description="The learner's name.", examples=["till"])]
#: Latest time that may be asked for, in milliseconds since 1970.
_LATEST = 1 << 53


def needs(role: Role) -> Any:
    """A dependency that refuses keys which do not allow what a role may do."""

    def check(request: Request) -> None:
        allowed(request.scope.get("bearer"), role)

    return Depends(check)


def add_routes(router: APIRouter, desk: Desk, metrics: Metrics) -> None:
    """Add the routes of a desk."""
    _learners(router, desk)
    _populations(router, desk)
    _keys(router, desk)
    _operations(router, desk, metrics)


def _route(
    router: APIRouter,
    role: Role | None,
    path: str,
    *codes: str,
    method: str = "GET",
    status: int = 200,
    gives: Any = None,
) -> Callable[[Any], Any]:
    """Add a route that needs a role, with the errors it may answer with."""
    secured: dict[str, Any] = {} if role is None else {"security": [{"bearer": []}], "x-role": role.value}
    return router.api_route(
        path,
        methods=[method],
        status_code=status,
        dependencies=[] if role is None else [needs(role)],
        responses=errors(*codes) if role is None else errors(*KEY, *codes),
        openapi_extra=secured,
        **({} if gives is None else {"response_model": gives}),
    )


def _learners(router: APIRouter, desk: Desk) -> None:
    one = "/v1/learners/{name}"

    cannot_be_made = ("not_found", "already_exists", "budget_exceeded")

    @_route(router, Role.ADMIN, "/v1/learners", *BODY, *cannot_be_made, method="POST", status=201)
    def create_learner(wanted: requests.NewLearner) -> answers.LearnerShown:
        """Make a learner."""
        given = wanted.model_dump(exclude_none=True, exclude_defaults=False)
        outside = {"name", "feedback", "items", "population", "deadline_seconds"}
        arguments = {name: value for name, value in given.items() if name not in outside}
        view = desk.create(
            wanted.name,
            wanted.feedback,
            wanted.items,
            arguments,
            population=wanted.population,
            deadline_seconds=wanted.deadline_seconds,
        )
        return answers.LearnerShown.of(view)

    @_route(router, Role.READ, "/v1/learners", "invalid_request")
    def list_learners(
        items: Annotated[
            bool,
            Query(description="Whether to show items and their levels; leave them out where you poll."),
        ] = True,
    ) -> answers.LearnersShown | answers.LearnersListed:
        """The latest epoch of every learner."""
        if not items:
            return answers.LearnersListed(learners=[answers.LearnerListed.of(v) for v in desk.learners()])
        return answers.LearnersShown(learners=[answers.LearnerShown.of(view) for view in desk.learners()])

    @_route(router, Role.READ, one, "not_found")
    def show_learner(name: LearnerName) -> answers.LearnerShown:
        """What may be shown of a learner."""
        return answers.LearnerShown.of(desk.learner(name))

    @_route(router, Role.ADMIN, f"{one}/archive", "not_found", method="POST")
    def archive_learner(name: LearnerName) -> answers.LearnerShown:
        """End a learner, after folding in what was told. Its loss stays counted."""
        return answers.LearnerShown.of(desk.archive(name))

    @_route(router, Role.ADMIN, f"{one}/restart", "not_found", "archived", "budget_exceeded", method="POST")
    def restart_learner(name: LearnerName) -> answers.LearnerShown:
        """Close a learner's epoch and start the next from its last point; its epsilon is spent once more."""
        return answers.LearnerShown.of(desk.restart(name))

    @_route(router, Role.READ, f"{one}/guarantee", "not_found")
    def show_guarantee(name: LearnerName) -> answers.GuaranteeShown:
        """What is promised to each person."""
        return answers.GuaranteeShown.of(desk.guarantee(name))

    @_route(router, Role.READ, f"{one}/minutes", "invalid_request", "not_found")
    def show_minutes(
        name: LearnerName,
        since: Annotated[int, Query(ge=0, le=_LATEST, description="Milliseconds since 1970.")] = 0,
    ) -> answers.MinutesShown:
        """What happened minute by minute: counts, and means of what was released."""
        return answers.MinutesShown(
            minutes=[answers.MinuteShown.of(view) for view in desk.minutes(name, since)]
        )

    @_route(router, Role.READ, f"{one}/recent", "invalid_request", "not_found", gives=answers.RecentsShown)
    async def show_recent(
        request: Request, name: LearnerName, most: Annotated[int, Query(ge=1, le=1000)] = 50
    ) -> Response:
        """The sets chosen lately, latest first, without their ids; as many as fit into one ask."""

        def expected() -> int:
            return COPIES * answer_bytes(most, set_bytes(desk.learner(name).items))

        def written() -> Response:
            recent = [{"asked_at": each.asked_at, "subset": each.subset} for each in desk.recent(name, most)]
            body = json.dumps({"recent": recent}, separators=(",", ":"))
            return Response(body, media_type="application/json")

        held: Held = request.scope["held"]
        held.to(await asyncio.to_thread(expected))
        return await asyncio.to_thread(written)


def _populations(router: APIRouter, desk: Desk) -> None:
    @_route(router, Role.READ, "/v1/populations")
    def list_populations() -> answers.PopulationsShown:
        """All populations, and what their people may lose."""
        views = desk.populations()
        return answers.PopulationsShown(populations=[answers.PopulationShown.of(view) for view in views])

    @_route(router, Role.READ, "/v1/populations/{name}", "not_found")
    def show_population(name: str) -> answers.PopulationShown:
        """What the people of a population may lose, and to whom."""
        return answers.PopulationShown.of(desk.population(name))

    @_route(router, Role.ADMIN, "/v1/populations/{name}", *BODY, method="PUT")
    def set_population(name: requests.Name, wanted: requests.NewLimit) -> answers.PopulationShown:
        """Make a population, or change what its people may lose in all."""
        return answers.PopulationShown.of(desk.set_population(name, wanted.limit))


def _keys(router: APIRouter, desk: Desk) -> None:
    @_route(router, Role.ADMIN, "/v1/keys", *BODY, method="POST", status=201)
    def create_key(wanted: requests.NewKey) -> answers.KeyMade:
        """Make a bearer key. It is shown this once."""
        bearer, key = desk.bearers.create(wanted.role, wanted.label)
        return answers.KeyMade(**answers.KeyShown.of(bearer).model_dump(), key=key)

    @_route(router, Role.ADMIN, "/v1/keys")
    def list_keys() -> answers.KeysShown:
        """The keys that have not been revoked."""
        return answers.KeysShown(keys=[answers.KeyShown.of(bearer) for bearer in desk.bearers.listed()])

    @_route(router, Role.ADMIN, "/v1/keys/{key_id}", "invalid_request", "not_found", method="DELETE")
    def revoke_key(key_id: str) -> answers.KeyShown:
        """Revoke a key. Other server processes notice within three seconds."""
        return answers.KeyShown.of(desk.bearers.revoke(key_id))


def _operations(router: APIRouter, desk: Desk, metrics: Metrics) -> None:
    @_route(router, None, "/healthz")
    def health() -> answers.Health:
        """Whether the server and its store answer."""
        desk.bearers.refresh()
        return answers.Health(status="ok")

    @router.get(
        "/metrics",
        dependencies=[needs(Role.READ)],
        responses=errors(*KEY) | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        response_class=Response,
        openapi_extra={"security": [{"bearer": []}], "x-role": Role.READ.value},
    )
    def show_metrics() -> Response:
        """Counts and times for Prometheus."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")
