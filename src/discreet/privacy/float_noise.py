"""Noise in floating point, as the paper has it: for comparisons only, and never private.

The low bits of a sum of data and such noise give the data away (Mironov 2012): few pairs of random numbers
have exactly these bits for the true sum, and often none for another. `tests/privacy/test_float_noise.py`
carries out the attack. `discreet.privacy.noise` is exact.
"""

import math

import numpy as np

from discreet.checks import FloatArray
from discreet.compiled import lean_kernel
from discreet.randomness import BitArray

#: Why nothing with this noise is private.
MADE_OF_FLOATS = "its noise is made of floating-point numbers, whose low bits give the data away"

_TO_UNIT = 2.0**-53
_DROPPED_BITS = np.uint64(11)


@lean_kernel
def unit_float(drawn: np.uint64) -> float:
    """A float in (0, 1], from the upper 53 of 64 random bits."""
    return (np.float64(drawn >> _DROPPED_BITS) + 1.0) * _TO_UNIT


@lean_kernel
def fill_gaussian(sigma: float, out: FloatArray, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Fill ``out[done:]`` with normal deviates as far as the bits reach, two at a time (Box and Muller)."""
    while done < out.size and cursor + 2 <= bits.size:
        radius = sigma * math.sqrt(-2.0 * math.log(unit_float(bits[cursor])))
        angle = 2.0 * math.pi * unit_float(bits[cursor + 1])
        cursor += 2
        out[done] = radius * math.cos(angle)
        if done + 1 < out.size:
            out[done + 1] = radius * math.sin(angle)
        done += 2
    return min(done, out.size), cursor


@lean_kernel
def fill_spherical(scale: float, out: FloatArray, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Fill `out` with one vector of density proportional to exp(-|z|_2 / scale), all or nothing.

    The direction is uniform, the length Gamma(n, scale): the sum of n exponentials.
    """
    n = out.size
    if done >= n or cursor + 2 * ((n + 1) // 2) + n > bits.size:
        return done, cursor
    _, cursor = fill_gaussian(1.0, out, 0, bits, cursor)
    square, length = 0.0, 0.0
    for i in range(n):
        square += out[i] * out[i]
        length -= scale * math.log(unit_float(bits[cursor + i]))
    for i in range(n):
        out[i] *= length / math.sqrt(square)
    return n, cursor + n
