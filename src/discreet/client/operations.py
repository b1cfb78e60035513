"""Every operation of a client, as steps: what is sent, and how the response is read."""

from __future__ import annotations

import dataclasses
import json
import math
import secrets
import time
import urllib.parse
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

from discreet import checks
from discreet.client.errors import ServiceError, error_for
from discreet.client.pinned import Bits, Pinned
from discreet.client.records import MISSING, Decision, Feedback, Learner, Population
from discreet.client.retrying import Steps, Timeouts, answer
from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy.grid import number_or_nan
from discreet.privacy.guarantee import Guarantee, Neighbours

#: Pieces of feedback in one request, fewer of functions, and bytes: the service limits pieces times items.
_MOST_PIECES, _MOST_FUNCTIONS, _MOST_BYTES = 10_000, 100, 1 << 20
_LONGEST_PERSON = 1000
#: Seconds after which the service's declaration of a learner is compared again with what is pinned.
_CHECK_EVERY = 300.0
_ACCEPTED = "accepted"

Read = TypeVar("Read")


class Operations:
    """The operations. Their arguments are documented in `Client`.

    Args:
        timeouts: How long to retry.
        randomize: What is pinned, if costs are randomised here.
    """

    def __init__(self, timeouts: Timeouts, randomize: Pinned | Mapping[str, Pinned] | None) -> None:
        self._timeouts = timeouts
        self._bits = None if randomize is None else Bits(randomize)
        self._checked: dict[str, float] = {}

    @overload
    def ask(
        self,
        learner: str,
        count: None = None,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Steps[Decision]: ...

    @overload
    def ask(
        self,
        learner: str,
        count: int,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Steps[list[Decision]]: ...

    def ask(
        self,
        learner: str,
        count: int | None = None,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Steps[Any]:
        """See `Client.ask`."""
        wanted: dict[str, Any] = {"count": 1 if count is None else checks.integer("ask", "count", count, 1)}
        wanted["request_id"] = secrets.token_hex(16) if request_id is None else request_id
        if available is not None:
            wanted["available"] = list(available)
        shown = yield from self._sent(f"{_path(learner)}/ask", _json(wanted), quote=True)  # it is all public
        decisions = _read(
            lambda: [Decision(each["id"], frozenset(each["subset"]), learner) for each in shown["decisions"]]
        )
        if len(decisions) != wanted["count"]:
            raise _not_the_service()
        return decisions[0] if count is None else decisions

    def tell(
        self,
        learner: str,
        decision: Decision | str,
        cost: Any = MISSING,
        *,
        released: int | None = None,
        function: Any = MISSING,
        person: str | None = None,
    ) -> Steps[None]:
        """See `Client.tell`."""
        feedback = Feedback(decision, cost, released=released, function=function, person=person)
        body = (yield from self._written(learner, [feedback]))[0]
        shown = yield from self._sent(f"{_path(learner)}/tell", body)
        if _read(lambda: shown["code"]) != _ACCEPTED:
            raise _not_the_service()

    def tell_many(
        self, learner: str, feedback: Iterable[Feedback | tuple[Decision | str, Any]]
    ) -> Steps[list[str]]:
        """See `Client.tell_many`."""
        listed = [_as_feedback(each) for each in feedback]
        functions = any(each.function is not MISSING for each in listed)
        pieces = yield from self._written(learner, listed)
        codes: list[str] = []
        for group in _groups(pieces, _MOST_FUNCTIONS if functions else _MOST_PIECES):
            shown = yield from self._sent(f"{_path(learner)}/tell", b"[" + b",".join(group) + b"]")
            codes += _codes(shown, len(group))
        return codes

    def create_learner(
        self,
        /,
        name: str,
        feedback: str,
        items: int | Sequence[Hashable],
        *,
        epsilon: float,
        cost_range: tuple[float, float],
        **others: Any,
    ) -> Steps[Learner]:
        """See `Client.create_learner`. After a lost response the existing learner is compared."""
        given = {"feedback": feedback, "items": items, "epsilon": epsilon, "cost_range": cost_range} | others
        wanted = {"name": name} | {key: value for key, value in given.items() if value is not None}
        try:
            shown = yield from self._sent("/v1/learners", _json(wanted), quote=True)
        except ServiceError as error:
            if error.code != "already_exists" or error.attempts == 1:
                raise
            taken = error
        else:
            return _read(lambda: Learner.read(shown))
        found = yield from self.learner(name)
        if found.counts.asked == 0 and _fits(found, wanted):
            return found
        raise error_for(taken.code, taken.status, taken.attempts)

    def learners(self) -> Steps[list[Learner]]:
        """The latest epoch of every learner."""
        shown = yield from self._got("/v1/learners")
        return _read(lambda: [Learner.read(each) for each in shown["learners"]])

    def learner(self, name: str) -> Steps[Learner]:
        """The public view of a learner."""
        shown = yield from self._got(_path(name))
        return _read(lambda: Learner.read(shown))

    def guarantee(self, name: str) -> Steps[Guarantee]:
        """The privacy guarantee of a learner."""
        shown = yield from self._got(f"{_path(name)}/guarantee")
        names = {field.name for field in dataclasses.fields(Guarantee)}
        figures = _read(lambda: {key: value for key, value in shown.items() if key in names})
        return _read(lambda: Guarantee(**figures | {"neighbours": Neighbours(figures["neighbours"])}))

    def archive(self, name: str) -> Steps[Learner]:
        """End a learner; ending it twice is the same."""
        shown = yield from self._sent(f"{_path(name)}/archive", b"", quote=True)
        return _read(lambda: Learner.read(shown))

    def populations(self) -> Steps[list[Population]]:
        """All populations, and their privacy losses."""
        shown = yield from self._got("/v1/populations")
        return _read(lambda: [Population.read(each) for each in shown["populations"]])

    def population(self, name: str) -> Steps[Population]:
        """The privacy loss of a population's people, by learner."""
        shown = yield from self._got(_population(name))
        return _read(lambda: Population.read(shown))

    def set_population(self, name: str, limit: float | None = None) -> Steps[Population]:
        """Create a population, or change its limit."""
        content = _json({"limit": limit})
        shown = yield from answer(self._timeouts, "PUT", _population(name), content, quote=True)
        return _read(lambda: Population.read(shown))

    def _got(self, path: str) -> Steps[Any]:
        return (yield from answer(self._timeouts, "GET", path, quote=True))

    def _sent(self, path: str, content: bytes, *, quote: bool = False) -> Steps[Any]:
        return (yield from answer(self._timeouts, "POST", path, content, quote=quote))

    def _written(self, learner: str, feedback: Sequence[Feedback]) -> Steps[list[bytes]]:
        """The JSON of each piece, with a bit instead of a cost if costs are randomised here."""
        for each in feedback:
            _check_shape(each)
            if self._bits is not None and each.released is not None:
                self._bits.require_fitting(learner, each.released)
        if self._bits is not None and any(each.released is None for each in feedback):
            if any(each.function is not MISSING for each in feedback):
                raise InvalidArgument("This client randomises: it sends bits, not functions.")
            yield from self._agreed(learner, self._bits.pinned(learner))
        return [_json(self._fields(learner, each)) for each in feedback]

    def _agreed(self, learner: str, pinned: Pinned) -> Steps[None]:
        """Compare what is pinned with what the service declares, from time to time."""
        now = time.monotonic()
        if now - self._checked.get(learner, -math.inf) < _CHECK_EVERY:
            return
        self._checked.pop(learner, None)
        pinned.check((yield from self.learner(learner)))
        self._checked[learner] = now

    def _fields(self, learner: str, feedback: Feedback) -> dict[str, Any]:
        fields: dict[str, Any] = {"decision": feedback.id}
        if feedback.released is not None:
            fields["bit"] = int(feedback.released)
        elif feedback.function is not MISSING:
            fields["function"] = _described(feedback.function)
        elif self._bits is not None:
            fields["bit"] = self._bits.bit(learner, feedback.id, feedback.cost)
        else:
            number = number_or_nan(feedback.cost)
            fields["cost"] = number if math.isfinite(number) else None
        if feedback.person is not None:
            fields["person"] = feedback.person
        return fields


def _check_shape(feedback: Feedback) -> None:
    """Check what is public in feedback; no value is quoted."""
    given = (feedback.cost is not MISSING, feedback.released is not None, feedback.function is not MISSING)
    if sum(given) != 1:
        raise InvalidArgument("Tell a 'cost', or what was 'released', or a 'function': exactly one of them.")
    if feedback.released is not None and (
        not isinstance(feedback.released, int) or feedback.released not in (0, 1)
    ):
        raise InvalidArgument("What was 'released' must be a bit: 0 or 1.")
    person = feedback.person
    if person is not None and not (isinstance(person, str) and len(person) <= _LONGEST_PERSON):
        raise InvalidArgument(f"A 'person' must be a string of at most {_LONGEST_PERSON} characters.")


def _as_feedback(told: Any) -> Feedback:
    if isinstance(told, Feedback):
        return told
    if isinstance(told, tuple) and len(told) == 2:
        return Feedback(*told)
    raise InvalidType("The 'feedback' of tell_many must be Feedback, or pairs of a decision and a cost.")


def _described(function: Any) -> Any:
    """A set function as JSON; one that cannot be written counts as neutral."""
    try:
        described = function.to_dict() if hasattr(function, "to_dict") else function
        json.dumps(described)
    except Exception:  # not quoted: it may reveal something about the function
        return None
    return described


def _groups(pieces: Sequence[bytes], most: int) -> Iterator[list[bytes]]:
    """Pieces in order, grouped by what one request takes."""
    group: list[bytes] = []
    size = 0
    for piece in pieces:
        if group and (len(group) == most or size + len(piece) > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(piece)
        size += len(piece) + 1
    if group:
        yield group


def _codes(shown: Any, count: int) -> list[str]:
    codes = _read(lambda: [str(code) for code in shown["codes"]])
    if len(codes) != count:
        raise _not_the_service()
    return codes


def _fits(learner: Learner, wanted: Mapping[str, Any]) -> bool:
    """Whether a learner has the settings that were wanted, as far as it shows them."""
    shown = dataclasses.asdict(learner)
    if isinstance(wanted["items"], int):
        shown["items"] = len(learner.items)
    return all(_same(shown[name], value) for name, value in wanted.items() if name in shown)


def _same(shown: Any, wanted: Any) -> bool:
    return tuple(shown) == tuple(wanted) if isinstance(shown, tuple) else bool(shown == wanted)


def _path(learner: str) -> str:
    return f"/v1/learners/{_quoted(learner)}"


def _population(name: str) -> str:
    return f"/v1/populations/{_quoted(name)}"


def _quoted(name: str) -> str:
    if not isinstance(name, str) or not name or name in (".", ".."):
        raise InvalidArgument("A name must be a non-empty string.")
    return urllib.parse.quote(name, safe="")


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except (TypeError, ValueError):
        raise InvalidType("Items and settings must be JSON types.") from None


def _read(reader: Callable[[], Read]) -> Read:
    """Read a response; one that cannot be read is not of this service."""
    try:
        return reader()
    except (LookupError, TypeError, ValueError, AttributeError):
        pass  # raised below, without this as its context
    raise _not_the_service()


def _not_the_service() -> ServiceError:
    return ServiceError("bad_answer", "The response is not from this service, or from another version of it.")
