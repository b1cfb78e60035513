"""The middleware that every request passes: keys, limits, logs, metrics, and a response whatever happens.

It answers asks and tells itself: the framework would take longer than they do.
"""

from __future__ import annotations

import dataclasses
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.service.api_keys import ApiKey, ApiKeys, Role
from discreet.service.web.ask_tell import AskTellRoutes
from discreet.service.web.authentication import Authentication, require_learner, require_role
from discreet.service.web.errors import Headers, HttpError, as_http_error
from discreet.service.web.health import HEALTH
from discreet.service.web.limits import read_body
from discreet.service.web.logs import RequestLog, place_of
from discreet.service.web.metrics import Metrics
from discreet.service.web.sending import ALWAYS, send_json, send_response

_METHODS = {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}
_LEARNERS = "/v1/learners/"
_ASK_TELL = _LEARNERS + "{name}/"
_NO_ROUTE = "(none)"
#: Bytes of a body that is told with a token.
_LARGEST_OF_TOKEN = 4096

log = logging.getLogger("discreet.service")


@dataclasses.dataclass
class RequestInfo:
    """What the log says about a request."""

    status: int = 0
    route: str = _NO_ROUTE
    learner: str | None = None
    api_key: ApiKey | None = None


class ServiceMiddleware:
    """An ASGI application in front of another.

    Args:
        app: Answers everything except asks and tells.
        ask_tell: Answers those.
        api_keys: The API keys.
        metrics: Counts requests.
        requests: Logs requests.
        rate: Requests per second of one key.
        max_body: Bytes of a body.
    """

    def __init__(
        self,
        app: ASGIApp,
        ask_tell: AskTellRoutes,
        api_keys: ApiKeys,
        metrics: Metrics,
        requests: RequestLog,
        *,
        rate: float,
        max_body: int,
    ) -> None:
        self._app, self._metrics, self._requests = app, metrics, requests
        self._routes, self._ask_tell = ask_tell, {"ask": ask_tell.ask, "tell": ask_tell.tell}
        self._known = ask_tell.known
        self._max_body = max_body
        self._authentication = Authentication(api_keys, rate, ask_tell.read_token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        self._metrics.started()
        info = RequestInfo()
        try:
            await self._respond(scope, receive, send, info)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            seconds = time.perf_counter() - started if self._may_be_timed(info) else None
            self._metrics.ended(method, info.route, info.status, seconds)
            key = None if info.api_key is None else info.api_key.id
            exists = 200 <= info.status < 300 or info.learner in self._known
            learner = info.learner if exists else None  # a URL may contain anything
            self._requests.add(method, info.route, info.status, seconds, key, learner)

    def _may_be_timed(self, info: RequestInfo) -> bool:
        """Not if a function or items may have been told: how long that takes is private."""
        known = self._known.get(info.learner or "")
        return info.route != _ASK_TELL + "tell" or (known is not None and known.may_be_timed)

    async def _respond(self, scope: Scope, receive: Receive, send: Send, info: RequestInfo) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                info.status = message["status"]
            await send(message)

        try:
            await self._handle(scope, receive, watched, info)
        except Exception as error:
            found = as_http_error(error)
            if found is None:
                log.error("a request failed: %s", place_of(error))
                found = HttpError("internal_error")
            if not info.status:
                await send_json(watched, found.status, found.body, found.headers)

    async def _handle(self, scope: Scope, receive: Receive, send: Send, info: RequestInfo) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length")
        path: str = scope["path"]
        authorization = headers.get(b"authorization")
        if scope["method"] == "POST" and path.startswith(_LEARNERS) and path.endswith("/tell"):
            token = self._authentication.token(authorization)
            if token is not None:
                name = info.learner = path[len(_LEARNERS) : -len("/tell")]
                info.route = _ASK_TELL + "tell"
                body = await read_body(receive, length, _LARGEST_OF_TOKEN)
                await send_json(send, 200, await self._routes.tell_one(name, body, token))
                return
        api_key = None
        if path not in HEALTH:  # whoever sends wrong keys must not use up what health checks need
            api_key = info.api_key = await self._authentication.authenticate(authorization)
        if path.startswith(_LEARNERS):
            name, _, action = path[len(_LEARNERS) :].partition("/")
            info.learner = name
            handler = self._ask_tell.get(action)
            if handler is not None:
                info.route = _ASK_TELL + action
                if scope["method"] != "POST":
                    raise HttpError("method_not_allowed", headers=[(b"allow", b"POST")])
                require_learner(require_role(api_key, Role.ASK_TELL), name)
                body = await read_body(receive, length, self._max_body)
                await send_json(send, 200, await handler(name, body))
                return
        if api_key is None and scope["method"] not in ("GET", "HEAD") and path not in HEALTH:
            require_role(api_key, Role.READ)  # before the body is read: all such routes need a key
        has_body = length is not None or b"transfer-encoding" in headers
        body = b""
        if has_body and api_key is not None:  # no body is read without a key
            body = await read_body(receive, length, self._max_body)
        scope["api_key"] = api_key
        answer, status, sent_headers = await self._call_app(scope, _replay(body, receive), info)
        await send_response(send, status, sent_headers, answer)

    async def _call_app(
        self, scope: Scope, receive: Receive, info: RequestInfo
    ) -> tuple[bytes, int, Headers]:
        """The whole response of a route: nothing of it is sent if the route fails midway."""
        parts: list[bytes] = []
        status, headers = 0, []

        async def collect(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                status = message["status"]
                headers = [*message["headers"], *(h for h in ALWAYS if h[0] not in given)]
            else:
                parts.append(message.get("body", b""))

        try:
            await self._app(scope, receive, collect)
        finally:
            info.route = getattr(scope.get("route"), "path", _NO_ROUTE)
        return b"".join(parts), status, headers


def _replay(body: bytes, receive: Receive) -> Receive:
    """A receive that gives a body which was read already."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
