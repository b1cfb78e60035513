"""The steps of a prefix sum as compiled parts: what learners and simulators call in their loops.

A mechanism is a named tuple of its public constants and its secret state. One round is

1. `draw_noise`: draw the `samples_needed` by the round. Nothing that was released depends on them
   yet, so drawing may go on, or begin again, when the bits ran out;
2. `add_secret`: enter the vector, which cannot fail, and write by how much the noisy sum grows.

The vector must already be within its bound (`discreet.privacy.sensitivity`), and the caller counts
rounds: a mechanism made for T rounds must not take more.
"""

import functools
from typing import Any

import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import generic
from discreet.randomness import BitArray


@generic
def samples_needed(mechanism: Any) -> int:
    """How many samples the next round needs; a function of the round number alone.

    Examples:
        >>> from fractions import Fraction
        >>> from discreet.prefix_sums.plain import NoNoise, fresh_noise
        >>> from discreet.privacy.noise import laplace
        >>> samples_needed(NoNoise(2)), samples_needed(fresh_noise(2, laplace(Fraction(3))))
        (0, 2)
    """
    raise AssertionError("declares a generic function")


@generic
def draw_noise(mechanism: Any, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Draw the noise of the next round, of which `done` samples are there; the new (done, cursor).

    Examples:
        >>> from fractions import Fraction
        >>> import numpy as np
        >>> from discreet.prefix_sums.plain import fresh_noise
        >>> from discreet.privacy.noise import laplace
        >>> few, many = np.zeros(0, dtype=np.uint64), np.full(64, 2**62, dtype=np.uint64)
        >>> mechanism = fresh_noise(2, laplace(Fraction(3)))
        >>> draw_noise(mechanism, 0, few, 0), draw_noise(mechanism, 0, many, 0)[0]
        ((0, 0), 2)
    """
    raise AssertionError("declares a generic function")


@generic
def add_secret(mechanism: Any, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Enter one vector (in units); write into `released` by how much the noisy sum grows.

    Examples:
        >>> import numpy as np
        >>> from discreet.prefix_sums.plain import NoNoise
        >>> mechanism, released = NoNoise(2), np.empty(2)
        >>> for vector in ([3, 0], [1, -1]):
        ...     add_secret(mechanism, np.array(vector), released)
        >>> released
        array([ 1., -1.])
    """
    raise AssertionError("declares a generic function")


@functools.singledispatch
def check_round(mechanism: Any) -> None:
    """Refuse a restored mechanism whose digits are not those of a round.

    Trees index by their digits; other mechanisms have nothing that depends on the round.
    """
