"""Attacks on what releases single numbers, or sums in Python: by its own public methods."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.auditing.releases import Change, Slots, farthest_first
from discreet.auditing.target import Pair, bits_for
from discreet.checks import FloatArray
from discreet.kernel.releases import BitNoise
from discreet.prefix_sums.base import PrefixSum
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers import OneBit
from discreet.randomness import BitSource, Seed


def number_pairs(low: float, high: float, step: float) -> list[Pair]:
    """Two values of one person: ends of the range, its middle, far outside, not finite, one step apart."""
    middle, width = low + (high - low) / 2, high - low
    near = middle + 0.1 * width
    return [
        Pair("both ends of the range", high, low),
        Pair("both ends, one step off", high, low + step),
        Pair("far above and the lower end", high + 1e9 * width, low),
        Pair("far below and the upper end", low - 1e9 * width, high),
        Pair("not a number and the upper end", math.nan, high),
        Pair("infinite and minus infinite", math.inf, -math.inf),
        Pair("the middle and the lower end", middle, low),
        Pair("two values near the middle", near, middle - 0.1 * width),
        Pair("somewhat above the range and the lower end", high + 2 * width, low),
    ]


class Numbers:
    """A randomizer of single numbers: anything with `release(value)`, `guarantee` and `grid`."""

    most_runs = 40_000

    def __init__(self, randomizer: Any) -> None:
        self._randomizer, self._grid = randomizer, randomizer.grid

    def claim(self) -> Guarantee:
        guarantee: Guarantee = self._randomizer.guarantee
        return guarantee

    def pairs(self) -> list[Pair]:
        return number_pairs(self._grid.low, self._grid.high, self._grid.step)

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        twin = copy.copy(self._randomizer)
        twin._source = bits_for(twin._source, seed)
        release = twin.release
        return np.array([[release(data)] for _ in range(runs)], dtype=np.float64)

    def column(self, index: int) -> str:
        return "the released number"


def randomizer_target(given: Any) -> Any:
    """The attack on a randomizer: by its own method, or for exactly `OneBit` compiled."""
    if type(given) is not OneBit or "release" in vars(given):
        return Numbers(given)
    mechanism = BitNoise(given.slope, round(given.magnitude))
    pairs = number_pairs(given.grid.low, given.grid.high, given.grid.step)
    changes = farthest_first(
        Change(about, *(np.array([given.grid.of(value)]) for value in values)) for about, *values in pairs
    )
    return Slots(mechanism, changes, given.guarantee, given._source, horizon=1)


class Repeated:
    """Something that is made again for each run and then given inputs, one after the other.

    Args:
        make: From bits to a new object.
        step: Gives the object one input; returns what is seen of it.
        pairs: Sequences of inputs.
        claim: What is promised.
        source: Where its bits come from.
    """

    most_runs = 40_000

    def __init__(
        self,
        make: Callable[[BitSource], Any],
        step: Callable[[Any, Any], Sequence[float]],
        pairs: list[Pair],
        claim: Guarantee,
        source: BitSource,
    ) -> None:
        self._make, self._step, self._pairs, self._claim, self._source = make, step, pairs, claim, source

    def claim(self) -> Guarantee:
        return self._claim

    def pairs(self) -> list[Pair]:
        return self._pairs

    def observe(self, data: Sequence[Any], runs: int, seed: Seed | None) -> FloatArray:
        source = bits_for(self._source, seed)
        rows = []
        for _ in range(runs):
            made = self._make(source)
            rows.append([number for value in data for number in self._step(made, value)])
        return np.array(rows, dtype=np.float64)


def sums_target(given: PrefixSum, changes: list[Change], slots: int) -> Repeated:
    """Prefix sums whose rounds are not this package's compiled ones: `add` is called."""
    pattern = Slots(None, changes, given.guarantee, given._source, horizon=slots, slots=slots)
    settings, kind = given._settings(), type(given)

    def step(made: Any, vector: Any) -> Sequence[float]:
        total = made.add(vector).values / made.bound.step
        grown, made._seen_before = total - getattr(made, "_seen_before", 0.0), total
        return grown.tolist()  # type: ignore[no-any-return] # a list of floats

    return Repeated(
        lambda source: kind._from_settings(settings, source),
        step,
        pattern.pairs(),
        given.guarantee,
        given._source,
    )
