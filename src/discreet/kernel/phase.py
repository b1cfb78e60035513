"""What policy and kernel hand each other: a planned `Phase`, tickets, secret reports, what is released."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import Settled, lean_kernel
from discreet.errors import InvalidArgument, InvalidType
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomness import BitArray, BitSource

EACH_ROUND = -1  # the size of a slot whose set is drawn for each round, from `Phase.chance`
LONGEST_DECK = 1 << 24  # most rounds in a phase of several slots, which are shuffled
INTEGER, FLOAT = np.dtype(np.int64), np.dtype(np.float64)
PHASE_KINDS = [INTEGER, FLOAT, INTEGER, INTEGER, FLOAT]  # the types of a phase's arrays

_CANNOT_BE_DEALT = (
    "A policy planned a phase that cannot be dealt: it needs arrays as `Phase` describes them, orders of "
    "different items, sizes that fit them, probabilities, finite notes, and at least one round per slot."
)


class Phase(NamedTuple):
    """Slots that are planned together. A slot's set is a prefix of its order of items.

    Attributes:
        order: The available items, one row per slot.
        chance: The probability of each prefix of the order, the empty one first. Where the policy has drawn
            the set itself, only the entry of that prefix counts.
        size: The length of the prefix that is chosen in each round, or EACH_ROUND.
        rounds: For how many rounds each slot is dealt.
        note: Rows of public numbers of the policy's own, which come back with what is released.

    Examples:
        >>> Phase.of_sets(3, [[0, 2], []], rounds=50).size
        array([2, 0])
    """

    order: IntArray
    chance: FloatArray
    size: IntArray
    rounds: IntArray
    note: FloatArray

    @classmethod
    def of_sets(
        cls,
        n: int,
        sets: Iterable[Iterable[int]],
        rounds: int | Sequence[int],
        note: npt.ArrayLike | None = None,
    ) -> Phase:
        """Fixed sets of item numbers, each for so many rounds, which are dealt in random order.

        A note is a row of numbers per set, by default the number of the set in this list.
        """
        members = [sorted(set(chosen)) for chosen in sets]
        count = len(members)
        order = [chosen + sorted(set(range(n)) - set(chosen)) for chosen in members]
        return cls(
            np.array(order, dtype=np.int64).reshape(count, n),
            np.ones((count, n + 1)),
            np.array([len(chosen) for chosen in members], dtype=np.int64),
            np.broadcast_to(np.asarray(rounds, dtype=np.int64), count).copy(),
            np.array(range(count) if note is None else note, dtype=np.float64).reshape(count, -1),
        )


def empty_phase(items: IntArray, notes: int) -> Phase:
    """Room for one slot among these items, for compiled policies to fill in."""
    n, size, rounds = items.size, np.zeros(1, INTEGER), np.zeros(1, INTEGER)
    return Phase(
        items.astype(INTEGER).reshape(1, n), np.zeros((1, n + 1)), size, rounds, np.zeros((1, notes))
    )


def checked_phase(phase: Any, n: int) -> Phase:
    """A copy of a policy's phase whose rounds can be dealt: compiled code trusts its numbers."""
    if not isinstance(phase, Phase):
        raise InvalidType(f"A policy must plan a Phase. Got {type(phase).__name__} instead.")
    parts: list[Any] = [np.array(part, order="C") for part in phase]
    copy = Phase(*parts)
    slots, items = copy.order.shape if copy.order.ndim == 2 else (0, 0)
    shapes = ((slots, items), (slots, items + 1), (slots,), (slots,))
    if (
        slots == 0
        or tuple(part.shape for part in copy[:4]) != shapes
        or (copy.note.ndim, len(copy.note)) != (2, slots)
        or [part.dtype for part in copy] != PHASE_KINDS
    ):
        raise InvalidArgument(_CANNOT_BE_DEALT)
    return require_dealable(copy, n)


def require_dealable(phase: Phase, n: int) -> Phase:
    """The phase, if its numbers make sense; its arrays have the right shapes and types already."""
    most = MOST_ROUNDS if len(phase.rounds) == 1 else LONGEST_DECK
    if not _dealable(phase, most, np.zeros(n, dtype=np.int64)):
        raise InvalidArgument(_CANNOT_BE_DEALT)
    return phase


