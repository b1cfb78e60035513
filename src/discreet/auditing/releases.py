"""Attacks on releases: the compiled code that adds the noise, run many times on two reports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.auditing import likelihoods
from discreet.auditing.target import Pair, Score, bits_for
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel, rewind
from discreet.kernel.phase import Ticket
from discreet.kernel.queries import Query, measure
from discreet.kernel.releases import BitNoise, arrive, close
from discreet.learners.learner import Learner
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.privacy import noise
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.sensitivity import VectorBound
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers import CENTRE
from discreet.randomness import BitArray, BitSource, Seed
from discreet.state import copied

#: Slots that are watched: at least and, to see all levels of a tree, at most.
SLOTS, MOST_SLOTS = 8, 1024
#: Numbers that are released and kept in one part of an audit.
MOST_NUMBERS = 20_000_000


class Change(NamedTuple):
    """What one report can be: two vectors in units, and what led to them."""

    about: str
    first: IntArray
    second: IntArray


class Slots:
    """A mechanism of the kernel over several slots, each with one report; neighbours differ in one of them.

    Args:
        mechanism: Named tuple of constants and secret arrays, before its first slot. It is not changed.
        changes: What the report of a person can be; the farthest apart come first.
        claim: What is promised.
        source: Where its bits come from.
        horizon: How many slots it can release.
        dtype: Of released numbers.
        slots: How many to watch; by default as many as show all levels of a tree.
    """

    def __init__(
        self,
        mechanism: Any,
        changes: list[Change],
        claim: Guarantee,
        source: BitSource,
        *,
        horizon: int,
        dtype: Any = np.int64,
        slots: int | None = None,
    ) -> None:
        self._mechanism, self._changes, self._claim, self._source = mechanism, changes, claim, source
        needed = max(SLOTS, claim.rounds_per_person, likelihoods.slots_of_all_levels(mechanism))
        self._slots = min(horizon, needed, MOST_SLOTS) if slots is None else slots
        self._times = likelihoods.watched_times(mechanism, self._slots)
        self._dimension, self._dtype = changes[0].first.size, dtype
        self.most_runs = MOST_NUMBERS * 10 // (self._slots * self._dimension)

    def claim(self) -> Guarantee:
        return self._claim

    def pairs(self) -> list[Pair]:
        """The farthest change in the first, a middle and the last slot, and the others in the first."""
        places = sorted({0, min(5, self._slots - 1), self._slots - 1})
        farthest, *others = self._changes
        placed = [(place, farthest) for place in places] + [(0, change) for change in others]
        return [
            Pair(f"slot {place + 1}: {change.about}", *self._reports(place, change))
            for place, change in placed
        ]

    def _reports(self, place: int, change: Change) -> Iterator[IntArray]:
        """Neutral reports but for one person's: as many as one person may have."""
        first = min(place, max(0, self._slots - self._claim.rounds_per_person))
        for vector in change[1:]:
            reports = np.zeros((self._slots, self._dimension), dtype=np.int64)
            reports[first : first + self._claim.rounds_per_person] = vector
            yield reports

    def observe(self, data: IntArray, runs: int, seed: Seed | None) -> FloatArray:
        start, mine = copied(self._mechanism), copied(self._mechanism)
        seen = np.empty((runs, self._times.size, self._dimension), dtype=self._dtype)
        kept = np.searchsorted(self._times, np.arange(1, self._slots + 1))
        units, released = (
            np.zeros(self._dimension, dtype=np.int64),
            np.zeros(self._dimension, dtype=self._dtype),
        )
        bits_for(self._source, seed).feed(
            lambda done, bits, cursor: _play(
                mine, start, data, kept, units, released, seen, done, bits, cursor
            ),
            runs,
        )
        return seen.reshape(runs, -1).astype(np.float64)

    def log_ratio(self, first: IntArray, second: IntArray) -> Score | None:
        return likelihoods.log_ratio(self._mechanism, self._times, first, second)

    def weakened(self, factor: float) -> Slots | None:
        """The same with noise that is too small by a factor; None if it is not known how."""
        largest = max(int(np.abs(vector).max()) for change in self._changes for vector in change[1:])
        weak = with_less_noise(self._mechanism, factor, largest)
        if weak is None:
            return None
        made = Slots.__new__(Slots)
        made.__dict__.update(self.__dict__, _mechanism=weak)
        return made

    def column(self, index: int) -> str:
        time, number = divmod(index, self._dimension)
        return f"number {number + 1} released after slot {self._times[time]}"


