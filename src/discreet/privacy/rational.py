"""Epsilon and rho as exact numbers; a stated guarantee is never stronger than the one that holds."""

import math
from fractions import Fraction

from ..arguments import invalid_argument

LARGEST_LOSS = 1000  # beyond this a privacy loss protects nobody, and exp(loss) no longer fits anywhere
SMALLEST_LOSS = Fraction(1, 1 << 200)  # with less nothing can be learned, and noise does not fit a float


def privacy_loss(owner: str, name: str, value: float | Fraction) -> Fraction:
    """A positive epsilon or rho, exactly as given."""
    wanted = f"a positive number of at most {LARGEST_LOSS}"
    try:
        loss = Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise invalid_argument(owner, name, wanted, value) from None
    if isinstance(value, bool | str) or not 0 < loss <= LARGEST_LOSS:
        raise invalid_argument(owner, name, wanted, value)
    if loss < SMALLEST_LOSS:
        raise invalid_argument(owner, name, "at least 2**-200, in each round", value)
    return loss


def float_above(number: Fraction) -> float:
    """The smallest float that is not below `number`."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def square_root_above(number: Fraction, bits: int = 40) -> Fraction:
    """A fraction at or above the square root, by at most 2**-bits, or exact if the root is rational."""
    top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if top * top == number.numerator and bottom * bottom == number.denominator:
        return Fraction(top, bottom)
    scaled = math.ceil(number * (1 << (2 * bits)))
    return Fraction(math.isqrt(scaled - 1) + 1, 1 << bits)


def exponential_below(exponent: Fraction, bits: int = 128) -> Fraction:
    """A fraction at or below exp(exponent), within a factor 1 - 2**-bits of it, for an exponent >= 0."""
    # exp(x) = exp(x / 2^j)^(2^j). Cutting off the series, rounding its terms and squaring err downwards.
    halvings = max(0, math.ceil(exponent)).bit_length()
    one = 1 << (bits + 2 * halvings + 16)
    small = exponent / (1 << halvings)
    term, total, order = one, one, 0
    while term:
        order += 1
        term = term * small.numerator // (small.denominator * order)
        total += term
    for _ in range(halvings):
        total = total * total // one
    return Fraction(total, one)
