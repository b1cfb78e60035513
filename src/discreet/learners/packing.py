"""Open phases and tickets as named arrays, for files. Read back they are checked: kernels trust them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.errors import DiscreetError, InvalidArgument
from discreet.kernel.phase import EACH_ROUND, Phase, Ticket, chain_among, checked_phase
from discreet.learners.learner import Learner
from discreet.privacy.grid import MOST_UNITS

Arrays = Mapping[str, npt.NDArray[Any]]

#: Decisions are numbered in 64 bits.
MOST_DECISIONS = 1 << 62
#: The largest report: one round moves a sum by at most this many units, without the noise of local reports.
_LARGEST_REPORT = 4 * MOST_UNITS


@dataclasses.dataclass(slots=True, repr=False, eq=False)
class OpenPhase:
    """A phase that is not closed."""

    phase: Phase
    deck: IntArray  # the slot of each round; empty where there is only one slot
    sums: IntArray  # of reports, one row per slot: secret, unless these are randomised on arrival
    left: IntArray  # of each slot the rounds not yet dealt when last some of the sets were unavailable
    total: int  # how many rounds it has
    dealt: int = 0  # how many of them were dealt
    last: int = 0  # the id of the last ticket
    told: int = 0  # how many of its tickets were told about; counted in local mode only


def packed(phases: Mapping[int, OpenPhase], tickets: Mapping[int, Ticket]) -> dict[str, npt.NDArray[Any]]:
    """All that `unpacked` needs."""
    named: dict[str, npt.NDArray[Any]] = {}
    for number, each in phases.items():
        counts = np.array([each.dealt, each.last, each.told])
        parts = each.phase._asdict() | {name: getattr(each, name) for name in ("deck", "sums", "left")}
        parts["counts"] = counts
        named |= {f"phases.{part}.{number}": array for part, array in parts.items()}
    for t in tickets.values():
        named[f"tickets.{t.id}"] = np.array([t.phase, t.slot, t.size, *t.order.tolist()])
    return named


def unpacked(
    saved: Arrays, learner: Learner, planned: int, current: list[int], asked: int
) -> tuple[dict[int, OpenPhase], dict[int, Ticket]]:
    """The open phases and tickets of a learner, from what `packed` made; refused if they make no sense."""
    phases: dict[int, OpenPhase] = {}
    tickets: dict[int, Ticket] = {}
    try:
        for number in _numbers(saved, "phases."):
            phases[number] = each = _phase(saved, number, learner)
            finished = each.dealt == each.total or number in current
            _require(number < planned and finished and each.last <= asked)
        left = {number: each.dealt - each.told for number, each in phases.items()}
        for ticket_id in _numbers(saved, "tickets."):
            ticket = _ticket(ticket_id, saved[f"tickets.{ticket_id}"], phases)
            left[ticket.phase] -= 1
            _require(0 < ticket_id <= phases[ticket.phase].last and left[ticket.phase] >= 0)
            tickets[ticket_id] = ticket
    except (DiscreetError, LookupError, OverflowError, TypeError, ValueError):
        raise InvalidArgument("The saved state is damaged: its open decisions make no sense.") from None
    return phases, tickets


def checked_current(saved: Any, lines: int, planned: int) -> list[int]:
    """The numbers of the phases that are dealt from, one in each line; -1 where there was none yet."""
    sound = isinstance(saved, list) and len(saved) == lines
    sound = sound and all(type(number) is int and -1 <= number < planned for number in saved)
    dealt_from = [number for number in saved if number >= 0] if sound else []
    if not sound or len(set(dealt_from)) < len(dealt_from):
        raise InvalidArgument("The saved state is damaged: its open decisions make no sense.")
    return list(saved)


def _phase(saved: Arrays, number: int, learner: Learner) -> OpenPhase:
    parts = [saved[f"phases.{part}.{number}"] for part in (*Phase._fields, "deck", "sums", "left", "counts")]
    phase, (deck, sums, left, counts) = checked_phase(Phase(*parts[:-4]), learner.n), parts[-4:]
    slots, total = len(phase.rounds), int(phase.rounds.sum())
    in_order = np.repeat(np.arange(slots), phase.rounds) if slots > 1 else np.zeros(0)
    most = phase.rounds[:, None] * (np.inf if learner.release.local else float(_LARGEST_REPORT))
    _require(all(array.dtype == np.int64 for array in (deck, sums, left, counts)))
    _require(deck.ndim == 1 and np.array_equal(np.sort(deck), in_order))
    _require(sums.shape == (slots, learner.dimension) and (abs(sums.astype(np.float64)) <= most).all())
    dealt, last, told = counts.tolist()
    _require(0 <= told <= dealt <= total and 0 < dealt <= last)
    _require(left.shape == (slots,) and (left <= phase.rounds).all())
    _require((np.bincount(deck[dealt:], minlength=slots) <= left).all())
    return OpenPhase(phase, deck, sums, left, total, dealt, last, told)


def _ticket(ticket_id: int, row: npt.NDArray[Any], phases: Mapping[int, OpenPhase]) -> Ticket:
    _require(row.ndim == 1 and row.dtype == np.int64)
    number, slot, size = row[:3].tolist()
    phase = phases[number].phase
    _require(0 <= slot < len(phase.rounds) and phase.size[slot] in (EACH_ROUND, size) and size >= 0)
    order, chance = chain_among(phase, slot, row[3:])
    _require(np.array_equal(order, row[3:]) and 0 < chance[size] <= 1 + 1e-9)
    return Ticket(ticket_id, number, slot, size, float(chance[size]), order, phase.note[slot])


def _numbers(saved: Arrays, prefix: str) -> list[int]:
    """The numbers at the end of names that begin like this, in order."""
    found = sorted({int(name.rpartition(".")[2]) for name in saved if name.startswith(prefix)})
    _require(not found or found[0] >= 0)
    return found


def _require(sound: bool | np.bool_) -> None:
    if not sound:
        raise ValueError
