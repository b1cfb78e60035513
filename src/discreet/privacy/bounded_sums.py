"""Sums of released numbers that never wrap around: beyond a limit they stay at it."""

from discreet.compiled import lean_kernel

#: No sum is larger. Two such numbers still add up to less than 2^63.
LARGEST_SUM = (1 << 62) - 1


@lean_kernel
def bounded_sum(total: int, more: int) -> int:
    """The sum of two numbers, each of them and the sum cut off at plus and minus `LARGEST_SUM`.

    For numbers that were released: what is done with them afterwards costs no privacy. With exact secrets a
    limit would have to be part of the sensitivity.

    Examples:
        >>> bounded_sum(5, -7), bounded_sum(LARGEST_SUM, 1) == LARGEST_SUM
        (-2, True)
    """
    more = min(max(more, -LARGEST_SUM), LARGEST_SUM)
    return min(max(total + more, -LARGEST_SUM), LARGEST_SUM)
