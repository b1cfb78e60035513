"""What all trees share: the signed noise of the nodes in use, and each node's noise.

A tree stores no sums, exact or noisy. It keeps the noise of the nodes whose combination makes
up the present prefix. One round adds the noise of some nodes and drops that of others, and
releases by how much the noisy prefix sum grows: the vector plus the change of the noise.
These increments add up to the noisy sums exactly, in integers. Only the noise of nodes that
will be needed again is kept.

Drawing writes to rows that are not in use yet, and a round changes the state only when
its noise is complete. A round whose bits run out may therefore be drawn again as a whole.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.privacy.noise import Law, fill
from discreet.randomness import BitArray


class TreeState(NamedTuple):
    """The secrets of a tree over vectors of length n. Its noise may be integers or floats.

    Attributes:
        digits: The digits of the round number, lowest first.
        noise: The noise now on the sum of all vectors.
        live: The noise of single nodes, one row of length n after the other.
        right: Per level, the noise of the added nodes together (k-ary trees only).
    """

    digits: IntArray
    noise: npt.NDArray[Any]
    live: npt.NDArray[Any]
    right: npt.NDArray[Any]


def new_state(
    n: int,
    *,
    levels: int,
    rows: int,
    right_rows: int = 0,
    dtype: type[np.int64] | type[np.float64] = np.int64,
) -> TreeState:
    """A state before the first round."""
    return TreeState(
        digits=np.zeros(levels, dtype=np.int64),
        noise=np.zeros(n, dtype=dtype),
        live=np.zeros(rows * n, dtype=dtype),
        right=np.zeros(right_rows * n, dtype=dtype),
    )


def round_of(digits: IntArray, base: int, *, least: int, most: int, horizon: int = 1 << 62) -> int:
    """The round number that restored digits stand for; kernels rely on their being possible."""
    number = sum(int(digit) * int(base**level) for level, digit in enumerate(digits))
    if digits.min() < least or digits.max() > most or not 0 <= number <= horizon:
        raise InvalidArgument("The saved state is damaged: its digits are not those of a round.")
    return number


@lean_kernel
def draw_rows(
    law: Law, state: TreeState, first: int, last: int, done: int, bits: BitArray, cursor: int
) -> tuple[int, int]:
    """Draw the noise of the nodes in rows first..last-1, as far as the bits reach."""
    n = state.noise.size
    return fill(law, state.live[first * n : last * n], done, bits, cursor)
