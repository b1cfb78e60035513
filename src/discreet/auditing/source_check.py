"""Whether a source of bits is one: noise from a generator that repeats itself protects nobody."""

from __future__ import annotations

import numpy as np
import scipy.stats

from discreet.randomness import BitSource

#: How many 64-bit integers are drawn.
DRAWN = 4096
#: The probability with which a good source is refused.
FALSE_ALARM = 1e-9


def what_is_wrong(source: BitSource) -> str | None:
    """What is wrong with the bits that an object draws, or None.

    It looks for integers that come twice, also in a second generator made like the first, and for bits that
    are not balanced or follow each other. Of good bits, two in 8,192 integers are equal with probability
    2e-12. It is no test of cryptographic strength.
    """
    drawn = np.array([source.bits64() for _ in range(DRAWN)], dtype=np.uint64)
    if np.unique(drawn).size < DRAWN:
        return "its source of bits repeats itself"
    if source.private:
        again = BitSource(fresh=source._fresh)
        other = np.array([again.bits64() for _ in range(DRAWN)], dtype=np.uint64)
        if np.intersect1d(drawn, other).size:
            return "a second source of bits made like its own gives the same bits"
    bits = np.unpackbits(drawn.view(np.uint8)).reshape(DRAWN, 64)
    counts = np.concatenate([bits.sum(axis=0), (bits[1:] ^ bits[:-1]).sum(axis=0)])
    low, high = (scipy.stats.binom.ppf(p, DRAWN - 1, 0.5) for p in (FALSE_ALARM / 256, 1 - FALSE_ALARM / 256))
    if counts.min() < low or counts.max() > high + 1:
        return "the bits of its source are not balanced, or follow each other"
    return None
