"""Ask and tell over HTTP. They parse their bodies themselves and wait for the service without a thread.

No value of a cost, of items, of a bit or of a function changes a response. Only the shape of a request may be
refused: fields that are missing, unknown or do not go together. An invalid value, or feedback without any
value, counts as neutral and is answered like any other.
"""

from __future__ import annotations

import asyncio
import collections
import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from discreet.errors import Archived
from discreet.service.learner_service import REQUEST_ID, LearnerService
from discreet.service.records import Choice, Code, Feedback, Outcome
from discreet.service.sealing import TellToken
from discreet.service.web.errors import HttpError
from discreet.service.web.json_bodies import read_json
from discreet.service.web.metrics import Metrics
from discreet.service.web.models import LONGEST_PERSON, AskRequest, TellRequest

_ASK_FIELDS, _TELL_FIELDS = frozenset(AskRequest.model_fields), frozenset(TellRequest.model_fields)
#: What may be told with a token.
_TOKEN_FIELDS = frozenset({"decision", "cost", "items", "bit"})
_ONE_OF = "a 'cost' (and 'items', if the learner is told them) or a 'bit'"
#: Larger bodies are parsed by a thread, so that other requests need not wait.
_LARGE = 65_536

_ACCEPTED = b'{"code":"accepted"}'

Answer = TypeVar("Answer")


class LearnerInfo(NamedTuple):
    """What never changes about a learner: kind, and whether it takes bits, or what each item brought."""

    kind: str
    local: bool
    by_item: bool

    @property
    def may_be_timed(self) -> bool:
        """Whether a tell takes as long whatever is told: not if functions are evaluated, or items named."""
        return self.kind != "full_information" and not self.by_item


class AskTellRoutes:
    """The two routes of the hot path.

    Args:
        service: Performs asks and tells.
        metrics: Counts them.
    """

    def __init__(self, service: LearnerService, metrics: Metrics) -> None:
        self._service, self._metrics = service, metrics
        self._bridge: Bridge | None = None
        self.read_token = service.token
        #: Learners that have answered; others may have to be read from the database.
        self.known: dict[str, LearnerInfo] = {}

    async def ask(self, learner: str, body: bytes) -> bytes:
        """Answer an ask: the body of a request in, that of the response out."""
        large = len(body) > _LARGE
        wanted = await asyncio.to_thread(_parse_ask, body) if large else _parse_ask(body)
        info = await self._info(learner)
        choices: list[Choice] = await self._perform(
            learner,
            info,
            lambda: self._service.submit_ask(learner, **wanted),
            fast=not large,
        )
        self._metrics.asked(learner, len(choices))
        decisions: list[dict[str, Any]] = [
            {"id": c.id, "subset": c.subset, "probability": c.probability} for c in choices
        ]
        if wanted["tokens"]:
            for decision, choice in zip(decisions, choices, strict=True):
                decision["token"] = choice.token
        return json.dumps({"decisions": decisions}, separators=(",", ":")).encode()

    async def tell(self, learner: str, body: bytes) -> bytes:
        """Learn from feedback."""
        large = len(body) > _LARGE
        told = await asyncio.to_thread(read_json, body) if large else read_json(body)
        if not isinstance(told, list):
            return await self._tell_single(learner, told, fast=not large)
        codes = await self._tell(learner, told, fast=not large)
        return json.dumps({"codes": codes}, separators=(",", ":")).encode()

    async def tell_one(self, learner: str, body: bytes, token: TellToken) -> bytes:
        """Learn from the feedback of a device on the one decision that its token is for.

        It names no person: a device must not use up somebody else's rounds. So it gets no more tokens than
        its person has rounds.
        """
        told = read_json(body)
        if not isinstance(told, dict) or not _TOKEN_FIELDS.issuperset(told):
            raise HttpError("invalid_request", f"With a token, feedback is an object with {_ONE_OF}.")
        if told.setdefault("decision", token.decision) != token.decision:
            raise HttpError("unauthorized", "This token is for another decision.")
        if not await asyncio.to_thread(self._service.is_current, learner, token.lineage):
            raise HttpError("unauthorized", "This token is for another learner, or an earlier epoch.")
        return await self._tell_single(learner, told, fast=True)

    async def _tell_single(self, learner: str, told: Any, *, fast: bool) -> bytes:
        (code,) = await self._tell(learner, [told], fast=fast)
        if code != Code.ACCEPTED:
            raise HttpError(code)
        return _ACCEPTED

    async def _tell(self, learner: str, told: list[Any], *, fast: bool) -> list[str]:
        info = await self._info(learner)
        outcomes: list[Outcome] = await self._perform(
            learner,
            info,
            lambda: self._service.submit_tell(learner, [_parse_tell(piece, info) for piece in told]),
            fast=fast and info.kind != "full_information",  # functions take time to evaluate
        )
        codes = [outcome.code.value for outcome in outcomes]
        for code, count in collections.Counter(codes).items():
            self._metrics.told(learner, code, count)
        return codes

    async def _info(self, learner: str) -> LearnerInfo:
        if learner in self.known:
            return self.known[learner]
        host = (await asyncio.to_thread(self._service.registry.named, learner)).host
        return LearnerInfo("full_information" if host.whole else "bandit", host.local, host.by_item)

    async def _perform(
        self, learner: str, info: LearnerInfo, submit: Callable[[], Future[Any]], *, fast: bool
    ) -> Any:
        """The answer of the service, which is called in this thread if it does not make others wait."""
        loop = asyncio.get_running_loop()
        if self._bridge is None or self._bridge.loop is not loop:
            self._bridge = Bridge(loop)
        try:
            future = submit() if fast and learner in self.known else await asyncio.to_thread(submit)
            answer = await self._bridge.answer(future)
        except Archived:
            self.known.pop(learner, None)
            raise
        self.known[learner] = info
        return answer


