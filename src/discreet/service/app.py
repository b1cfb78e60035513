"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from discreet import dashboard
from discreet.service.learner_service import LearnerService
from discreet.service.options import MAX_BODY, RATE
from discreet.service.web import errors, models
from discreet.service.web.ask_tell import AskTellRoutes
from discreet.service.web.logs import RequestLog
from discreet.service.web.metrics import Metrics
from discreet.service.web.middleware import ServiceMiddleware
from discreet.service.web.openapi import document
from discreet.service.web.routes import add_routes, described
from discreet.service.web.watching import watch


class AsciiJson(JSONResponse):
    """JSON in ASCII, so that strings with lone surrogates can be written."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def create_app(
    service: LearnerService,
    *,
    rate: float = RATE,
    max_body: int = MAX_BODY,
    log_requests: bool = True,
    cors_origins: Sequence[str] = (),
) -> ASGIApp:
    """Create the application of a service, which it closes when it shuts down.

    Args:
        service: The learners.
        rate: Requests per second of one key, in each process; a second's worth may come at once.
        max_body: Bytes of a request's body.
        log_requests: Whether to log requests on standard error.
        cors_origins: Websites whose scripts may call the service; "*" for all.
    """
    metrics = Metrics()
    log = RequestLog(sys.stderr if log_requests else None)
    service.time_commits(metrics.committed)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(watch(service, metrics))
        yield
        watching.cancel()
        await asyncio.to_thread(service.close)
        log.flush()

    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        default_response_class=AsciiJson,
        redirect_slashes=False,
    )
    add_routes(app.router, service, metrics)
    written = AsciiJson(document(app, described()))

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response:
        return written

    for file in dashboard.files():
        _add_file(app, file)
    errors.add_handlers(app, models.FIELDS)
    served = ServiceMiddleware(
        app,
        AskTellRoutes(service, metrics),
        service.api_keys,
        metrics,
        log,
        rate=rate,
        max_body=max_body,
    )
    if not cors_origins:
        return served
    return CORSMiddleware(
        served,
        cors_origins,
        allow_methods=("GET", "POST", "PUT", "DELETE"),
        allow_headers=("Authorization", "Content-Type"),
        expose_headers=("Retry-After",),
    )


def _add_file(app: FastAPI, file: dashboard.File) -> None:
    response = Response(file.body, headers=file.headers)

    @app.api_route(file.path, methods=["GET", "HEAD"], include_in_schema=False)
    def show() -> Response:
        return response
