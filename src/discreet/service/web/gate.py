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

from discreet.learners.detached import DetachedBandit
from discreet.service.bearers import Bearer, Bearers, Role
from discreet.service.web.hot import Hot
from discreet.service.web.limits import Rates, whole_body
from discreet.service.web.logs import RequestLog, place_of
from discreet.service.web.memory import Held, Memory
from discreet.service.web.metrics import Metrics
from discreet.service.web.problems import Headers, Problem, as_problem
from discreet.service.web.sending import ALWAYS, deliver, respond

#: Seconds after which keys are read again, where other processes may have changed them: in passing, and
#: before anything else is done.
_REFRESH, _OLDEST = 1.0, 3.0
_METHODS = {"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"}
_LEARNERS = "/v1/learners/"
_HOT = _LEARNERS + "{name}/"
_NOWHERE = "(none)"
#: Whoever has no key shares one bucket.
_NOBODY = ""

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
        self._rates, self._most, self._memory = Rates(rate), most, Memory(most)
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
            seconds = time.perf_counter() - began if self._may_be_timed(noted) else None
            self._metrics.ended(method, noted.route, noted.status, seconds)
            key = None if noted.bearer is None else noted.bearer.id
            exists = 200 <= noted.status < 300 or noted.learner in self._known
            learner = noted.learner if exists else None  # anything may stand in an address
            self._requests.add(method, noted.route, noted.status, seconds, key, learner)

    def _may_be_timed(self, noted: Noted) -> bool:
        """Not if a function may have been told: how long it takes to evaluate is private."""
        known = self._known.get(noted.learner or "")
        return noted.route != _HOT + "tell" or (known is not None and known.kind == DetachedBandit.kind)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, noted: Noted) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                noted.status = message["status"]
            await send(message)

        try:
            with self._memory.held() as held:
                await self._let_in(scope, receive, watched, noted, held)
        except Exception as error:
            problem = as_problem(error)
            if problem is None:
                log.error("a request failed: %s", place_of(error))
                problem = Problem("internal_error")
            if not noted.status:
                await respond(watched, problem.status, problem.body, problem.headers)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, noted: Noted, held: Held) -> None:
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
                noted.route = _HOT + action
                if scope["method"] != "POST":
                    raise Problem("method_not_allowed", headers=[(b"allow", b"POST")])
                allowed(bearer, Role.ASK_TELL)
                # No name for the body: it is not kept while the answer is sent.
                answer = await handler(name, await whole_body(receive, length, self._most, held), held)
                held.to(len(answer), done=True)
                await respond(send, 200, answer)
                return
        if bearer is None and scope["method"] not in ("GET", "HEAD"):
            allowed(bearer, Role.READ)  # before anything is read: no such route is open to anybody
        brings = bearer is not None and (chunked or length is not None)  # whoever has no key is not read
        body = await whole_body(receive, length, self._most, held) if brings else b""
        scope["bearer"], scope["held"] = bearer, held
        answer, status, headers = await self._made(scope, _again(body, receive), noted)
        del body
        # What changed something is said in any case.
        held.to(len(answer), done=scope["method"] not in ("GET", "HEAD"))
        await deliver(send, status, headers, answer)

    async def _made(self, scope: Scope, receive: Receive, noted: Noted) -> tuple[bytes, int, Headers]:
        """What a route answers, with its status and headers; sent when the route has let go of the rest."""
        parts: list[bytes] = []
        status, headers = 0, []

        async def kept(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                status = message["status"]
                headers = [*message["headers"], *(h for h in ALWAYS if h[0] not in given)]
            else:
                parts.append(message.get("body", b""))

        try:
            await self._inner(scope, receive, kept)
        finally:
            noted.route = getattr(scope.get("route"), "path", _NOWHERE)
        return b"".join(parts), status, headers

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
