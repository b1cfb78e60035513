"""Attacks on releases: the compiled code that adds the noise, run many times on two reports."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.auditing import likelihoods
from discreet.auditing.attack import Pair
from discreet.auditing.scores import Score
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.queries import Query, measure
from discreet.kernel.releases import BitNoise, arrive, close
from discreet.learners.learner import Learner
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.privacy import noise
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.sensitivity import VectorBound
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers.one_bit import CENTRE
from discreet.randomness import BitArray, BitSource, Seed
from discreet.state import arrays_in

#: Slots that are watched: at least and, to see all levels of a tree, at most.
SLOTS, MOST_SLOTS = 8, 1024
#: Numbers that are released in an audit.
MOST_NUMBERS = 200_000_000


@dataclasses.dataclass
class Slots:
    """A mechanism of the kernel over several slots with one report each; neighbours differ in one person."""

    mechanism: Any  # before its first slot; it is not changed
    changes: list[Pair]  # of reports, in units; the farthest apart come first
    per_person: int  # in how many slots a person may be
    source: BitSource
    horizon: int  # how many slots it can release
    dtype: Any = np.int64  # of released numbers
    slots: int | None = None  # to watch; by default as many as show all levels of a tree

    def __post_init__(self) -> None:
        if self.slots is None:
            needed = max(SLOTS, self.per_person, likelihoods.slots_of_all_levels(self.mechanism))
            self.slots = min(self.horizon, needed, MOST_SLOTS)
        self._slots = checks.integer("audit", "rounds", self.slots, 1, self.horizon)
        self._times = likelihoods.watched_times(self.mechanism, self._slots)
        self._dimension = self.changes[0].first.size
        self.most_runs = MOST_NUMBERS // (self._slots * self._dimension)

    def pairs(self) -> list[Pair]:
        return pairs_in_slots(self.changes, self._slots, self.per_person)

    def observe(self, data: IntArray, runs: int, seed: Seed | None) -> FloatArray:
        mechanism, memory = _in_one_block(self.mechanism)
        seen = np.zeros((runs, self._times.size, self._dimension), dtype=self.dtype)
        kept = np.searchsorted(self._times, np.arange(1, self._slots + 1))
        work = memory, memory.copy(), data[0].copy(), seen[0, 0].copy(), data, kept, seen
        _bits(self.source, seed).feed(functools.partial(_play, mechanism, work), runs)
        return seen.reshape(runs, -1).astype(np.float64)

    def log_ratio(self, first: IntArray, second: IntArray) -> Score | None:
        return likelihoods.log_ratio(self.mechanism, self._times, first, second)

    def weakened(self, factor: float) -> Self | None:
        """The same with noise that is too small by a factor; None if it is not known how."""
        mechanism, law = self.mechanism, getattr(self.mechanism, "law", None)
        if type(mechanism) is BitNoise:
            largest = max(int(np.abs(units).max()) for change in self.changes for units in change[1:])
            bias = largest * mechanism.slope / CENTRE
            slope = int(mechanism.slope * math.tanh(factor * math.atanh(bias)) / bias)
            weaker: Any = mechanism._replace(slope=slope)
        elif type(mechanism) is SphericalSteps:
            weaker = mechanism._replace(scale=mechanism.scale / factor)
        elif isinstance(law, noise.Law):
            make = noise.gaussian if law.is_gaussian else noise.laplace
            weaker = mechanism._replace(law=make(law.scale / Fraction(factor)))
        else:
            return None
        return dataclasses.replace(self, mechanism=weaker)

    def column(self, index: int) -> str:
        time, number = divmod(index, self._dimension)
        return f"number {number + 1} released after slot {self._times[time]}"


@dataclasses.dataclass
class Called:
    """What runs in Python: a function from random bits and an input to all that is seen of it."""

    run: Callable[[BitSource, Any], Sequence[float]]
    tried: list[Pair]
    source: BitSource
    most_runs: int = 40_000

    def pairs(self) -> list[Pair]:
        return self.tried

    def observe(self, data: Any, runs: int, seed: Seed | None) -> FloatArray:
        source = _bits(self.source, seed)
        return np.array([self.run(source, data) for _ in range(runs)], dtype=np.float64)


def _bits(own: BitSource, seed: Seed | None) -> BitSource:
    """The object's own source of bits, unless the audit has a seed."""
    return own if seed is None else BitSource(seed)


