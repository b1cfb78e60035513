"""Tables of the costs of all sets: from mappings, frames and files."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet import checks
from discreet.checks import FloatArray
from discreet.environments.files import sheet_of
from discreet.environments.stream import Environment, Stream, named
from discreet.environments.tables import TableStream
from discreet.errors import InvalidArgument, InvalidType
from discreet.frames import items_in, members

Items = Sequence[Hashable]
Columns = Mapping[Hashable, list[Any]]


@named
def costs(path: Any) -> Environment:
    """What every set costs in every round, from a CSV or Parquet file, or a frame.

    Its columns are round, set and cost (or reward), or there is one column for each set and a row per round.
    A set is written as its items with plus signs between them, such as tea+milk; {} is the empty one.
    """
    sheet = sheet_of(path)
    items = tuple(sorted(_items_of(sheet.columns)))
    stream = from_frame(sheet.columns, items, None)
    shown = sheet.name if isinstance(path, str | os.PathLike) else f"the {type(path).__name__}"

    def make(rounds: int, seed: int) -> Stream:
        return stream if rounds == stream.rounds else TableStream(stream.compiled.values[:rounds])

    return Environment(
        "costs", make, items, stream.cost_range, parameters={"path": shown}, most_rounds=stream.rounds
    )


def sets_of(items: Items) -> list[frozenset[Hashable]]:
    """All sets of items, by their codes: bit i tells whether item i is in the set."""
    return [
        frozenset(name for i, name in enumerate(items) if code >> i & 1) for code in range(2 ** len(items))
    ]


def from_mapping(costs: Mapping[Any, Any], items: Items | None, rounds: int | None) -> TableStream:
    """A stream from every set's cost, or from its costs in all rounds."""
    names = range(len(costs).bit_length() - 1) if items is None else items
    try:
        by_set = {frozenset(key): value for key, value in costs.items()}
    except TypeError:
        raise InvalidType("The keys of a table of costs must be sets of items, such as (0, 2).") from None
    count = 2 ** len(names)
    if len(by_set) != count:
        raise InvalidArgument(f"A table for {len(names)} items must have {count} sets. Got {len(by_set)}.")
    sets = sets_of(names)
    for missing in set(sets) - set(by_set):
        raise InvalidArgument(f"The table has no cost for the set {sorted(missing, key=str)}.")
    listed = [by_set[taken] for taken in sets]
    if any(np.ndim(entry) for entry in listed):
        return TableStream(np.transpose(checks.finite_matrix("simulate", "environment", listed)))
    if rounds is None:
        raise InvalidArgument("A table with one cost per set is the same in every round: give 'rounds'.")
    return TableStream([listed], np.zeros(rounds, dtype=np.int64))


def from_frame(columns: Columns, items: Items | None, rounds: int | None) -> TableStream:
    """A stream from columns round, set and cost, or from a column for each set."""
    names = sorted(_items_of(columns)) if items is None else items
    value = next((name for name in ("cost", "reward") if name in columns), "")
    if "set" in columns and value:
        sets = [members(cell, names) for cell in columns["set"]]
        if "round" in columns:
            return TableStream(_pivoted(columns["round"], sets, columns[value], names))
        return from_mapping(_once_each(sets, columns[value]), names, rounds)
    labels = [str(label) for label in columns]
    if labels == [str(code) for code in range(len(labels))] or labels == [
        f"column_{code}" for code in range(len(labels))
    ]:
        return TableStream(np.column_stack(list(columns.values())))
    try:
        sets = [members(label, names) for label in columns]
    except InvalidArgument:
        wanted = "columns 'round', 'set' and 'cost', or one column for each set of items, such as tea+milk"
        hint = f"What people bought is for environments.invoices(...). Got: {', '.join(labels)}."
        raise InvalidArgument(f"A frame of costs must have {wanted}. {hint}") from None
    return from_mapping(_once_each(sets, list(columns.values())), names, rounds)


def _items_of(columns: Columns) -> set[Any]:
    """All items that are named in a column of sets, or in the names of columns."""
    return items_in(columns.get("set", columns))


def _once_each(sets: Sequence[frozenset[Hashable]], values: Sequence[Any]) -> dict[frozenset[Hashable], Any]:
    if len(set(sets)) < len(sets):
        raise InvalidArgument("A table of costs must have each set once.")
    return dict(zip(sets, values, strict=True))


def _pivoted(
    rounds: Sequence[Any], sets: Sequence[frozenset[Hashable]], values: Sequence[Any], items: Items
) -> FloatArray:
    """One row per round, in increasing order, and one column per set."""
    code = {taken: k for k, taken in enumerate(sets_of(items))}
    numbers, row = np.unique(np.asarray(rounds), return_inverse=True)
    place = row * len(code) + np.array([code[taken] for taken in sets])
    if place.size != numbers.size * len(code) or np.unique(place).size < place.size:
        wanted = f"each of the {len(code)} sets of {len(items)} items once in each round"
        raise InvalidArgument(f"A table of costs must have {wanted}.")
    table = np.empty(place.size)
    table[place] = checks.finite_vector("simulate", "environment", values)
    return table.reshape(numbers.size, len(code))
