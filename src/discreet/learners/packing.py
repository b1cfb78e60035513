"""Open phases and tickets as a few arrays, for files. Read back they are checked: kernels trust them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.errors import DiscreetError, InvalidArgument
from discreet.kernel.phase import EACH_ROUND, PHASE_KINDS, Phase, Ticket, checked_phase
from discreet.privacy.grid import MOST_UNITS

Arrays = Mapping[str, npt.NDArray[Any]]

#: Decisions are numbered in 64 bits.
MOST_DECISIONS = 1 << 62
#: The largest report: one round moves a sum by at most this many units, without the noise of local reports.
_LARGEST_REPORT = 4 * MOST_UNITS
#: The arrays of an open phase and their types.
_KINDS = dict(zip(Phase._fields, PHASE_KINDS, strict=True)) | {"decks": np.int64, "sums": np.int64}


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

    @property
    def next_slot(self) -> int:
        """The slot of the next round."""
        return int(self.deck[self.dealt]) if self.deck.size else 0


def packed(phases: Mapping[int, OpenPhase], tickets: Mapping[int, Ticket]) -> dict[str, npt.NDArray[Any]]:
    """A few arrays, however many there are."""
    shapes = [(number, *each.phase.order.shape, each.phase.note.shape[1]) for number, each in phases.items()]
    counts = [(each.dealt, each.last, each.told) for each in phases.values()]
    rows = [(t.id, t.phase, t.slot, t.size, t.order.size) for t in tickets.values()]
    parts = [each.phase._asdict() | {"decks": each.deck, "sums": each.sums} for each in phases.values()]
    return {
        "phases.shapes": _table(shapes, 4),
        "phases.counts": _table(counts, 3),
        **{f"phases.{name}": _joined((each[name] for each in parts), kind) for name, kind in _KINDS.items()},
        "tickets.rows": _table(rows, 5),
        "tickets.chances": np.array([t.chance for t in tickets.values()], dtype=np.float64),
        "tickets.orders": _joined((t.order for t in tickets.values()), np.int64),
    }


def unpacked(
    saved: Arrays, n: int, dimension: int, planned: int, closed_until: int, asked: int, local: bool
) -> tuple[dict[int, OpenPhase], dict[int, Ticket]]:
    """The open phases and tickets.

    Args:
        saved: What `packed` made.
        n: The number of items.
        dimension: How many integers a report has.
        planned: How many phases were planned.
        closed_until: The last decision that is closed.
        asked: The last decision.
        local: Whether reports have noise already.

    Raises:
        InvalidArgument: They make no sense.
    """
    try:
        phases = _phases(saved, n, dimension, local)
        tickets = _tickets(saved, phases, closed_until)
    except (DiscreetError, LookupError, OverflowError, TypeError, ValueError):
        raise damaged() from None
    last = 0
    for number, each in phases.items():
        finished = each.dealt == each.total or number == planned - 1
        if not (0 <= number < planned and finished and last < each.last <= asked):
            raise damaged()
        last = each.last
    return phases, tickets


def _phases(saved: Arrays, n: int, dimension: int, local: bool) -> dict[int, OpenPhase]:
    phases: dict[int, OpenPhase] = {}
    shapes, counts = _rows(saved, "phases.shapes", 4), _rows(saved, "phases.counts", 3)
    parts = {name: _Reader(saved[f"phases.{name}"], kind) for name, kind in _KINDS.items()}
    before = -1
    for (number, slots, k, notes), (dealt, last, told) in zip(shapes.tolist(), counts.tolist(), strict=True):
        wanted = ((slots, k), (slots, k + 1), (slots,), (slots,), (slots, notes))
        phase = checked_phase(
            Phase(*(parts[f].take(shape) for f, shape in zip(Phase._fields, wanted, strict=True))), n
        )
        deck = parts["decks"].take((int(phase.rounds.sum()) if slots > 1 else 0,))
        found = OpenPhase.of(phase, deck, dimension)
        found.sums = parts["sums"].take((slots, dimension))
        most = phase.rounds[:, None].astype(np.float64) * (np.inf if local else _LARGEST_REPORT)
        sound = (
            number > before
            and (slots == 1 or np.array_equal(np.sort(deck), np.repeat(np.arange(slots), phase.rounds)))
            and 0 <= told <= dealt <= found.total
            and 0 < dealt <= last
            and bool(((found.sums <= most) & (found.sums >= -most)).all())
        )
        if not sound:
            raise damaged()
        found.dealt, found.last, found.told = dealt, last, told
        phases[number] = found
        before = number
    if any(not part.at_end for part in parts.values()):
        raise damaged()
    return phases


def _tickets(saved: Arrays, phases: dict[int, OpenPhase], closed_until: int) -> dict[int, Ticket]:
    tickets: dict[int, Ticket] = {}
    orders, before = _Reader(saved["tickets.orders"]), closed_until
    rows = _rows(saved, "tickets.rows", 5).tolist()
    chances = _Reader(saved["tickets.chances"], np.float64)
    left = {number: each.dealt - each.told for number, each in phases.items()}
    for ticket_id, number, slot, size, k in rows:
        chance = chances.take((1,)).item()
        order = orders.take((k,))
        each = phases[number]
        left[number] -= 1
        sound = (
            before < ticket_id <= each.last
            and left[number] >= 0
            and slot >= 0
            and 0 <= size <= k
            and int(each.phase.size[slot]) in (EACH_ROUND, size)
            and np.isin(order, each.phase.order[slot]).all()
            and np.unique(order).size == k
            and 0 < chance <= 1 + 1e-9
        )
        if not sound:
            raise damaged()
        before = ticket_id
        tickets[ticket_id] = Ticket(ticket_id, number, slot, size, chance, order, each.phase.note[slot])
    if not orders.at_end or not chances.at_end:
        raise damaged()
    return tickets


class _Reader:
    """Takes arrays of given shapes off a long one."""

    def __init__(self, array: npt.NDArray[Any], kind: Any = np.int64) -> None:
        if array.ndim != 1 or array.dtype != kind:
            raise damaged()
        self._array, self._place = array, 0

    def take(self, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if min(shape, default=0) < 0:
            raise damaged()
        count = int(np.prod(shape, dtype=object))
        found = self._array[self._place : self._place + count].reshape(shape).copy()
        self._place += count
        return found

    @property
    def at_end(self) -> bool:
        return self._place == self._array.size


def damaged() -> InvalidArgument:
    """The error for a file whose open decisions make no sense; it quotes nothing."""
    return InvalidArgument("The saved state is damaged: its open decisions make no sense.")


def _table(rows: Sequence[tuple[int, ...]], width: int) -> IntArray:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _rows(saved: Arrays, name: str, width: int) -> IntArray:
    found = saved[name]
    if found.ndim != 2 or found.shape[1] != width or found.dtype != np.int64:
        raise damaged()
    return found


def _joined(arrays: Iterable[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *(array.ravel() for array in arrays)])