def _in_one_block(mechanism: Any) -> tuple[Any, IntArray]:
    """A copy whose arrays lie in one block of memory, and that block: to restore it is to begin again."""
    arrays = [np.zeros(0, dtype=np.int64), *arrays_in(mechanism).values()]
    memory = np.concatenate([array.ravel().view(np.int64) for array in arrays])
    parts = iter(np.split(memory, np.cumsum([array.size for array in arrays]))[1:])

    def placed(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return next(parts).view(value.dtype).reshape(value.shape)
        return type(value)(*map(placed, value)) if hasattr(value, "_fields") else value

    return placed(mechanism), memory


@lean_kernel
def _play(
    mechanism: Any, work: tuple[npt.NDArray[Any], ...], done: int, bits: BitArray, cursor: int
) -> tuple[int, int]:
    memory, start, units, released, reports, kept, seen = work
    while done < seen.shape[0]:
        for k in range(memory.size):
            memory[k] = start[k]
        for k in range(seen.shape[1]):
            for i in range(units.size):
                seen[done, k, i] = 0
        after = cursor
        for slot in range(reports.shape[0]):
            for i in range(units.size):
                units[i] = reports[slot, i]
            after = arrive(mechanism, units, bits, after)
            if after != NEED_MORE_BITS:
                after = close(mechanism, units, released, bits, after)
            if after == NEED_MORE_BITS:
                return done, cursor
            for i in range(units.size):
                seen[done, kept[slot], i] += released[i]
        cursor = after
        done += 1
    return done, cursor


def values_to_tell(low: float, high: float, step: float) -> dict[str, float]:
    """What one person may tell: ends of a range, inside, outside, not finite, one step off."""
    middle, width = low + (high - low) / 2, high - low
    return {
        "the upper end": high,
        "the lower end": low,
        "one step above the lower end": low + step,
        "far above": high + 1e9 * width,
        "far below": low - 1e9 * width,
        "not a number": math.nan,
        "infinite": math.inf,
        "the middle": middle,
        "above half the range": middle + 0.1 * width,
        "somewhat above": high + 2 * width,
    }


def pairs_of_values(low: float, high: float, step: float) -> list[Pair]:
    """Each such value against the end of the range that is farther from it; both ends come first."""
    values, middle = values_to_tell(low, high, step), low + (high - low) / 2
    del values["the lower end"]
    return [
        Pair(f"{name} against the lower end", value, low)
        if value > middle
        else Pair(f"{name} against the upper end", value, high)
        for name, value in values.items()
    ]


def pairs_in_slots(changes: list[Pair], slots: int, per_person: int) -> list[Pair]:
    """The farthest change in the first, a middle and the last slot, and the others in the first.

    Other reports are neutral; a person has as many as one may have.
    """
    farthest, *others = changes
    places = [(place, farthest) for place in sorted({0, min(5, slots - 1), slots - 1})]
    pairs = []
    for place, change in places + [(0, change) for change in others]:
        first = min(place, max(0, slots - per_person))
        told = np.zeros((2, slots, farthest.first.size), dtype=np.int64)
        told[:, first : first + per_person] = np.array(change[1:])[:, None]
        pairs.append(Pair(f"slot {place + 1}: {change.about}", *told))
    return pairs


def changes_of_numbers(grid: Any) -> list[Pair]:
    """What a grid makes of one person's number."""
    values = values_to_tell(grid.low, grid.high, grid.step)
    return farthest_first([{name: np.array([grid.of(value)]) for name, value in values.items()}])


def changes_of_vectors(bound: VectorBound, dimension: int, relation: Neighbours) -> list[Pair]:
    """Reports at corners of a bound, and what is forced into it."""
    before = np.minimum(bound.l1, bound.coordinate * np.arange(dimension + 1))
    corner = np.diff(before) * np.where(np.arange(dimension) % 2 == 0, 1.0, -1.0)
    values = values_to_tell(-1.0, 1.0, 1.0 / bound.coordinate)
    with np.errstate(invalid="ignore"):  # infinity times zero
        inputs = {name: bound.enforce(value * bound.step * corner) for name, value in values.items()}
    against = (
        {"zero": np.zeros(dimension, dtype=np.int64)} if relation is Neighbours.ZERO_OUT_ONE_ROUND else None
    )
    return farthest_first([inputs], against)


def changes_of_feedback(learner: Learner) -> list[Pair]:
    """What the query measures of two people's feedback, for many kinds of feedback and many tickets."""
    n, query = learner.n, learner.query
    width = max(1, learner.plan(learner.policy.start(), BitSource(seed=0)).note.shape[1])
    orders = {
        "": np.arange(n),
        "reversed order, ": np.arange(n)[::-1].copy(),
        "shuffled order, ": np.random.default_rng(0).permutation(n),
    }
    sizes, chances, signs = sorted({0, 1, n // 2, n}), [1.0, 0.5, 1e-3], [1.0, -1.0]
    if query.whole:  # which set was chosen plays no part
        sizes, chances, signs = [n], [1.0], [1.0]
    tickets = []
    for (name, order), size, chance, sign in itertools.product(orders.items(), sizes, chances, signs):
        measured: dict[str, IntArray] = {}
        for about, costs in _feedback(query, n):
            out = measured[name + about] = np.zeros(learner.dimension, dtype=np.int64)
            measure(query, costs, order, size, chance, np.full(width, sign), out)
        tickets.append(measured)
    return farthest_first(tickets)


def _feedback(query: Query, n: int) -> Iterator[tuple[str, FloatArray]]:
    """Costs of one set, or of all prefixes of an order: one value in some places, the lower end in others."""
    places = np.arange(n + 1 if query.whole else 1)
    masks = {"": places >= 0}
    for k in range(1, min(places.size, 5)):
        masks |= {f" after {k} items": places == k, f" except after {k} items": places != k}
    step = (query.high - query.low) / 2 / getattr(query, "units", 1 << 20)
    values = values_to_tell(query.low, query.high, step)
    for (about, value), (where, mask) in itertools.product(values.items(), masks.items()):
        yield about + where, np.where(mask, value, query.low)


def farthest_first(
    groups: Iterable[dict[str, IntArray]], against: dict[str, IntArray] | None = None
) -> list[Pair]:
    """The reports of a group that lie farthest apart in L1, for each kind of report; the farthest first."""
    kinds = ("", "odd", "far", "not a number", "infinite", "the middle", "order")
    best: dict[str, tuple[float, Pair]] = {}
    for inputs in groups:
        others = against or inputs
        units, other_units = (np.array([*group.values()], dtype=np.float64) for group in (inputs, others))
        apart = np.abs(units[:, None] - other_units)
        distance, odd = apart.sum(axis=2), (apart % 2 == 1).any(axis=2)
        for kind in kinds:
            fits = odd if kind == "odd" else np.array([[kind in name] for name in inputs])
            one, other = np.unravel_index(np.argmax(distance * fits), distance.shape)
            if (distance * fits)[one, other] > best.get(kind, (0.0,))[0]:
                names = [*inputs][one], [*others][other]
                pair = Pair(" against ".join(names), inputs[names[0]], others[names[1]])
                best[kind] = float(distance[one, other]), pair
    ranked = sorted(best.values(), key=lambda entry: -entry[0])
    once = {(pair.first.tobytes(), pair.second.tobytes()): pair for _, pair in ranked}
    nothing = next(iter(inputs.values()))
    return [*once.values()] or [Pair("nothing that differs", nothing, nothing)]
