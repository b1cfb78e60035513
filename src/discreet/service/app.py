"""The service as an ASGI application: `create_app(desk, settings)`."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp

from discreet import dashboard
from discreet.service.desk import Desk
from discreet.service.web import complaints
from discreet.service.web.gate import Gate
from discreet.service.web.hot import Hot
from discreet.service.web.logs import RequestLog
from discreet.service.web.metrics import Metrics
from discreet.service.web.openapi import document
from discreet.service.web.reference import reference
from discreet.service.web.routes import add_routes

#: Requests per second of one key, and bytes of a body, unless told otherwise.
RATE, MAX_BODY = 10_000.0, 4 << 20


@dataclasses.dataclass(frozen=True)
class Settings:
    """What can be set.

    Attributes:
        rate: Requests per second of one key, in each process; a second's worth may come at once.
        max_body: Bytes of a request's body.
        log_requests: Whether each request is a line on standard error.
    """

    rate: float = RATE
    max_body: int = MAX_BODY
    log_requests: bool = True


class JsonAnswer(JSONResponse):
    """JSON in ASCII: strings that are no valid text can be written as well."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def create_app(desk: Desk, settings: Settings | None = None) -> ASGIApp:
    """An application that serves a desk, which it closes when it shuts down.

    Args:
        desk: The learners.
        settings: Limits.
    """
    wanted = settings or Settings()
    metrics = Metrics()
    log = RequestLog(sys.stderr if wanted.log_requests else None)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(desk.close)
        log.flush()

    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        default_response_class=JsonAnswer,
        redirect_slashes=False,
    )
    add_routes(app.router, desk, metrics)
    described = document(app)
    written, page = JsonAnswer(described), reference(described)

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response:
        return written

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(
            page, headers={"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
        )

    for file in dashboard.files():
        _add_file(app, file)
    complaints.add_to(app)
    return Gate(
        app,
        Hot(desk, metrics),
        desk.bearers,
        metrics,
        log,
        rate=wanted.rate,
        most=wanted.max_body,
    )


def _add_file(app: FastAPI, file: dashboard.File) -> None:
    answer = Response(file.body, headers=file.headers)

    @app.api_route(file.path, methods=["GET", "HEAD"], include_in_schema=False)
    def show() -> Response:
        return answer
