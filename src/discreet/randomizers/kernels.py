"""The one-bit randomizer for compiled loops: the same rules as on a client, compiled."""

from collections.abc import Callable

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.privacy.sensitivity import to_units
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers import one_bit
from discreet.randomness import BitArray

_bit_of: Callable[[int, int, int], bool] = lean_kernel(one_bit.bit_of)
_ONE = np.uint64(1)


@lean_kernel
def release_bit(units: int, slope: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """The bit of a private grid value, from 64 random bits; ``(0, NEED_MORE_BITS)`` if there is none left."""
    if cursor >= bits.size:
        return 0, NEED_MORE_BITS
    uniform: int = np.int64(bits[cursor] >> _ONE)  # type: ignore[assignment] # compiled: int64
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
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    """The bits of many private values; of those after `done`, as many as there are random integers."""
    while done < values.size and cursor < bits.size:
        out[done], cursor = release_bit(to_units(values[done], low, high, units), slope, bits, cursor)
        done += 1
    return done, cursor
