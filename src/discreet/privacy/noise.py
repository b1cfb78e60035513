"""Exact discrete Laplace and discrete Gaussian noise, compiled, from cryptographic bits.

The scale is rational and only integers are used, so the probability of every outcome z is the stated one,
proportional to exp(-abs(z) / scale) or to exp(-z^2 / (2 s^2)). Results are modulo 2^64: sums that wrap around
lose accuracy (with a probability below exp(-500) for the scales admitted here), never privacy.

References: von Neumann, "Various techniques used in connection with random digits", 1951; Karney, "Sampling
exactly from the normal distribution", 2016; Canonne, Kamath, Steinke, "The discrete Gaussian", 2020.

Examples:
    >>> laplace(Fraction(3, 2)).scale, variance(gaussian(Fraction(10)))
    (Fraction(3, 2), 100.0)
    >>> sample(laplace(Fraction(3, 2)), 5, BitSource(seed=1)).shape
    (5,)
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from discreet.checks import IntArray, integer, invalid_argument
from discreet.compiled import lean_kernel
from discreet.privacy.uniform import ENDED, NEED_MORE_BITS, below, next_in_run, run_is_even
from discreet.randomness import BitArray, BitSource

LARGEST_SCALE = 1 << 52  # no scale may exceed this, so that 2^11 scales still fit in 64 bits

_LAPLACE = 0
_GAUSSIAN = 1
_ENOUGH_CELLS = 1 << 20  # more make ties rarer still, which nobody would notice; the law stays the same
_FINE_GRID = 1 << 32
_HALF_CELL = (1 << 31) - 1  # the cell whose upper end is 1/2 on the fine grid


class Law(NamedTuple):
    """A noise law as the kernels see it: its kind and its scale, numerator / denominator."""

    kind: int
    numerator: int
    denominator: int

    @property
    def scale(self) -> Fraction:
        """The scale of the Laplace law, or the parameter s of the Gaussian, exactly."""
        return Fraction(self.numerator, self.denominator)

    @property
    def is_gaussian(self) -> bool:
        return self.kind == _GAUSSIAN


def laplace(scale: Fraction) -> Law:
    """The discrete Laplace law of the given scale, rounded up if it needs too many bits.

    Formal guarantees:
        Neighbours: integer vectors at L1 distance at most D. With scale at least D/epsilon, sums modulo 2^64
        are epsilon-differentially private: `docs/guarantees.md#finite-precision`.
    """
    return Law(_LAPLACE, *_fraction_for_kernel("laplace", "scale", scale))


def gaussian(sigma: Fraction) -> Law:
    """The discrete Gaussian law exp(-z^2 / (2 sigma^2)), sigma rounded up if it needs too many bits.

    Formal guarantees:
        Neighbours: vectors of integers at L2 distance at most D. The sums modulo 2^64 are
        (D / sigma)^2 / 2 -zCDP: `docs/guarantees.md#gaussian-noise`.
    """
    return Law(_GAUSSIAN, *_fraction_for_kernel("gaussian", "sigma", sigma))


def variance(law: Law) -> float:
    """The variance of one sample (of the Gaussian: an upper bound, exact to rounding once s > 1)."""
    scale = float(law.scale)
    return scale**2 if law.is_gaussian else 0.5 / math.sinh(0.5 / scale) ** 2


def sample(law: Law, count: int, source: BitSource) -> IntArray:
    """An array of `count` independent samples."""
    out = np.empty(integer("sample", "count", count, least=0), dtype=np.int64)
    source.feed(lambda done, bits, cursor: fill(law, out, done, bits, cursor), out.size)
    return out


@lean_kernel
def fill(law: Law, out: IntArray, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Fill ``out[done:]`` with samples as far as the bits reach; return the new ``(done, cursor)``."""
    while done < out.size:
        if law.kind == _LAPLACE:
            value, _, _, after = _one_laplace(law, bits, cursor)
        else:
            value, after = _one_gaussian(law, bits, cursor)
        if after == NEED_MORE_BITS:
            break
        out[done] = value
        done += 1
        cursor = after
    return done, cursor


@lean_kernel
def _one_laplace(law: Law, bits: BitArray, cursor: int) -> tuple[int, int, int, int]:
    """One discrete Laplace sample: the floor of a scaled exponential, with a sign.

    If E is a standard exponential, floor(E scale) equals z with probability proportional to exp(-z / scale).
    Von Neumann: x is uniform in [0, 1) and accepted with probability exp(-x); E is x plus the number of
    trials that failed before. Here x is a cell among `numerator` many, which is all the floor needs. Zero
    would come with both signs, so its negative is rejected. The result is ``(value, failures, part,
    cursor)``: before it wraps around, abs(value) is (failures + part / numerator) * scale, exactly.
    """
    top, bottom = law.numerator, law.denominator
    while True:
        failures, magnitude, remainder = 0, 0, 0  # failures * scale = magnitude + remainder / bottom
        nonzero = False  # seen before the magnitude may wrap around to zero
        while True:
            cell, negative, cursor = below(top, bits, cursor)
            if cursor == NEED_MORE_BITS:
                return 0, 0, 0, NEED_MORE_BITS
            accepted, cursor = run_is_even(cell, 1, top, bits, cursor)
            if cursor == NEED_MORE_BITS:
                return 0, 0, 0, NEED_MORE_BITS
            if accepted:
                break
            failures += 1
            magnitude += top // bottom
            remainder += top % bottom
            if remainder >= bottom:
                remainder -= bottom
                magnitude += 1
            nonzero = nonzero or magnitude != 0
        magnitude += (remainder + cell) // bottom
        if nonzero or magnitude != 0 or not negative:
            value = -magnitude if negative else magnitude
            return value, failures, cell - (remainder + cell) % bottom, cursor