class Bridge:
    """Passes answers of other threads to one event loop; all that are ready wake it once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._ready: collections.deque[tuple[asyncio.Future[Any], Future[Any]]] = collections.deque()
        self._woken = False

    def answer(self, future: Future[Answer]) -> asyncio.Future[Answer]:
        """The same answer, to be awaited."""
        awaited: asyncio.Future[Answer] = self.loop.create_future()

        def done(finished: Future[Answer]) -> None:
            self._ready.append((awaited, finished))
            if not self._woken:
                self._woken = True
                self.loop.call_soon_threadsafe(self._pass_on)

        future.add_done_callback(done)
        return awaited

    def _pass_on(self) -> None:
        self._woken = False  # first: whatever is added from now on wakes the loop again
        while self._ready:
            awaited, finished = self._ready.popleft()
            if awaited.done():  # cancelled
                continue
            error = finished.exception()
            if error is None:
                awaited.set_result(finished.result())
            else:
                awaited.set_exception(error)


def _parse_ask(body: bytes) -> dict[str, Any]:
    """The arguments of an ask; all of them are public."""
    wanted = read_json(body)
    if not isinstance(wanted, dict) or not _ASK_FIELDS.issuperset(wanted):
        fields = ", ".join(sorted(_ASK_FIELDS))
        raise HttpError("invalid_request", f"An ask is an object with some of the fields {fields}.")
    wanted = {"count": 1, "available": None, "request_id": None, "tokens": False} | wanted
    available, request_id = wanted["available"], wanted["request_id"]
    if type(wanted["count"]) is not int:
        raise HttpError("invalid_request", "The 'count' must be an integer.")
    if type(wanted["tokens"]) is not bool:
        raise HttpError("invalid_request", "The field 'tokens' must be true or false.")
    if request_id is not None and not (isinstance(request_id, str) and REQUEST_ID.fullmatch(request_id)):
        raise HttpError("invalid_request", "The 'request_id' must have 1 to 200 printable ASCII characters.")
    if available is not None and not (
        isinstance(available, list) and all(type(item) in (str, int) for item in available)
    ):
        raise HttpError("invalid_request", "The 'available' items must be a list of items.")
    return wanted


def _parse_tell(told: Any, info: LearnerInfo) -> Feedback:
    """One piece of feedback. Values are not checked, except that an invalid bit counts as no value."""
    if not isinstance(told, dict) or not isinstance(told.get("decision"), str):
        raise HttpError(
            "invalid_request", "Feedback is an object with the id of a 'decision', or a list of such objects."
        )
    if not _TELL_FIELDS.issuperset(told):
        fields = ", ".join(sorted(_TELL_FIELDS))
        raise HttpError("invalid_request", f"Feedback has no other fields than {fields}.")
    person = told.get("person")
    if person is not None and not (isinstance(person, str) and len(person) <= LONGEST_PERSON):
        raise HttpError("invalid_request", f"A 'person' is a string of at most {LONGEST_PERSON} characters.")
    decision = told["decision"]
    if "bit" not in told:
        values = {name: told[name] for name in ("cost", "items", "function") if name in told}
        if not values.keys() - {"items"}:
            values["function" if info.kind == "full_information" else "cost"] = None
        return Feedback(decision, **values, person=person)
    if not told.keys().isdisjoint({"cost", "items", "function"}):
        raise HttpError("invalid_request", "Feedback is a 'cost' (and 'items'), or a 'bit', or a 'function'.")
    bit = told["bit"]
    if not info.local:  # refused, whatever it is
        return Feedback(decision, released=0, person=person)
    if type(bit) is int and bit in (0, 1):
        return Feedback(decision, released=bit, person=person)
    return Feedback(decision, cost=None, person=person)
