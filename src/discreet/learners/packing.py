"""Open phases and tickets as a few arrays, for files. Read back they are checked: kernels trust them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.errors import DiscreetError, InvalidArgument
from discreet.kernel.phase import EACH_ROUND, PHASE_KINDS, Phase, Ticket, checked_phase
from discreet.learners.learner import Learner
from discreet.privacy.grid import MOST_UNITS

Arrays = Mapping[str, npt.NDArray[Any]]

#: Decisions are numbered in 64 bits.
MOST_DECISIONS = 1 << 62
#: The largest report: one round moves a sum by at most this many units, without the noise of local reports.
_LARGEST_REPORT = 4 * MOST_UNITS


@dataclasses.dataclass(slots=True, repr=False, eq=False)
class OpenPhase:
    """A phase that is not closed.

    Attributes:
        phase: As the policy planned it.
        deck: The slot of each round; empty where there is only one slot.
        sums: What was reported so far, one row per slot: secret, unless reports are randomised on arrival.
        total: How many rounds it has.
        dealt: How many of them were dealt.
        last: The id of the last ticket.
        told: How many of its tickets were told about. It is counted in local mode only.
    """

    phase: Phase
    deck: IntArray
    sums: IntArray
    total: int
    dealt: int = 0
    last: int = 0
    told: int = 0

    @classmethod
    def of(cls, phase: Phase, deck: IntArray, dimension: int) -> OpenPhase:
        """A phase before its first round."""
        total = deck.size or int(phase.rounds[0])
        return cls(phase, deck, np.zeros((len(phase.rounds), dimension), dtype=np.int64), total)


def packed(phases: Mapping[int, OpenPhase], tickets: Mapping[int, Ticket]) -> dict[str, npt.NDArray[Any]]:
    """A few arrays, however many there are."""
    shapes = [(number, *each.phase.order.shape, each.phase.note.shape[1]) for number, each in phases.items()]
    counts = [(each.dealt, each.last, each.told) for each in phases.values()]
    rows = [(t.id, t.phase, t.slot, t.size, t.order.size) for t in tickets.values()]
    return {
        "phases.shapes": np.array(shapes, dtype=np.int64).reshape(-1, 4),
        "phases.counts": np.array(counts, dtype=np.int64).reshape(-1, 3),
        **{
            f"phases.{name}": _joined((each.phase[k] for each in phases.values()), PHASE_KINDS[k])
            for k, name in enumerate(Phase._fields)
        },
        "phases.decks": _joined((each.deck for each in phases.values()), np.int64),
        "phases.sums": _joined((each.sums for each in phases.values()), np.int64),
        "tickets.rows": np.array(rows, dtype=np.int64).reshape(-1, 5),
        "tickets.chances": np.array([t.chance for t in tickets.values()], dtype=np.float64),
        "tickets.orders": _joined((t.order for t in tickets.values()), np.int64),
    }


def unpacked(
    saved: Arrays, learner: Learner, planned: int, closed_until: int, asked: int
) -> tuple[dict[int, OpenPhase], dict[int, Ticket]]:
    """The open phases and tickets of a learner, from what `packed` made.

    So many phases were planned, so many decisions asked for, and all up to `closed_until` are closed.

    Raises:
        InvalidArgument: They make no sense. Nothing is quoted.
    """
    try:
        phases = _phases(saved, learner)
        last = 0
        for number, each in phases.items():
            finished = each.dealt == each.total or number == planned - 1
            _require(0 <= number < planned and finished and last < each.last <= asked)
            last = each.last
        return phases, _tickets(saved, phases, closed_until)
    except (DiscreetError, LookupError, OverflowError, TypeError, ValueError):
        raise InvalidArgument("The saved state is damaged: its open decisions make no sense.") from None


def _phases(saved: Arrays, learner: Learner) -> dict[int, OpenPhase]:
    shapes, counts = _rows(saved["phases.shapes"], 4), _rows(saved["phases.counts"], 3)
    sizes = [
        ((slots, k), (slots, k + 1), (slots,), (slots,), (slots, notes)) for _, slots, k, notes in shapes
    ]
    parts = [
        _separated(saved[f"phases.{name}"], kind, [each[field] for each in sizes])
        for field, (name, kind) in enumerate(zip(Phase._fields, PHASE_KINDS, strict=True))
    ]
    planned = [checked_phase(Phase(*fields), learner.n) for fields in zip(*parts, strict=True)]
    lengths = [(int(phase.rounds.sum()) if len(phase.rounds) > 1 else 0,) for phase in planned]
    decks = _separated(saved["phases.decks"], np.int64, lengths)
    sums = _separated(saved["phases.sums"], np.int64, [(len(p.rounds), learner.dimension) for p in planned])
    found: dict[int, OpenPhase] = {}
    for k, (dealt, last, told) in enumerate(counts):
        rounds = planned[k].rounds
        _require(
            len(rounds) == 1 or np.array_equal(np.sort(decks[k]), np.repeat(np.arange(len(rounds)), rounds))
        )
        each = OpenPhase(planned[k], decks[k], sums[k], int(rounds.sum()), dealt, last, told)
        _require(0 <= told <= dealt <= each.total and 0 < dealt <= last)
        most = rounds[:, None] * (np.inf if learner.release.local else float(_LARGEST_REPORT))
        _require((np.abs(sums[k].astype(np.float64)) <= most).all())
        found[shapes[k][0]] = each
    _require(list(found) == sorted(found) and len(found) == len(shapes) == len(counts))
    return found


def _tickets(saved: Arrays, phases: dict[int, OpenPhase], closed_until: int) -> dict[int, Ticket]:
    rows, chances = _rows(saved["tickets.rows"], 5), saved["tickets.chances"]
    _require(chances.dtype == np.float64)
    orders = _separated(saved["tickets.orders"], np.int64, [(row[4],) for row in rows])
    left = {number: each.dealt - each.told for number, each in phases.items()}
    tickets: dict[int, Ticket] = {}
    before = closed_until
    for (ticket_id, number, slot, size, k), chance, order in zip(rows, chances.tolist(), orders, strict=True):
        each = phases[number]
        left[number] -= 1
        _require(before < ticket_id <= each.last and left[number] >= 0 and slot >= 0)
        _require(0 <= size <= k and int(each.phase.size[slot]) in (EACH_ROUND, size))
        _require(np.isin(order, each.phase.order[slot]).all() and np.unique(order).size == k)
        _require(0 < chance <= 1 + 1e-9)
        before = ticket_id
        tickets[ticket_id] = Ticket(ticket_id, number, slot, size, chance, order, each.phase.note[slot])
    return tickets


def _require(sound: bool | np.bool_) -> None:
    if not sound:
        raise ValueError


def _rows(table: npt.NDArray[Any], width: int) -> list[list[int]]:
    _require(table.ndim == 2 and table.shape[1] == width and table.dtype == np.int64)
    rows: list[list[int]] = table.tolist()
    return rows


def _joined(arrays: Iterable[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *(array.ravel() for array in arrays)])


def _separated(
    joined: npt.NDArray[Any], kind: Any, shapes: Sequence[tuple[int, ...]]
) -> list[npt.NDArray[Any]]:
    """Arrays of these shapes, which `_joined` put one after the other."""
    _require(joined.ndim == 1 and joined.dtype == kind)
    found, place = [], 0
    for shape in shapes:
        _require(min(shape) >= 0)
        after = place + math.prod(shape)
        found.append(joined[place:after].reshape(shape).copy())
        place = after
    _require(place == joined.size)
    return found
