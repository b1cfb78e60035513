"""The gate: every request passes it. Keys, limits, logs, metrics, and an answer whatever happens.

Ask and tell are answered here and do not see the routes behind the gate, which would take longer than
they do.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.service.bearers import Bearer, Bearers, Role
from discreet.service.web.hot import Hot
from discreet.service.web.limits import Rates, whole_body
from discreet.service.web.logs import RequestLog, place_of
from discreet.service.web.metrics import Metrics
from discreet.service.web.problems import Headers, Problem, as_problem

#: Seconds after which keys are read again, where other processes may have changed them: in passing, and
#: before anything else is done.
_REFRESH, _OLDEST = 1.0, 3.0
_METHODS = {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}
_LEARNERS = "/v1/learners/"
_NOWHERE = "(none)"
#: Whoever has no key shares one bucket.
_NOBODY = ""

_ALWAYS: Headers = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_JSON: Headers = [*_ALWAYS, (b"content-type", b"application/json")]

log = logging.getLogger("discreet.service")


@dataclasses.dataclass
class Noted:
    """What is known of a request for its line in the log."""

    status: int = 0
    route: str = _NOWHERE
    learner: str | None = None
    bearer: Bearer | None = None


class Gate:
    """An ASGI application in front of another.

    Args:
        inner: Answers all but asks and tells.
        hot: Answers those.
        bearers: The keys.
        metrics: Counts requests.
        requests: The log of requests.
        rate: Requests per second of one key.
        most: Bytes of a body.
    """

    def __init__(
        self,
        inner: ASGIApp,
        hot: Hot,
        bearers: Bearers,
        metrics: Metrics,
        requests: RequestLog,
        *,
        rate: float,
        most: int,
    ) -> None:
        self._inner, self._bearers, self._metrics, self._requests = inner, bearers, metrics, requests
        self._hot = {"ask": hot.ask, "tell": hot.tell}
        self._known = hot.known
        self._rates, self._most = Rates(rate), most
        self._refreshing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        began = time.perf_counter()
        self._metrics.began()
        noted = Noted()
        try:
            await self._answered(scope, receive, send, noted)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            seconds = time.perf_counter() - began
            self._metrics.ended(method, noted.route, noted.status, seconds)
            key = None if noted.bearer is None else noted.bearer.id
            exists = 200 <= noted.status < 300 or noted.learner in self._known
            learner = noted.learner if exists else None  # anything may stand in an address
            self._requests.add(method, noted.route, noted.status, seconds, key, learner)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, noted: Noted) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                noted.status = message["status"]
            await send(message)

        try:
            await self._let_in(scope, receive, watched, noted)
        except Exception as error:
            problem = as_problem(error)
            if problem is None:
                log.error("a request failed: %s", place_of(error))
                problem = Problem("internal_error")
            if not noted.status:
                await respond(watched, problem.status, problem.body, problem.headers)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, noted: Noted) -> None:
        authorization, length, chunked = None, None, False
        for name, value in scope["headers"]:
            if name == b"authorization":
                authorization = value
            elif name == b"content-length":
                length = value
            elif name == b"transfer-encoding":
                chunked = True
        bearer = noted.bearer = await self._bearer(authorization)
        self._rates.take(_NOBODY if bearer is None else bearer.id)
        path: str = scope["path"]
        if path.startswith(_LEARNERS):
            name, _, action = path[len(_LEARNERS) :].partition("/")
            noted.learner = name
            handler = self._hot.get(action)
            if handler is not None:
                noted.route = f"{_LEARNERS}{{name}}/{action}"
                if scope["method"] != "POST":
                    raise Problem("method_not_allowed", headers=[(b"allow", b"POST")])
                allowed(bearer, Role.ASK_TELL)
                body = await whole_body(receive, length, self._most)
                await respond(send, 200, await handler(name, body))
                return
        if bearer is None and scope["method"] not in ("GET", "HEAD"):
            allowed(bearer, Role.READ)  # before anything is read: no such route is open to anybody
        body = await whole_body(receive, length, self._most) if chunked or length is not None else b""
        scope["bearer"] = bearer

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in _ALWAYS if h[0] not in given)]
            await send(message)

        try:
            await self._inner(scope, _again(body, receive), dressed)
        finally:
            noted.route = getattr(scope.get("route"), "path", _NOWHERE)

    async def _bearer(self, authorization: bytes | None) -> Bearer | None:
        """Who asks; nobody without a key, or with one that is unknown."""
        if authorization is None or authorization[:7].lower() != b"bearer ":
            return None
        age = self._bearers.age
        if age > _REFRESH:
            if self._refreshing is None or self._refreshing.done():
                self._refreshing = asyncio.create_task(self._refresh())
            if age > _OLDEST:
                await asyncio.shield(self._refreshing)
        return self._bearers.known(authorization[7:].strip().decode("latin-1"))

    async def _refresh(self) -> None:
        try:
            await asyncio.to_thread(self._bearers.refresh)
            self._rates.keep_only({_NOBODY, *(bearer.id for bearer in self._bearers.held)})
        except Exception as error:  # the database is out of reach, and whatever is asked for will say so
            log.warning("bearer keys could not be read: %s", place_of(error))


def allowed(bearer: Bearer | None, role: Role) -> None:
    """Complain unless a key allows what is asked for."""
    if bearer is None:
        raise Problem("unauthorized", headers=[(b"www-authenticate", b"Bearer")])
    if not bearer.role.covers(role):
        raise Problem("forbidden", f"This needs a key with the role '{role}'.")


async def respond(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    """Answer with JSON."""
    length = (b"content-length", str(len(body)).encode())
    start = {"type": "http.response.start", "status": status, "headers": [*_JSON, length, *(headers or [])]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _again(body: bytes, receive: Receive) -> Receive:
    """A receive that gives a body which was read already."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
