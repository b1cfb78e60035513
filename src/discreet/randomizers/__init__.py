"""Private numbers, one at a time: randomised on arrival or on a person's own device, without a compiler.

Examples:
    >>> OneBit(epsilon=1.0, cost_range=(0.0, 1.0)).release(0.3) in (0, 1)
    True
"""

from discreet.randomizers.one_bit import Bit, OneBit

__all__ = ["Bit", "OneBit"]
