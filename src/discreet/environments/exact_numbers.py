"""Numbers whose sums are exact, so that totals and ranges hold to the last bit."""

import numpy as np

from discreet.checks import FloatArray

#: Numbers are put on multiples of 2 to the minus this. Sums below 2^22 are then exact in any order.
BITS = 30


def towards_zero(numbers: FloatArray) -> FloatArray:
    """Each number rounded towards zero to a multiple of 2^-30.

    Examples:
        >>> towards_zero(np.array([0.5, 0.1, -0.1])) * 2**30
        array([ 5.36870912e+08,  1.07374182e+08, -1.07374182e+08])
    """
    return np.trunc(numbers * 2.0**BITS) / 2.0**BITS
