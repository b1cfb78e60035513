"""Exact uniform integers and exact coins of bias exp(-x), from uniform bits, in integers only."""

import numpy as np

from discreet.compiled import lean_kernel
from discreet.randomness import BitArray

NEED_MORE_BITS = -1  # a cursor that says: the bits ran out, replay this sample when there are more
ENDED = -1  # instead of a cell: the decreasing run is over

_EVEN = np.uint64(0xFFFF_FFFF_FFFF_FFFE)
_ONE = np.uint64(1)
_LOW_HALF = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)
_DROPPED_BITS = np.uint64(11)
_TWO_TO_63 = np.uint64(1 << 63)


@lean_kernel
def high_half(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of the 128-bit product of two bits, by halves."""
    a_low, a_high = a & _LOW_HALF, a >> _HALF
    b_low, b_high = b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    carry = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _HALF) + (carry >> _HALF)


@lean_kernel
def below(bound: int, bits: BitArray, cursor: int) -> tuple[int, int, int]:
    """An exactly uniform integer in [0, bound), 1 <= bound < 2^62, and the lowest bit, which is spare.

    The upper 63 bits x give floor(x * bound / 2^63). Integers whose product has a remainder below 2^63 mod
    bound are rejected, which leaves every result the same number of them (Lemire 2019).
    """
    size = np.uint64(bound)
    while cursor < bits.size:
        drawn = bits[cursor]
        cursor += 1
        twice = drawn & _EVEN  # 2 x, so that the product splits at 64 bits instead of 63
        remainder = twice * size
        if remainder >= size + size or remainder >= (_TWO_TO_63 % size) * np.uint64(2):
            value: int = np.int64(high_half(twice, size))  # type: ignore[assignment] # compiled: int64
            spare: int = np.int64(drawn & _ONE)  # type: ignore[assignment] # compiled: int64
            return value, spare, cursor
    return 0, 0, NEED_MORE_BITS


@lean_kernel
def next_in_run(previous: int, ties: int, bound: int, bits: BitArray, cursor: int) -> tuple[int, int, int]:
    """Draw one more uniform real and say whether it is smaller than the one before.

    A real in [0, 1) is its cell, a uniform integer in [0, bound), and its place within the cell, which is
    never drawn: reals in one cell that follow each other in a decreasing run have independent uniform places
    that happen to decrease, so a newcomer to a group of m - 1 of them is the smallest with probability 1/m.
    `ties` counts the reals at the end of the run that share the cell `previous`: 0 for a start that is the
    upper end of its cell. The result is ``(cell, ties, cursor)``, the cell `ENDED` if the newcomer is larger.
    """
    cell, _, cursor = below(bound, bits, cursor)
    if cursor == NEED_MORE_BITS or cell > previous:
        return ENDED, 0, cursor
    if cell < previous:
        return cell, 1, cursor
    ties += 1
    if ties > 1:
        rank, _, cursor = below(ties, bits, cursor)
        if cursor == NEED_MORE_BITS or rank != 0:
            return ENDED, 0, cursor
    return cell, ties, cursor


@lean_kernel
def run_is_even(start: int, ties: int, bound: int, bits: BitArray, cursor: int) -> tuple[bool, int]:
    """A coin of bias exp(-x): whether a decreasing run of uniform reals below x has even length.

    Von Neumann's trick: x > z_1 > z_2 > ... > z_n happens with probability x^n / n!, so the longest such run
    is even with probability sum (-x)^n / n!. The real x lies uniformly in cell `start` of `bound` many if
    `ties` is 1, and is the upper end of that cell if `ties` is 0.
    """
    even = True
    cell = start
    while True:
        cell, ties, cursor = next_in_run(cell, ties, bound, bits, cursor)
        if cell == ENDED:
            return even, cursor
        even = not even


@lean_kernel
def uniform_float(drawn: np.uint64) -> float:
    """A float in [0, 1), from the upper 53 of 64 random bits: for coins, which need not be exact."""
    return np.float64(drawn >> _DROPPED_BITS) * 2.0**-53
