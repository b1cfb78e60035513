"""How one private cost (or the sum of a block of them) leaves: as a bit, with noise, or as it is.

Each kind is a named tuple of public constants and room for its noise. `release` gives a number in grid
units whose mean is the sum that went in.
"""

from typing import Any, NamedTuple

import numpy as np

from discreet.checks import IntArray
from discreet.compiled import generic, lean_kernel
from discreet.privacy.noise import Law, fill
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomizers.kernels import release_bit
from discreet.randomness import BitArray


@generic
def release(kind: Any, total: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """The released number for a private sum of grid units, and the new cursor, or (0, NEED_MORE_BITS)."""
    raise AssertionError("declares a generic function")


class AsBit(NamedTuple):
    """One bit: plus or minus `magnitude`."""

    slope: int
    magnitude: int


class WithLaplace(NamedTuple):
    """The sum plus discrete Laplace noise."""

    law: Law
    fresh: IntArray


class AsItIs(NamedTuple):
    """The sum itself: not private."""


@release.register(AsBit)
@lean_kernel
def _release_bit(kind: AsBit, total: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    bit, cursor = release_bit(total, kind.slope, bits, cursor)
    return (kind.magnitude if bit == 1 else -kind.magnitude), cursor


@release.register(WithLaplace)
@lean_kernel
def _release_with_noise(kind: WithLaplace, total: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    done, cursor = fill(kind.law, kind.fresh, 0, bits, cursor)
    if done == 0:
        return 0, NEED_MORE_BITS
    noisy = total + kind.fresh[0]
    kind.fresh[0] = 0
    return noisy, cursor


@release.register(AsItIs)
@lean_kernel
def _release_as_it_is(kind: AsItIs, total: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    return total, cursor


def with_laplace(law: Law) -> WithLaplace:
    """Laplace noise of this law."""
    return WithLaplace(law, np.zeros(1, dtype=np.int64))