@lean_kernel
def numbers_make_sense(phase: Phase, most_rounds: int, seen: IntArray) -> bool:
    """Whether a phase can be dealt, of at most so many rounds. `seen` has a zero for each item."""
    left = most_rounds
    for slot in range(phase.rounds.size):
        size = phase.size[slot]
        if not (EACH_ROUND <= size <= phase.order.shape[1] and 1 <= phase.rounds[slot] <= left):
            return False
        left -= phase.rounds[slot]
        for k in range(phase.order.shape[1]):
            item = phase.order[slot, k]
            if item < 0 or item >= seen.size or seen[item] > slot:
                return False
            seen[item] = slot + 1
        total = 0.0
        for k in range(phase.chance.shape[1]):
            if not phase.chance[slot, k] >= 0.0:
                return False
            total += phase.chance[slot, k]
        if size == EACH_ROUND:
            if not abs(total - 1.0) < 1e-6:
                return False
        elif not 0.0 < phase.chance[slot, size] <= 1.0 + 1e-9:
            return False
        for k in range(phase.note.shape[1]):
            if not abs(phase.note[slot, k]) < np.inf:
                return False
    return True


_dealable = Settled(numbers_make_sense)


def dealt_part(phase: Phase, deck: IntArray, dealt: int) -> tuple[Phase, BoolArray]:
    """A phase that ends after so many rounds of a deck: the slots that were dealt, and which these are."""
    slots = len(phase.rounds)
    rounds = np.bincount(deck[:dealt], minlength=slots) if slots > 1 else np.array([dealt])
    kept = rounds > 0
    parts: list[Any] = [part[kept] for part in phase._replace(rounds=rounds)]
    return Phase(*parts), kept


_NO_DECK = np.zeros(0, dtype=np.int64)


def shuffled_deck(phase: Phase, coins: BitSource) -> IntArray:
    """The slot of each round: every slot as often as it has rounds, in random order; empty for one slot."""
    if len(phase.rounds) == 1:
        return _NO_DECK
    return coins.generator().permutation(np.repeat(np.arange(len(phase.rounds)), phase.rounds))


@lean_kernel
def chain_chances(x: FloatArray, order: IntArray, gamma: float, chance: FloatArray) -> None:
    """The probabilities of the prefixes of an order that sorts x decreasingly, with exploration gamma."""
    above = 1.0
    for k in range(order.size + 1):
        below = x[order[k]] if k < order.size else 0.0
        chance[k] = max(0.0, (1.0 - gamma) * (above - below) + gamma / (order.size + 1))
        above = below


@lean_kernel
def draw_prefix(x: FloatArray, order: IntArray, gamma: float, uniform: float) -> tuple[int, float]:
    """The length and the chance of a prefix drawn with these chances, never one of chance zero."""
    last, chance, above = 0, 0.0, 1.0
    for k in range(order.size + 1):
        below = x[order[k]] if k < order.size else 0.0
        probability = (1.0 - gamma) * (above - below) + gamma / (order.size + 1)
        if probability > 0.0:
            if uniform < probability:
                return k, probability
            uniform -= probability
            last, chance = k, probability
        above = below
    return last, chance


@lean_kernel
def draw_size(chance: FloatArray, size: int, coins: BitArray, cursor: int) -> tuple[int, int]:
    """The prefix of one round, and the new cursor; a set that the slot has fixed needs no coin."""
    if size != EACH_ROUND:
        return size, cursor
    if cursor >= coins.size:
        return 0, NEED_MORE_BITS
    uniform = uniform_float(coins[cursor])
    last = 0
    for k in range(chance.size):
        if chance[k] > 0.0:
            last = k
            if uniform < chance[k]:
                break
            uniform -= chance[k]
    return last, cursor + 1


def drawn_size(chance: FloatArray, size: int, coins: BitSource) -> int:
    """The prefix of one round: the slot's own, or one drawn with these chances."""
    if size != EACH_ROUND:
        return size
    return draw_size(chance, EACH_ROUND, np.array([coins.bits64()], dtype=np.uint64), 0)[0]


