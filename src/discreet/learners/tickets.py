"""Phases and tickets as bytes, for hosts with a store. Read back they are checked: kernels trust them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.phase import Phase, Ticket, checked_phase
from discreet.randomness import BitSource
from discreet.state import decode, encode

#: The number of a ticket's phase if that is this one round: the note is in the ticket, and no row is stored.
INLINE = -1
#: Phase, slot, size of the set, length of the order, probability of the set.
_HEAD = struct.Struct("<iHHHd")


class Dealt(NamedTuple):
    """A chosen set, a bit for each item, the first item's lowest; and a ticket for its feedback."""

    subset: bytes
    ticket: bytes


class Rest(NamedTuple):
    """The rounds of a phase from a place on: how many each slot has, and the slot that comes first, or -1."""

    start: int
    left: IntArray
    first: int = -1


class Plan:
    """A phase whose rounds are dealt one by one, in an order that follows from a seed. It is public.

    Its `total` is how many of its rounds are dealt: fewer than were planned if other items came meanwhile.
    Where some of its sets were unavailable, the `rest` is in an order of its own; before, it is the whole.
    """

    def __init__(self, phase: Phase, seed: int, total: int | None = None, rest: Rest | None = None) -> None:
        self.phase, self.seed = phase, seed
        self._planned = int(phase.rounds.sum())
        self.total = self._planned if total is None else total
        self.rest = Rest(0, phase.rounds) if rest is None else rest
        self._deck: IntArray | None = None

    @property
    def deck(self) -> IntArray:
        """The slot of each round of the rest: every slot as often as it has rounds."""
        if self._deck is None:
            in_order = np.repeat(np.arange(len(self.phase.rounds)), self._shuffled)
            # numpy promises the same raw numbers for ever, and no more.
            keys = np.random.PCG64(self.seed).random_raw(in_order.size)
            first = [] if self.rest.first < 0 else [self.rest.first]
            self._deck = (
                in_order
                if len(self.phase.rounds) == 1
                else np.append(np.array(first, dtype=np.int64), in_order[np.argsort(keys, kind="stable")])
            )
        return self._deck

    @property
    def _shuffled(self) -> IntArray:
        """How many rounds of each slot are in random order: all of the rest but the first."""
        shuffled = self.rest.left.copy()
        if self.rest.first >= 0:
            shuffled[self.rest.first] -= 1
        return shuffled

    def slot_of(self, place: int) -> int:
        """The slot of a round of the rest."""
        return int(self.deck[place - self.rest.start]) if len(self.phase.rounds) > 1 else 0

    def shares(self, place: int) -> IntArray:
        """How likely each slot is for a round of the rest, as numbers of rounds."""
        return self.rest.left if place == self.rest.start else self._shuffled

    def from_here(self, place: int, fit: BoolArray, coins: BitSource) -> Plan:
        """The plan with its rounds from a place on in another order; first one of those that fit, if any."""
        left = np.bincount(self.deck[place - self.rest.start :], minlength=fit.size)
        fitting = np.cumsum(left * fit)
        first = -1
        if fitting[-1]:
            first = int(np.searchsorted(fitting, coins.generator().integers(fitting[-1]), side="right"))
        return Plan(self.phase, coins.bits64() >> 1, self.total, Rest(place, left, first))

    def dealt(self, sums: IntArray) -> tuple[Phase, IntArray]:
        """The slots that were dealt, and their rows of the phase's sums."""
        if self.total == self._planned:
            return self.phase, sums
        rounds = np.array([self.total])
        if len(self.phase.rounds) > 1:
            undealt = self.deck[self.total - self.rest.start :]
            rounds = self.phase.rounds - np.bincount(undealt, minlength=len(self.phase.rounds))
        kept = rounds > 0
        parts: list[Any] = [part[kept] for part in self.phase._replace(rounds=rounds)]
        return Phase(*parts), sums[kept]

    def encode(self) -> bytes:
        """The plan as bytes, with all its rounds."""
        numbers = {"seed": self.seed, "start": self.rest.start, "first": self.rest.first}
        return encode(numbers, self.phase._asdict() | {"left": self.rest.left})

    @classmethod
    def decode(cls, data: bytes, n: int, total: int | None = None) -> Self:
        """The plan in `data`, if it is one for n items and has so many rounds, or more; by default all."""
        values, arrays = decode(data)
        try:
            left = arrays.pop("left", arrays["rounds"])  # plans of earlier releases have no rest
            rest = Rest(int(values.get("start", 0)), left, int(values.get("first", -1)))
            plan = cls(checked_phase(Phase(**arrays), n), int(values["seed"]), total, rest)
        except (InvalidType, LookupError, TypeError, ValueError):
            raise InvalidArgument("A stored phase is damaged.") from None
        if not plan._makes_sense():
            raise InvalidArgument("A stored phase is damaged.")
        return plan

    def _makes_sense(self) -> bool:
        (start, left, first), rounds = self.rest, self.phase.rounds
        if left.shape != rounds.shape or left.dtype != rounds.dtype or not -1 <= first < rounds.size:
            return False
        sound = (left >= 0).all() and (left <= rounds).all() and start + left.sum() == self._planned
        return bool(sound and (first < 0 or left[first] > 0) and start <= self.total <= self._planned) and (
            self.total > 0
        )


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
