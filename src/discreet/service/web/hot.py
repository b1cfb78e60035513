"""Ask and tell over HTTP. They read their bodies themselves and wait for the desk without a thread.

No value of a cost, a bit or a function changes an answer. What may be refused is the shape of a request:
fields that are missing, unknown or do not go together. A field that is there with a senseless value, or a
piece of feedback with no value at all, is learnt from as a neutral value and answered like any other.
"""

from __future__ import annotations

import asyncio
import collections
import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from discreet.errors import Archived
from discreet.service.desk import REQUEST_ID, Desk
from discreet.service.records import Choice, Code, Feedback, Outcome
from discreet.service.registry import answer_bytes, set_bytes
from discreet.service.web.json_bodies import read_json
from discreet.service.web.memory import COPIES, Held
from discreet.service.web.metrics import Metrics
from discreet.service.web.problems import Problem

#: The fields of an ask, and of a piece of feedback.
ASK_FIELDS = frozenset(("count", "request_id", "available"))
FEEDBACK_FIELDS = frozenset(("decision", "cost", "bit", "function", "person"))
#: Letters of a person's id.
LONGEST_PERSON = 1000
#: Larger bodies are read by a thread, so that others need not wait for it.
_LARGE = 65_536

_ACCEPTED = b'{"code":"accepted"}'
_BITS = (0, 1)
#: What learners of each kind are told.
_VALUES = {"bandit": "cost", "full_information": "function"}

Answer = TypeVar("Answer")


class Known(NamedTuple):
    """What never changes about a learner: its kind, and the bytes of a set of all its items."""

    kind: str
    set_bytes: int


class Hot:
    """The two routes on which everything is spent.

    Args:
        desk: Answers.
        metrics: Counts.
    """

    def __init__(self, desk: Desk, metrics: Metrics) -> None:
        self._desk, self._metrics = desk, metrics
        self._bridge: Bridge | None = None
        #: Learners that have answered; others may have to be looked for in the database.
        self.known: dict[str, Known] = {}

    async def ask(self, learner: str, body: bytes, held: Held) -> bytes:
        """Choose sets."""
        large = len(body) > _LARGE
        count, available, request = await asyncio.to_thread(_asked, body) if large else _asked(body)
        known = self.known.get(learner)
        if known is None:  # to be found out in the database
            known = await asyncio.to_thread(self._look, learner)
        # Before anything is chosen: an ask that is put off has changed nothing.
        held.to(max(held.count, COPIES * answer_bytes(count, known.set_bytes)))
        chosen = await self._answer(
            learner,
            known,
            lambda: self._desk.submit_ask(learner, count, available=available, request_id=request),
            large=large,
        )
        self._metrics.asked(learner, len(chosen))
        return _choices(chosen)

    async def tell(self, learner: str, body: bytes, held: Held) -> bytes:
        """Learn from what happened. What it takes is counted with its body."""
        large = len(body) > _LARGE
        told = await asyncio.to_thread(read_json, body) if large else read_json(body)
        many = isinstance(told, list)
        pieces = told if many else [told]
        known = self.known.get(learner)
        if known is None:  # to be found out in the database
            known = await asyncio.to_thread(self._look, learner)
        kind = known.kind
        outcomes: list[Outcome] = await self._answer(
            learner,
            known,
            lambda: self._desk.submit_tell(learner, [_feedback(piece, kind) for piece in pieces]),
            large=large,
        )
        if not many:
            code = outcomes[0].code
            self._metrics.told(learner, code.value)
            if code is not Code.ACCEPTED:
                raise Problem(code.value)
            return _ACCEPTED
        codes = [outcome.code.value for outcome in outcomes]
        for name, count in collections.Counter(codes).items():
            self._metrics.told(learner, name, count)
        return json.dumps({"codes": codes}, separators=(",", ":")).encode()

    def _look(self, learner: str) -> Known:
        view = self._desk.learner(learner)
        return Known(view.kind, set_bytes(view.items))

    async def _answer(
        self, learner: str, known: Known, submit: Callable[[], Future[Any]], *, large: bool
    ) -> Any:
        """What the desk answers. It is called by this thread where it does not make others wait."""
        loop = asyncio.get_running_loop()
        if self._bridge is None or self._bridge.loop is not loop:
            self._bridge = Bridge(loop)
        try:
            if learner in self.known and not large:
                return await self._bridge.answer(submit())
            answer = await self._bridge.answer(await asyncio.to_thread(submit))
        except Archived:
            self.known.pop(learner, None)
            raise
        self.known[learner] = known
        return answer