def chain_among(phase: Phase, slot: int, available: IntArray | None) -> tuple[IntArray, FloatArray]:
    """The order of a slot and the chances of its prefixes, among the available items."""
    order, chance = phase.order[slot], phase.chance[slot]
    if available is None or np.isin(order, available).all():
        return order, chance
    size = int(phase.size[slot])
    if size == EACH_ROUND:
        return restricted(order, chance, available)
    kept = np.isin(order, available)
    if not kept[:size].all():
        raise InvalidArgument("This learner cannot switch items off now: its next set was chosen among all.")
    among = np.zeros(int(kept.sum()) + 1)
    among[size] = chance[size]
    return order[kept], among


def slots_among(phase: Phase, available: IntArray | None) -> BoolArray:
    """Which slots can be dealt if only these items (or all) are available."""
    if available is None:
        return np.ones(phase.size.size, dtype=np.bool_)
    off = ~np.isin(phase.order, available)
    inside = np.arange(phase.order.shape[1]) < phase.size[:, None]
    return np.asarray(~(off & inside).any(axis=1))


def sets_in(phase: Phase, n: int) -> BoolArray:
    """Every set that a phase may deal, a row of members each."""
    items = phase.order.shape[1]
    sizes = np.arange(items + 1)
    dealt = np.where(phase.size[:, None] == EACH_ROUND, phase.chance > 0, phase.size[:, None] == sizes)
    slot, size = np.nonzero(dealt)
    members = np.zeros((slot.size, n), dtype=np.bool_)
    inside = np.arange(items) < size[:, None]
    members[np.nonzero(inside)[0], phase.order[slot][inside]] = True
    return members


def probability_of(phase: Phase, chosen: set[int], available: IntArray | None) -> float:
    """With which a phase deals a set: each slot that can be dealt has its share of the rounds."""
    fit = slots_among(phase, available)
    total, size = 0.0, len(chosen)
    for slot in np.flatnonzero(fit & ((phase.size == size) | (phase.size == EACH_ROUND))).tolist():
        order, chance = chain_among(phase, slot, available)
        if set(order[:size].tolist()) == chosen:
            total += float(chance[size]) * int(phase.rounds[slot])
    return total / int(phase.rounds[fit].sum())


def restricted(order: IntArray, chance: FloatArray, available: IntArray) -> tuple[IntArray, FloatArray]:
    """A chain and its probabilities among the available items."""
    kept = np.isin(order, available)
    among = np.zeros(int(kept.sum()) + 1)
    np.add.at(among, np.append(0, np.cumsum(kept)), chance)
    return order[kept], among


class Ticket(NamedTuple):
    """One dealt round: all that its feedback needs later.

    The chosen set is the prefix of length `size` of `order`, the items that could be chosen, and was dealt
    with probability `chance`. Ids count from 1, phases from 0. The note is that of the slot.
    """

    id: int
    phase: int
    slot: int
    size: int
    chance: float
    order: IntArray
    note: FloatArray


class Secret:
    """Exact numbers about people. Only a release may read them; they print as nothing."""

    __slots__ = ("_units",)

    def __init__(self, units: IntArray) -> None:
        self._units = units

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidType("Secret numbers cannot be read: only what a release makes of them can.")

    def __reduce__(self) -> NoReturn:
        raise InvalidType("Secret numbers cannot be copied or pickled.")

    def __repr__(self) -> str:
        return "Secret(...)"


class Report(NamedTuple):
    """Bounded feedback for one ticket. It is secret, unless a local release has randomised it already."""

    ticket: Ticket
    units: Secret


@dataclasses.dataclass(frozen=True, eq=False)
class Released:
    """All that a policy sees of feedback: a row per slot, `values` in grid units around the middle."""

    note: FloatArray
    rounds: IntArray
    values: npt.NDArray[Any]

    def __post_init__(self) -> None:
        note, rounds, values = self.note, self.rounds, self.values
        sound = (
            (note.dtype, rounds.dtype) == (FLOAT, INTEGER)
            and values.dtype in (INTEGER, FLOAT)
            and (note.ndim, rounds.ndim, values.ndim) == (2, 1, 2)
            and len(note) == len(rounds) == len(values)
            and note.flags.c_contiguous
            and rounds.flags.c_contiguous
            and values.flags.c_contiguous
        )
        if not sound:
            raise InvalidType("A Released has a row of floats, an integer and a row of numbers per slot.")
        note.flags.writeable = rounds.flags.writeable = values.flags.writeable = False
