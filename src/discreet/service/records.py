"""Arguments and answers of the service."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import json
import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.errors import InvalidType

#: Sets times items of one call, and bytes of the sets in its answer.
_MOST_CELLS, _MOST_BYTES = 1_000_000, 4 << 20
#: Bytes of a set in an answer besides its items: names of fields, an id or a time, a probability.
_OVERHEAD = 96

#: Names of learners and populations.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")


class _Missing:
    """Stands for an argument that was not given: None is a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Code(enum.StrEnum):
    """The outcome of one piece of feedback. The values are stable."""

    #: Accepted now or before; which of them, and whether it counted, is not revealed.
    ACCEPTED = "accepted"
    #: There never was such a decision, or it was forgotten long after it was closed.
    UNKNOWN = "unknown_decision"
    #: The decision belongs to another learner.
    FOREIGN = "foreign_decision"
    #: The deadline has passed, and a neutral value was applied instead.
    EXPIRED = "expired"
    #: Of the wrong kind: bandits take a cost or a bit, full-information learners a function.
    INVALID = "invalid_feedback"


@dataclasses.dataclass(frozen=True, repr=False)
class Feedback:
    """Feedback on a decision. Its repr shows no value.

    Attributes:
        decision: The decision's id.
        cost: The private cost (or reward), for bandit learners. No value is refused.
        released: Instead of a cost: the bit that `randomizers.OneBit` made of it.
        function: The private cost function, for full information: a set function, its JSON description, or
            a Python function.
        person: An opaque id of the person, or None. Only a keyed hash is stored.
        items: Beside the cost, for bandits with an `item_total`: what items of the set brought. Names and
            numbers are private; none is refused.
    """

    decision: str
    cost: Any = MISSING
    released: int | None = None
    function: Any = MISSING
    person: str | None = None
    items: Any = MISSING

    def __post_init__(self) -> None:
        if not isinstance(self.decision, str):  # not quoted: it may be the cost, in the wrong place
            raise InvalidType("The 'decision' of Feedback must be a decision's id, a string.")

    def __repr__(self) -> str:
        return f"Feedback(decision={self.decision!r})"


class Outcome(NamedTuple):
    """The outcome of one piece of feedback."""

    decision: str
    code: Code

    @property
    def accepted(self) -> bool:
        """Whether it need not be told again."""
        return self.code is Code.ACCEPTED


@dataclasses.dataclass(frozen=True)
class Choice:
    """A chosen set, the decision's id for its feedback, and the probability of just this set.

    And a token for the decision, if one was asked for.
    """

    id: str
    subset: tuple[Hashable, ...]
    probability: float
    token: str | None = None


class Backlog(NamedTuple):
    """Open decisions, bytes of the database, and active learners that must not continue."""

    pending: int
    size: int
    stale: int


def unpacked(subset: bytes, n: int) -> list[int]:
    """A bit for each of n items of an encoded subset; items that came later are not in it."""
    bits = np.unpackbits(np.frombuffer(subset, dtype=np.uint8), count=n, bitorder="little")
    found: list[int] = bits.tolist()
    return found


def members(items: Sequence[Any], subset: bytes) -> tuple[Any, ...]:
    """The items of an encoded subset."""
    return tuple(itertools.compress(items, unpacked(subset, len(items))))


def check_name(what: str, name: str) -> None:
    """Require a name that fits into URLs and logs."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise checks.invalid_argument(what, "name", "1 to 100 letters, digits, '_', '.', '-'", name)


def most_pieces(items: int) -> int:
    """How many sets or functions of so many items one call may take or give."""
    return max(1, _MOST_CELLS // items)


def set_bytes(items: Sequence[Any]) -> int:
    """Bytes of a set of all items in an answer, with its other fields."""
    return _OVERHEAD + len(json.dumps(items, separators=(",", ":")))


def most_sets(items: Sequence[Any]) -> int:
    """How many sets one call may ask for or show, by items and by bytes."""
    return min(most_pieces(len(items)), max(1, _MOST_BYTES // set_bytes(items)))
