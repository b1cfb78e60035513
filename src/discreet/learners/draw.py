"""How a set was drawn: all that a late cost needs in order to be learnt from."""

from typing import NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray

#: Places in `Draw.numbers`.
SIZE, TOLD, TOTAL = 0, 1, 2
#: Places in `Draw.chances`.
PROBABILITY, BASELINE = 0, 1


class Draw(NamedTuple):
    """One drawn set, which may serve for several rounds.

    Attributes:
        order: The items to choose from; once the set is drawn, by decreasing level.
        numbers: SIZE, how many of them were chosen; TOLD, of how many rounds the cost is known; TOTAL,
            the sum of these costs in grid units, a secret of learners that work in blocks and 0 elsewhere.
        chances: PROBABILITY of just that choice, and the BASELINE from which its cost is counted.
    """

    order: IntArray
    numbers: IntArray
    chances: FloatArray


def new_draw(items: IntArray) -> Draw:
    """A draw that is still to be made, from these items. The array is taken over."""
    return Draw(items, np.zeros(3, dtype=np.int64), np.zeros(2))
