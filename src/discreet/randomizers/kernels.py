"""The one-bit randomizer for compiled loops: the same rules as on a client, compiled."""

from collections.abc import Callable

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.privacy.sensitivity import to_units
from discreet.privacy.uniform import DRY
from discreet.randomizers import one_bit
from discreet.randomness import WordArray

_bit_of: Callable[[int, int, int], bool] = lean_kernel(one_bit.bit_of)
_ONE = np.uint64(1)


@lean_kernel
def release_bit(units: int, slope: int, words: WordArray, cursor: int) -> tuple[int, int]:
    """The bit of a private grid value, from one word; ``(0, DRY)`` if there is none left."""
    if cursor >= words.size:
        return 0, DRY
    uniform: int = np.int64(words[cursor] >> _ONE)  # type: ignore[assignment] # compiled: int64
    return int(_bit_of(units, slope, uniform)), cursor + 1


@lean_kernel
def release_bits(
    values: FloatArray,
    low: float,
    high: float,
    units: int,
    slope: int,
    out: IntArray,
    done: int,
    words: WordArray,
    cursor: int,
) -> tuple[int, int]:
    """The bits of many private values, one word each; of those after `done`, as many as there are words."""
    while done < values.size and cursor < words.size:
        out[done], cursor = release_bit(to_units(values[done], low, high, units), slope, words, cursor)
        done += 1
    return done, cursor
