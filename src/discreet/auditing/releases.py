"""Attacks on releases: the compiled code that adds the noise, run many times on two reports."""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.auditing import inputs, likelihoods
from discreet.auditing.attack import Pair
from discreet.auditing.scores import Score
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.kernel.choice import ChoiceSteps
from discreet.kernel.releases import BitNoise, arrive, close
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.privacy import noise
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers import CENTRE
from discreet.randomness import BitArray, BitSource, Seed
from discreet.state import in_one_block

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
    width: int | None = None  # how many numbers are released of a slot; by default as many as a report has

    def __post_init__(self) -> None:
        if self.slots is None:
            needed = max(SLOTS, self.per_person, likelihoods.slots_of_all_levels(self.mechanism))
            self.slots = min(self.horizon, needed, MOST_SLOTS)
        self._slots = checks.integer("audit", "rounds", self.slots, 1, self.horizon)
        self._times = likelihoods.watched_times(self.mechanism, self._slots)
        self._width = self.changes[0].first.size if self.width is None else self.width
        self.most_runs = MOST_NUMBERS // (self._slots * self._width)

    def pairs(self) -> list[Pair]:
        return inputs.pairs_in_slots(self.changes, self._slots, self.per_person)

    def observe(self, data: IntArray, runs: int, seed: Seed | None) -> FloatArray:
        mechanism, memory = in_one_block(self.mechanism)
        seen = np.zeros((runs, self._times.size, self._width), dtype=self.dtype)
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
        elif type(mechanism) is ChoiceSteps:
            weaker = mechanism._replace(scale=int(mechanism.scale / factor))
        elif isinstance(law, noise.Law):
            make = noise.gaussian if law.is_gaussian else noise.laplace
            weaker = mechanism._replace(law=make(law.scale / Fraction(factor)))
        else:
            return None
        return dataclasses.replace(self, mechanism=weaker)

    def column(self, index: int) -> str:
        time, number = divmod(index, self._width)
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


@lean_kernel
def _play(
    mechanism: Any, work: tuple[npt.NDArray[Any], ...], done: int, bits: BitArray, cursor: int
) -> tuple[int, int]:
    memory, start, units, released, reports, kept, seen = work
    while done < seen.shape[0]:
        for k in range(memory.size):
            memory[k] = start[k]
        for k in range(seen.shape[1]):
            for i in range(released.size):
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
            for i in range(released.size):
                seen[done, kept[slot], i] += released[i]
        cursor = after
        done += 1
    return done, cursor
