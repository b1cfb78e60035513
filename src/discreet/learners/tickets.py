"""Phases and tickets as bytes, for hosts with a store. Read back they are checked: kernels trust them."""

import struct
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import Phase, Ticket, checked_phase, dealt_part
from discreet.state import decode, encode

#: The number of a ticket's phase if that is this one round: the note is in the ticket, and no row is stored.
INLINE = -1
#: Phase, slot, size of the set, length of the order, probability of the set.
_HEAD = struct.Struct("<iHHHd")


class Dealt(NamedTuple):
    """A chosen set, a bit for each item, the first item's lowest; and a ticket for its feedback."""

    subset: bytes
    ticket: bytes


class Plan:
    """A phase whose rounds are dealt one by one, in an order that follows from a seed. It is public.

    Its `total` is how many of its rounds are dealt: fewer than were planned if other items came meanwhile.
    """

    def __init__(self, phase: Phase, seed: int, total: int | None = None) -> None:
        self.phase, self.seed = phase, seed
        self._planned = int(phase.rounds.sum())
        self.total = self._planned if total is None else total
        self._deck: IntArray | None = None

    @property
    def deck(self) -> IntArray:
        """The slot of each round: every slot as often as it has rounds."""
        if self._deck is None:
            in_order = np.repeat(np.arange(len(self.phase.rounds)), self.phase.rounds)
            # numpy promises the same raw numbers for ever, and no more.
            keys = np.random.PCG64(self.seed).random_raw(self._planned)
            self._deck = (
                in_order if len(self.phase.rounds) == 1 else in_order[np.argsort(keys, kind="stable")]
            )
        return self._deck

    def slot_of(self, place: int) -> int:
        """The slot of a round."""
        return int(self.deck[place]) if len(self.phase.rounds) > 1 else 0

    def dealt(self, sums: IntArray) -> tuple[Phase, IntArray]:
        """The slots that were dealt, and their rows of the phase's sums."""
        if self.total == self._planned:
            return self.phase, sums
        part, kept = dealt_part(self.phase, self.deck, self.total)
        return part, sums[kept]

    def encode(self) -> bytes:
        """The plan as bytes, with all its rounds."""
        return encode({"seed": self.seed}, self.phase._asdict())

    @classmethod
    def decode(cls, data: bytes, n: int, total: int | None = None) -> Self:
        """The plan in `data`, if it is one for n items and has so many rounds, or more; by default all."""
        values, arrays = decode(data)
        try:
            plan = cls(checked_phase(Phase(**arrays), n), int(values["seed"]), total)
        except (InvalidType, LookupError, TypeError, ValueError):
            raise InvalidArgument("A stored phase is damaged.") from None
        if not 1 <= plan.total <= plan._planned:
            raise InvalidArgument("A stored phase is damaged.")
        return plan


class StoredTicket(NamedTuple):
    """What is stored of a dealt round. The note is stored only if it is `INLINE`."""

    phase: int
    slot: int
    size: int
    probability: float
    order: IntArray  # empty unless whole functions are measured along it
    note: FloatArray

    def encode(self) -> bytes:
        """The ticket as bytes."""
        head = _HEAD.pack(self.phase, self.slot, self.size, self.order.size, self.probability)
        return head + self.order.astype("<i4").tobytes() + self.note.astype("<f8").tobytes()

    @classmethod
    def decode(cls, data: bytes, n: int) -> Self:
        """The ticket in `data`, if it is one for n items."""
        try:
            phase, slot, size, count, probability = _HEAD.unpack_from(data)
            order = np.frombuffer(data, dtype="<i4", count=count, offset=_HEAD.size).astype(np.int64)
            note = np.frombuffer(data, dtype="<f8", offset=_HEAD.size + 4 * count).astype(np.float64)
        except (struct.error, ValueError):
            raise damaged() from None
        inside = order.min(initial=0) >= 0 and order.max(initial=0) < n
        sound = inside and np.unique(order).size == count and size <= n and np.isfinite(note).all()
        if not sound or phase < INLINE or (note.size > 0 and phase != INLINE):
            raise damaged()
        return cls(phase, slot, size, probability, order, note)

    def ticket(self, note: FloatArray) -> Ticket:
        """As the kernel takes it, with the note of its slot."""
        return Ticket(0, 0, self.slot, self.size, self.probability, self.order, note)


def phase_of(ticket: bytes) -> int:
    """The number of a stored ticket's phase."""
    return int(_HEAD.unpack_from(ticket)[0]) if len(ticket) >= _HEAD.size else INLINE


def inline_notes(tickets: Sequence[bytes]) -> FloatArray:
    """The notes of tickets of rounds that are phases by themselves, without orders, one row each."""
    width = len(tickets[0]) - _HEAD.size
    if width < 0 or width % 8 or any(len(ticket) != _HEAD.size + width for ticket in tickets):
        raise damaged()
    fields = [("phase", "<i4"), ("slot", "<u2"), ("size", "<u2"), ("order", "<u2"), ("chance", "<f8")]
    form = np.dtype([*fields, ("note", "<f8", (width // 8,))])
    read = np.frombuffer(b"".join(tickets), dtype=form)
    notes: FloatArray = read["note"].astype(np.float64)
    if (read["phase"] != INLINE).any() or read["order"].any() or not np.isfinite(notes).all():
        raise damaged()
    return notes


def probability_in(ticket: bytes) -> float:
    """With which its set was chosen."""
    return float(_HEAD.unpack_from(ticket)[-1])


def damaged() -> InvalidArgument:
    """The error for what was stored and makes no sense."""
    return InvalidArgument("A decision that was kept is damaged: its ticket or report makes no sense.")