class Bridge:
    """Answers of the desk's threads, for one event loop: all that are ready wake it once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._ready: collections.deque[tuple[asyncio.Future[Any], Future[Any]]] = collections.deque()
        self._woken = False

    def answer(self, future: Future[Answer]) -> asyncio.Future[Answer]:
        """The same answer, to be awaited."""
        waiting: asyncio.Future[Answer] = self.loop.create_future()

        def done(finished: Future[Answer]) -> None:
            self._ready.append((waiting, finished))
            if not self._woken:
                self._woken = True
                self.loop.call_soon_threadsafe(self._pass_on)

        future.add_done_callback(done)
        return waiting

    def _pass_on(self) -> None:
        self._woken = False  # first: whatever is added from now on wakes again
        while self._ready:
            waiting, finished = self._ready.popleft()
            if waiting.done():  # nobody waits any more
                continue
            error = finished.exception()
            if error is None:
                waiting.set_result(finished.result())
            else:
                waiting.set_exception(error)


def _asked(body: bytes) -> tuple[int, list[Any] | None, str | None]:
    """The arguments of an ask; all of them are public."""
    wanted = read_json(body)
    if not isinstance(wanted, dict) or not ASK_FIELDS.issuperset(wanted):
        raise Problem("invalid_request", f"An ask is an object with some of {', '.join(sorted(ASK_FIELDS))}.")
    count, available, request = wanted.get("count", 1), wanted.get("available"), wanted.get("request_id")
    if type(count) is not int:
        raise Problem("invalid_request", "The 'count' must be a whole number.")
    if request is not None and not (isinstance(request, str) and REQUEST_ID.fullmatch(request)):
        raise Problem("invalid_request", "The 'request_id' must have 1 to 200 printable ASCII letters.")
    if available is not None and not (
        isinstance(available, list) and all(type(item) in (str, int) for item in available)
    ):
        raise Problem("invalid_request", "The 'available' items must be a list of items.")
    return count, available, request


def _feedback(told: Any, kind: str) -> Feedback:
    """One piece of feedback. Values are not looked at, but for a bit: what is none counts as no value."""
    if not isinstance(told, dict) or not isinstance(told.get("decision"), str):
        raise Problem(
            "invalid_request", "Feedback is an object with the id of a 'decision', or a list of such."
        )
    if not FEEDBACK_FIELDS.issuperset(told):
        fields = ", ".join(sorted(FEEDBACK_FIELDS))
        raise Problem("invalid_request", f"Feedback has no other fields than {fields}.")
    person = told.get("person")
    if person is not None and not (isinstance(person, str) and len(person) <= LONGEST_PERSON):
        raise Problem("invalid_request", "A 'person' is a string of at most 1000 letters.")
    decision = told["decision"]
    if "bit" not in told:
        values = {name: told[name] for name in ("cost", "function") if name in told}
        return Feedback(decision, **(values or {_VALUES[kind]: None}), person=person)
    if "cost" in told or "function" in told:
        raise Problem("invalid_request", "Feedback is a 'cost', or a 'bit', or a 'function'.")
    bit = told["bit"]
    if type(bit) is int and bit in _BITS:
        return Feedback(decision, released=bit, person=person)
    return Feedback(decision, cost=None, person=person)


def _choices(chosen: list[Choice]) -> bytes:
    decisions = [{"id": choice.id, "subset": choice.subset} for choice in chosen]
    return json.dumps({"decisions": decisions}, separators=(",", ":")).encode()