@lean_kernel
def geometric(scale: int, bits: BitArray, cursor: int) -> tuple[int, int, int]:
    """An integer k or more with probability exp(-k / scale), for every k >= 0: ``(whole, part, cursor)``.

    It is whole * scale + part, with 0 <= part < scale, and is not added up here: it never wraps around. This
    is the floor of a scaled exponential, as in `_one_laplace`, without a sign.
    """
    whole = 0
    while True:
        part, _, cursor = below(scale, bits, cursor)
        if cursor == NEED_MORE_BITS:
            return 0, 0, NEED_MORE_BITS
        accepted, cursor = run_is_even(part, 1, scale, bits, cursor)
        if cursor == NEED_MORE_BITS:
            return 0, 0, NEED_MORE_BITS
        if accepted:
            return whole, part, cursor
        whole += 1


@lean_kernel
def _one_gaussian(law: Law, bits: BitArray, cursor: int) -> tuple[int, int]:
    """One discrete Gaussian sample: a Laplace sample, accepted with the right probability.

    With y = abs(z) / s, exp(-y) * exp(-(y - 1)^2 / 2) is proportional to exp(-y^2 / 2), so
    a Laplace sample of scale s is accepted with probability exp(-(y - 1)^2 / 2). Write
    abs(y - 1) = k + x with a whole k and x in [0, 1). Then the coin is k^2 coins of bias
    exp(-1/2) and k + 1 coins of bias exp(-x (2k + x) / (2k + 2)).
    """
    top = law.numerator
    while True:
        value, failures, part, cursor = _one_laplace(law, bits, cursor)
        if cursor == NEED_MORE_BITS:
            return 0, NEED_MORE_BITS
        k, x = _distance_from_one(failures, part, top)
        accepted = True
        for _ in range(k):
            for _ in range(k):
                if accepted:
                    accepted, cursor = run_is_even(_HALF_CELL, 0, _FINE_GRID, bits, cursor)
                    if cursor == NEED_MORE_BITS:
                        return 0, NEED_MORE_BITS
        for _ in range(k + 1):
            if accepted:
                accepted, cursor = _last_coin(x, top, k, bits, cursor)
                if cursor == NEED_MORE_BITS:
                    return 0, NEED_MORE_BITS
        if accepted:
            return value, cursor


@lean_kernel
def _distance_from_one(whole: int, part: int, top: int) -> tuple[int, int]:
    """The distance from 1 of y = whole + part / top >= 0, as (k, x): k + x / top with 0 <= x < top."""
    k = whole - 1 + part // top  # the floor: part may be negative
    x = part % top
    if k >= 0:
        return k, x
    return (1, 0) if x == 0 else (0, top - x)


@lean_kernel
def _last_coin(x: int, top: int, k: int, bits: BitArray, cursor: int) -> tuple[bool, int]:
    """A coin of bias exp(-y (2k+y) / (2k+2)) with y = x / top (Karney 2016, algorithm B).

    The run of `run_is_even` again, which goes on after each step only if a coin of bias (2k + y) / (2k + 2)
    shows heads: a die of 2k + 2 sides, of which 2k win, one loses, and one wins with probability y.
    """
    even = True
    cell, ties = x - 1, 0
    while True:
        cell, ties, cursor = next_in_run(cell, ties, top, bits, cursor)
        if cell == ENDED:
            return even, cursor
        side, _, cursor = below(2 * k + 2, bits, cursor)
        if cursor == NEED_MORE_BITS or side == 2 * k + 1:
            return even, cursor
        if side == 2 * k:
            part, _, cursor = below(top, bits, cursor)
            if cursor == NEED_MORE_BITS or part >= x:
                return even, cursor
        even = not even


def _fraction_for_kernel(owner: str, name: str, scale: Fraction) -> tuple[int, int]:
    """Numerator and denominator below 2^61 of a fraction that is at least `scale`.

    The numerator is the number of cells of the grid, and made large: with few cells there are many ties.
    """
    if not isinstance(scale, Fraction | int) or isinstance(scale, bool) or scale <= 0:
        raise invalid_argument(owner, name, "a positive Fraction", scale)
    if scale > LARGEST_SCALE:
        wanted = "at most 2**52 (a larger epsilon or a coarser grid lowers it)"
        raise invalid_argument(owner, name, wanted, float(scale) if scale < 1 << 1000 else math.inf)
    scale = Fraction(scale)
    if max(scale.numerator, scale.denominator) >> 60 or scale.denominator >> 31:
        denominator = 1 << max(0, min(31, 52 - (math.ceil(scale)).bit_length()))
        scale = Fraction(math.ceil(scale * denominator), denominator)
    refine = max(1, _ENOUGH_CELLS // scale.numerator)
    refine = min(refine, (1 << 60) // max(scale.numerator, scale.denominator))
    return scale.numerator * refine, scale.denominator * refine
