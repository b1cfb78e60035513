"""Sums of released numbers that never wrap around: beyond a limit they stay at it."""

from discreet.compiled import lean_kernel

#: No sum is larger. Two such numbers still add up to less than 2^63.
LARGEST_SUM = (1 << 62) - 1


@lean_kernel
def bounded_sum(total: int, more: int) -> int:
    """The sum of two released numbers, each of them and the sum cut off at plus and minus `LARGEST_SUM`.

    With exact secrets such a limit would have to be part of the sensitivity.
    """
    more = min(max(more, -LARGEST_SUM), LARGEST_SUM)
    return min(max(total + more, -LARGEST_SUM), LARGEST_SUM)
