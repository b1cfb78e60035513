"""Feedback as it is sent: checked without quoting it, in groups, and randomised if the client does that."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import InvalidArgument, InvalidType
from ..privacy.grid import number_or_nan
from .pinned import Bits, Pinned
from .records import MISSING, Feedback, Learner

#: Pieces of feedback in one request, fewer of functions, and bytes: the service limits pieces times items.
_MOST_PIECES, _MOST_FUNCTIONS, _MOST_BYTES = 10_000, 100, 1 << 20
#: Seconds after which the service's declaration of a learner is compared again with what is pinned.
_CHECK_EVERY = 300.0


class Telling:
    """What feedback becomes before it leaves.

    Args:
        randomize: What is pinned, if costs are randomised here.
        declared: Asks the service for its declaration of a learner.
    """

    def __init__(
        self,
        randomize: Pinned | Mapping[str, Pinned] | None,
        declared: Callable[[str], Awaitable[Learner]],
    ) -> None:
        self._bits = None if randomize is None else Bits(randomize)
        self._declared = declared
        self._checked: dict[str, float] = {}

    async def written(self, learner: str, feedback: Sequence[Feedback]) -> list[bytes]:
        """The JSON of each piece, with a bit instead of a cost if costs are randomised here."""
        if self._bits is not None:
            for each in feedback:
                if each.released is not None:
                    self._bits.require_fitting(learner, each.released)
                elif each.function is not MISSING:
                    raise InvalidArgument("This client randomises: it sends bits, not functions.")
                elif each.items is not None:
                    raise InvalidArgument("This client randomises: it sends bits, not what items brought.")
            if any(each.released is None for each in feedback):
                await self._agree(learner, self._bits.pinned(learner))
        return [json_bytes(self._fields(learner, each)) for each in feedback]

    async def _agree(self, learner: str, pinned: Pinned) -> None:
        """Compare what is pinned with what the service declares, from time to time."""
        now = time.monotonic()
        if now - self._checked.get(learner, -math.inf) < _CHECK_EVERY:
            return
        self._checked.pop(learner, None)
        pinned.check(await self._declared(learner))
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
            fields["cost"] = _number(feedback.cost)
            if feedback.items is not None:
                fields["items"] = _by_name(feedback.items)
        if feedback.person is not None:
            fields["person"] = feedback.person
        return fields


def as_feedback(told: Any) -> Feedback:
    """`Feedback`, also from a tuple."""
    if isinstance(told, Feedback):
        return told
    if isinstance(told, tuple) and len(told) == 2:
        return Feedback(*told)
    if isinstance(told, tuple) and len(told) == 3:
        return Feedback(*told[:2], items=told[2])
    raise InvalidType(
        "The 'feedback' of tell_many must be Feedback, or pairs of a decision and a cost, or these and items."
    )


def grouped(pieces: Sequence[bytes], *, functions: bool) -> Iterator[list[bytes]]:
    """Pieces in order, grouped by what one request takes."""
    most = _MOST_FUNCTIONS if functions else _MOST_PIECES
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


def json_bytes(value: Any) -> bytes:
    """JSON; sets and other collections become lists."""
    try:
        return json.dumps(value, separators=(",", ":"), default=list).encode()
    except (TypeError, ValueError):
        raise InvalidType("Items and settings must be JSON types.") from None


def _number(value: Any) -> float | None:
    number = number_or_nan(value)
    return number if math.isfinite(number) else None


def _by_name(items: Mapping[Any, Any]) -> dict[str, float | None]:
    """What items brought, by the names that they have in JSON; nothing if that cannot be read."""
    try:
        return {str(item): _number(brought) for item, brought in items.items() if isinstance(item, str | int)}
    except Exception:  # not quoted: it may reveal something about the items
        return {}


def _described(function: Any) -> Any:
    """A set function as JSON; one that cannot be written counts as neutral."""
    try:
        described = function.to_dict() if hasattr(function, "to_dict") else function
        json.dumps(described)
    except Exception:  # not quoted: it may reveal something about the function
        return None
    return described
