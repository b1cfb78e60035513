"""Logs: what was shown, with which probability, and what it cost."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.frames import columns_of, is_frame, items_in, members
from discreet.learners.session import Decision

#: The columns that a log may have; the first two, and one of the next three, it must have.
NAMES = ("set", "probability", "cost", "reward", "released", "available", "segment")


class Context(NamedTuple):
    """What was known before the choice: the items that could be shown (None: all), and who was asked."""

    available: frozenset[Hashable] | None
    segment: Hashable


class Log(NamedTuple):
    """A row per round. What was told is private, the rest public."""

    items: tuple[Hashable, ...]
    sets: list[frozenset[Hashable]]
    probability: FloatArray
    told: list[Any]
    kind: str  # "cost", "reward" or "released"
    contexts: list[Context]  # those that differ
    context: IntArray  # of each round

    @property
    def masks(self) -> BoolArray:
        """The sets, as rows of members."""
        return masks_of(self.sets, self.items)


def masks_of(sets: Sequence[frozenset[Hashable]], items: Sequence[Hashable]) -> BoolArray:
    """A row of members for each set."""
    different = list(dict.fromkeys(sets))
    rows = np.array([[item in taken for item in items] for taken in different], dtype=np.bool_)
    number = {taken: k for k, taken in enumerate(different)}
    return np.asarray(rows.reshape(len(different), len(items))[[number[taken] for taken in sets]])


def read_log(given: Any, items: Iterable[Hashable] | None, columns: Mapping[str, str] | None) -> Log:
    """A log from a frame, a mapping of columns, or rows."""
    found = _columns(given)
    renamed = dict(columns or {})
    unknown = sorted(set(renamed) - set(NAMES))
    if unknown:
        raise checks.unknown_name(f"A log has no column {unknown[0]!r}.", unknown[0], NAMES)
    missing = sorted(str(name) for name in renamed.values() if name not in found)
    if missing:
        raise InvalidArgument(f"The log has no column {missing[0]!r}. It has: {', '.join(map(str, found))}.")
    by_name = {name: found[renamed.get(name, name)] for name in NAMES if renamed.get(name, name) in found}
    kinds = [name for name in ("cost", "reward", "released") if name in by_name]
    if not {"set", "probability"} <= by_name.keys() or len(kinds) != 1:
        wanted = "'set', 'probability', and one of 'cost', 'reward' and 'released'"
        raise InvalidArgument(f"A log must have {wanted}. Got: {', '.join(map(str, found))}.")
    rows = len(by_name["set"])
    if rows == 0:
        raise InvalidArgument("A log must have at least one round. Got none.")
    empty = [None] * rows
    available, segment = by_name.get("available", empty), by_name.get("segment", empty)
    if items is None:
        named = items_in(by_name["set"]) | items_in(cell for cell in available if not _is_missing(cell))
        items = sorted(named, key=str)
    listed = tuple(items)
    read = _Reader(listed)
    contexts: dict[Context, int] = {}
    numbers = [
        contexts.setdefault(Context(None if _is_missing(could) else read(could), who), len(contexts))
        for could, who in zip(available, segment, strict=True)
    ]
    sets = [read(cell) for cell in by_name["set"]]
    known = list(contexts)
    for row, (taken, number) in enumerate(zip(sets, numbers, strict=True)):
        could = known[number].available
        if could is not None and not taken <= could:
            raise InvalidArgument(f"Row {row + 1} of the log shows an item that was not available.")
    probability = checks.finite_vector("evaluate", "probability", by_name["probability"])
    if not (probability.min() > 0 and probability.max() <= 1 + 1e-9):
        raise InvalidArgument("The probabilities of a log must lie in (0, 1].")
    return Log(listed, sets, probability, list(by_name[kinds[0]]), kinds[0], known, np.array(numbers))


class _Reader:
    """Sets from cells, each different cell read once."""

    def __init__(self, items: Sequence[Hashable]) -> None:
        self._items = items
        self._known: dict[Any, frozenset[Hashable]] = {}

    def __call__(self, cell: Any) -> frozenset[Hashable]:
        key = cell if isinstance(cell, str | frozenset) else tuple(cell)
        if key not in self._known:
            self._known[key] = members(cell, self._items)
        return self._known[key]


def _is_missing(cell: Any) -> bool:
    return cell is None or isinstance(cell, float)  # NaN, in frames of pandas


def _columns(given: Any) -> Mapping[Any, Sequence[Any]]:
    if is_frame(given):
        return columns_of(given)
    if isinstance(given, Mapping):
        lengths = {len(column) for column in given.values()}
        if len(lengths) > 1:
            raise InvalidArgument("The columns of a log must have the same length.")
        return {name: list(column) for name, column in given.items()}
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise checks.invalid_argument("evaluate", "log", "a frame, columns, or rows")
    rows = [_row(row) for row in given]
    names = rows[0].keys() if rows else ()
    if any(row.keys() != names for row in rows):
        raise InvalidArgument("The rows of a log must all have the same entries.")
    return {name: [row[name] for row in rows] for name in names}


def _row(given: Any) -> Mapping[Any, Any]:
    if isinstance(given, Mapping):
        return given
    if isinstance(given, list | tuple) and given and isinstance(given[0], Decision):
        made: Decision[Any] = given[0]
        given = (made.subset, made.probability, *given[1:])
    if not isinstance(given, list | tuple) or not 3 <= len(given) <= 5:
        wanted = "(decision, cost), (set, probability, cost[, available[, segment]]) or mappings"
        raise InvalidType(f"The rows of a log must be {wanted}.")
    names = ("set", "probability", "cost", "available", "segment")
    return dict(zip(names, given, strict=False))
