"""Audits of mechanisms that release one private number at a time."""

from __future__ import annotations

import numpy as np

from discreet.auditing.target import Score
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel
from discreet.privacy import noise
from discreet.privacy.guarantee import Guarantee
from discreet.randomizers.blocks import Blocks
from discreet.randomizers.kernels import release_bit
from discreet.randomizers.laplace import LaplaceOnGrid
from discreet.randomizers.one_bit import OneBit
from discreet.randomness import Seed, WordArray, WordSource


class OneBitReleases:
    """Bits about a number. Any two numbers are neighbours; the ends of the range differ most."""

    def __init__(self, randomizer: OneBit) -> None:
        self._randomizer = randomizer

    def claim(self) -> Guarantee:
        return self._randomizer.guarantee

    def neighbours(self) -> tuple[float, float]:
        return self._randomizer.grid.high, self._randomizer.grid.low

    def random_neighbours(self, seed: Seed) -> tuple[float, float]:
        return two_numbers(self._randomizer.grid.low, self._randomizer.grid.high, seed)

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        out = np.empty(runs, dtype=np.int64)
        units, slope = self._randomizer.grid.of(data), self._randomizer.slope
        WordSource(seed).feed(
            lambda done, words, cursor: _fill_bits(units, slope, out, done, words, cursor), runs
        )
        return out[:, None].astype(np.float64)

    def log_ratio(self, first: float, second: float) -> Score:
        grid = self._randomizer.grid
        ours, theirs = (
            float(self._randomizer.probability_of_one(grid.of(value))) for value in (first, second)
        )
        of_bits = np.log([(1 - ours) / (1 - theirs), ours / theirs])
        return lambda seen: np.asarray(of_bits[seen[:, 0].astype(np.int64)])


@kernel
def _fill_bits(
    units: int, slope: int, out: IntArray, done: int, words: WordArray, cursor: int
) -> tuple[int, int]:
    while done < out.size and cursor < words.size:
        out[done], cursor = release_bit(units, slope, words, cursor)
        done += 1
    return done, cursor


class LaplaceReleases:
    """Noisy numbers. Any two numbers are neighbours; the ends of the range differ most."""

    def __init__(self, randomizer: LaplaceOnGrid) -> None:
        self._randomizer = randomizer

    def claim(self) -> Guarantee:
        return self._randomizer.guarantee

    def neighbours(self) -> tuple[float, float]:
        return self._randomizer.grid.high, self._randomizer.grid.low

    def random_neighbours(self, seed: Seed) -> tuple[float, float]:
        return two_numbers(self._randomizer.grid.low, self._randomizer.grid.high, seed)

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        drawn = noise.sample(self._randomizer.law, runs, WordSource(seed))
        return (self._randomizer.grid.of(data) + drawn)[:, None].astype(np.float64)

    def log_ratio(self, first: float, second: float) -> Score:
        ours, theirs = (self._randomizer.grid.of(value) for value in (first, second))
        scale = float(self._randomizer.law.scale)
        return lambda seen: (np.abs(seen[:, 0] - theirs) - np.abs(seen[:, 0] - ours)) / scale


class BlockReleases:
    """Noisy means of blocks, of which the first number is exchanged; the others lie in the middle."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def claim(self) -> Guarantee:
        return self._blocks.guarantee

    def neighbours(self) -> tuple[float, float]:
        return self._blocks.grid.high, self._blocks.grid.low

    def random_neighbours(self, seed: Seed) -> tuple[float, float]:
        return two_numbers(self._blocks.grid.low, self._blocks.grid.high, seed)

    def observe(self, data: float, runs: int, seed: Seed | None) -> FloatArray:
        given = self._blocks
        blocks = Blocks(
            given.epsilon,
            (given.grid.low, given.grid.high),
            length=given.length,
            units=given.grid.units,
            source=WordSource(seed),
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
        grid, length, scale = self._blocks.grid, self._blocks.length, float(self._blocks.law.scale)
        ours, theirs = (grid.of(value) for value in (first, second))
        middle = grid.value(0.0)

        def score(seen: FloatArray) -> FloatArray:
            total = (seen[:, 0] - middle) / grid.step * length
            return (np.abs(total - theirs) - np.abs(total - ours)) / scale

        return score


def two_numbers(low: float, high: float, seed: Seed) -> tuple[float, float]:
    """Two random numbers in an interval."""
    first, second = np.random.default_rng(seed).uniform(low, high, 2).tolist()
    return first, second
