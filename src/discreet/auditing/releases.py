"""Audits of mechanisms that release one private number at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from discreet.auditing.as_shipped import is_as_shipped
from discreet.auditing.target import Score
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.errors import InvalidType
from discreet.privacy import noise
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers.blocks import Blocks
from discreet.randomizers.kernels import release_bit
from discreet.randomizers.laplace import LaplaceOnGrid
from discreet.randomizers.one_bit import OneBit
from discreet.randomness import BitArray, BitSource, Seed

Randomizer = TypeVar("Randomizer", bound=OneBit | LaplaceOnGrid | Blocks)


class Numbers(Generic[Randomizer]):
    """What is released about a number. Any two are neighbours; the ends of the range differ most."""

    def __init__(self, randomizer: Randomizer) -> None:
        self._randomizer = randomizer

    def claim(self) -> Guarantee:
        return self._randomizer.guarantee

    def neighbours(self) -> tuple[float, float]:
        return self._randomizer.grid.high, self._randomizer.grid.low

    def random_neighbours(self, seed: Seed) -> tuple[float, float]:
        grid = self._randomizer.grid
        first, second = np.random.default_rng(seed).uniform(grid.low, grid.high, 2).tolist()
        return first, second


class OneBitReleases(Numbers[OneBit]):
    """Bits about a number."""

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        if not is_as_shipped(self._randomizer):
            return released_one_by_one(self._randomizer.release, data, runs)
        out = np.empty(runs, dtype=np.int64)
        units, slope = self._randomizer.grid.of(data), self._randomizer.slope
        BitSource(seed).feed(
            lambda done, bits, cursor: _fill_bits(units, slope, out, done, bits, cursor), runs
        )
        return out[:, None].astype(np.float64)

    def log_ratio(self, first: float, second: float) -> Score:
        grid = self._randomizer.grid
        ours, theirs = (
            float(self._randomizer.probability_of_one(grid.of(value))) for value in (first, second)
        )
        of_bits = np.log([(1 - ours) / (1 - theirs), ours / theirs])
        return lambda seen: np.asarray(of_bits[np.clip(seen[:, 0], 0, 1).astype(np.int64)])


@lean_kernel
def _fill_bits(
    units: int, slope: int, out: IntArray, done: int, bits: BitArray, cursor: int
) -> tuple[int, int]:
    while done < out.size and cursor < bits.size:
        out[done], cursor = release_bit(units, slope, bits, cursor)
        done += 1
    return done, cursor


class LaplaceReleases(Numbers[LaplaceOnGrid]):
    """Noisy numbers."""

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        if not is_as_shipped(self._randomizer):
            return released_one_by_one(self._randomizer.release, data, runs)
        drawn = noise.sample(self._randomizer.law, runs, BitSource(seed))
        return (self._randomizer.grid.of(data) + drawn)[:, None].astype(np.float64)

    def log_ratio(self, first: float, second: float) -> Score:
        ours, theirs = (self._randomizer.grid.of(value) for value in (first, second))
        scale = float(self._randomizer.law.scale)
        return lambda seen: (np.abs(seen[:, 0] - theirs) - np.abs(seen[:, 0] - ours)) / scale


class BlockReleases(Numbers[Blocks]):
    """Noisy means of blocks, of which the first number is exchanged; the others lie in the middle."""

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        given = self._randomizer
        if not is_as_shipped(given):
            raise InvalidType(
                f"A {type(given).__name__} is no Blocks of this package: audit it through the three methods "
                "of `discreet.auditing.Target`."
            )
        blocks = Blocks(
            given.epsilon,
            (given.grid.low, given.grid.high),
            length=given.length,
            units=given.grid.units,
            source=BitSource(seed),
        )
        blocks.law = given.law  # audited as it is, whatever it claims
        seen = np.empty((runs, 1))
        for run in range(runs):
            released = blocks.add(data)
            for _ in range(given.length - 1):
                released = blocks.add(None)  # the middle of the range
            seen[run] = released
        return seen

    def log_ratio(self, first: float, second: float) -> Score:
        grid, length, scale = (
            self._randomizer.grid,
            self._randomizer.length,
            float(self._randomizer.law.scale),
        )
        ours, theirs = (grid.of(value) for value in (first, second))
        middle = grid.value(0.0)

        def score(seen: FloatArray) -> FloatArray:
            total = (seen[:, 0] - middle) / grid.step * length
            return (np.abs(total - theirs) - np.abs(total - ours)) / scale

        return score


def released_one_by_one(release: Callable[[float], object], data: float, runs: int) -> FloatArray:
    """What an object's own method releases; its noise is its own, too, whatever the seed of the audit."""
    return np.array([[release(data)] for _ in range(runs)], dtype=np.float64)