@lean_kernel
def _play(
    mechanism: Any,
    start: Any,
    reports: IntArray,
    kept: IntArray,
    units: IntArray,
    released: npt.NDArray[Any],
    seen: npt.NDArray[Any],
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    n = units.size
    while done < seen.shape[0]:
        rewind(mechanism, start)
        for t in range(seen.shape[1]):
            for i in range(n):
                seen[done, t, i] = 0
        after = cursor
        for slot in range(reports.shape[0]):
            for i in range(n):
                units[i] = reports[slot, i]
            after = arrive(mechanism, units, bits, after)
            if after == NEED_MORE_BITS:
                break
            after = close(mechanism, units, released, bits, after)
            if after == NEED_MORE_BITS:
                break
            for i in range(n):
                seen[done, kept[slot], i] += released[i]
        if after == NEED_MORE_BITS:
            break
        cursor = after
        done += 1
    return done, cursor


def with_less_noise(mechanism: Any, factor: float, largest: int) -> Any:
    """A mechanism whose noise is too small by a factor; None if it holds no noise that is known.

    Args:
        mechanism: Of the kernel.
        factor: The loss grows by it.
        largest: The largest number that is reported, in units.
    """
    if type(mechanism) is BitNoise:
        bias = largest * mechanism.slope / CENTRE
        return mechanism._replace(slope=int(mechanism.slope * math.tanh(factor * math.atanh(bias)) / bias))
    if type(mechanism) is SphericalSteps:
        return mechanism._replace(scale=mechanism.scale / factor)
    law = getattr(mechanism, "law", None)
    if not isinstance(law, noise.Law):
        return None
    make = noise.gaussian if law.is_gaussian else noise.laplace
    return mechanism._replace(law=make(law.scale / Fraction(factor)))


def changes_of_vectors(bound: VectorBound, dimension: int, relation: Neighbours) -> list[Change]:
    """Reports at corners of a bound, and what is forced into it: odd, far outside, not finite."""
    corner = np.zeros(dimension, dtype=np.int64)
    left = bound.l1
    for i in range(dimension):
        corner[i] = min(bound.coordinate, left) * (1 if i % 2 == 0 else -1)
        left -= abs(int(corner[i]))
    corner = bound.enforce(corner)
    odd = -corner
    odd[0] += 1
    far = np.full(dimension, 1e9 * bound.step * bound.l1)
    inputs = {
        "the corner of the bound": corner,
        "its opposite": -corner,
        "its opposite, one step off": odd,
        "far outside": bound.enforce(far),
        "far outside, negative": bound.enforce(-far),
        "not a number": bound.enforce(np.full(dimension, math.nan)),
        "infinite": bound.enforce(np.full(dimension, math.inf)),
        "the middle": np.zeros(dimension, dtype=np.int64),
    }
    if relation is Neighbours.ZERO_OUT_ONE_ROUND:
        zero = inputs["the middle"]
        return farthest_first(Change(f"{name} against zero", units, zero) for name, units in inputs.items())
    return farthest_first(_all_pairs(inputs))


def changes_of_feedback(learner: Learner) -> list[Change]:
    """What the query measures of two people's feedback, for many kinds of feedback and many tickets.

    The worst of each kind is kept: of ends of the range, values far outside and not finite, the middle, and
    numbers of odd difference; along the identity and along other orders.
    """
    n, query = learner.n, learner.query
    generator = np.random.default_rng(0)
    planned = learner.plan(learner.policy.start(), BitSource(seed=0))
    width = max(1, planned.note.shape[1])
    orders = {"": np.arange(n), "reversed order, ": np.arange(n)[::-1].copy()}
    orders |= {"shuffled order, ": generator.permutation(n)}
    sizes, chances, signs = sorted({0, 1, n // 2, n}), [1.0, 0.5, 1e-3], [1.0, -1.0]
    if query.whole:  # which set was chosen plays no part
        sizes, chances, signs = [n], [1.0], [1.0]
    found: list[Change] = []
    for (name, order), size, chance, sign in itertools.product(orders.items(), sizes, chances, signs):
        measured: dict[str, IntArray] = {}
        for about, costs in _feedback(query, n):
            out = np.zeros(learner.dimension, dtype=np.int64)
            measure(query, costs, Ticket(1, 0, 0, size, chance, order, np.full(width, sign)), out)
            measured[name + about] = out
        found += farthest_first(_all_pairs(measured))
    return farthest_first(found)


def _feedback(query: Query, n: int) -> Iterator[tuple[str, FloatArray]]:
    """Costs of one set, or of all prefixes of an order."""
    low, high = query.low, query.high
    step = (high - low) / 2 / getattr(query, "units", 1 << 20)
    numbers = {
        "the upper end": high,
        "the lower end": low,
        "one step above the lower end": low + step,
        "the middle": low + (high - low) / 2,
        "far above": high + 1e9 * (high - low),
        "far below": low - 1e9 * (high - low),
        "not a number": math.nan,
        "infinite": math.inf,
    }
    if not query.whole:
        yield from ((about, np.array([value])) for about, value in numbers.items())
        return
    places = np.arange(n + 1)
    for about, value in numbers.items():
        yield f"{about} everywhere", np.full(n + 1, value)
        for k in range(min(n, 4)):
            yield f"{about} after {k + 1} items", np.where(places == k + 1, value, low)
            yield f"{about} except after {k + 1} items", np.where(places == k + 1, low, value)


def _all_pairs(inputs: dict[str, IntArray]) -> Iterator[Change]:
    for (name, first), (other, second) in itertools.combinations(inputs.items(), 2):
        yield Change(f"{name} against {other}", first, second)


def farthest_first(changes: Iterable[Change]) -> list[Change]:
    """The farthest apart in L1 of each kind of change, the farthest of all first."""
    kinds = ("", "odd", "far", "not a number", "infinite", "the middle", "order")
    best: dict[str, tuple[float, Change]] = {}
    given = list(changes)
    for change in given:
        difference = change.first.astype(np.float64) - change.second
        distance = float(np.abs(difference).sum())
        odd = bool((np.abs(difference) % 2 == 1).any())
        for kind in kinds:
            fits = distance > 0 and (odd if kind == "odd" else kind in change.about)
            if fits and (kind not in best or distance > best[kind][0]):
                best[kind] = distance, change
    listed: list[Change] = []
    for _, change in sorted(best.values(), key=lambda entry: -entry[0]):
        seen = {(one.first.tobytes(), one.second.tobytes()) for one in listed}
        if (change.first.tobytes(), change.second.tobytes()) not in seen:
            listed.append(change)
    return listed or given[:1]
