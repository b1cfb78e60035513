"""Epsilon and rho as exact numbers, and what follows from them without rounding the wrong way.

A float is taken at its exact binary value. Wherever a number must be rounded it is
rounded so that the guarantee that is stated is never stronger than the one that holds.
"""

import math
from fractions import Fraction

from discreet.checks import invalid_argument
from discreet.errors import InvalidArgument

#: Beyond this a privacy loss protects nobody, and exp(loss) no longer fits anywhere.
LARGEST_LOSS = 1000
#: With less than this nothing can be learned, and noise no longer fits a float.
SMALLEST_LOSS = Fraction(1, 1 << 200)


def privacy_loss(owner: str, name: str, value: float | Fraction) -> Fraction:
    """A positive epsilon or rho, exactly as given.

    Examples:
        >>> privacy_loss("this example", "epsilon", 0.5)
        Fraction(1, 2)
    """
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


def one_of(owner: str, epsilon: float | Fraction | None, rho: float | Fraction | None) -> None:
    """Insist that exactly one kind of budget is given."""
    if (epsilon is None) == (rho is None):
        raise InvalidArgument(
            f"A {owner} must have either 'epsilon' (Laplace noise, pure privacy) or 'rho' (Gaussian "
            f"noise, zero-concentrated privacy). Got {'neither' if epsilon is None else 'both'}."
        )


def float_above(number: Fraction) -> float:
    """The smallest float that is not below `number`."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def square_root_above(number: Fraction, bits: int = 40) -> Fraction:
    """A fraction at or above the square root, within 2**-bits of it, or exact if the root is rational."""
    top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if top * top == number.numerator and bottom * bottom == number.denominator:
        return Fraction(top, bottom)
    scaled = math.ceil(number * (1 << (2 * bits)))
    return Fraction(math.isqrt(scaled - 1) + 1, 1 << bits)


def exponential_below(exponent: Fraction, bits: int = 128) -> Fraction:
    """A fraction at or below exp(exponent), within a factor 1 - 2**-bits of it, for an exponent >= 0.

    exp(x) = exp(x / 2^j)^(2^j) with x / 2^j <= 1. The series has positive terms, so
    cutting it off and rounding each term down both err downwards, and so do the squarings.
    """
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


def laplace_scale(epsilon: Fraction, distance: int, nodes: int = 1) -> Fraction:
    """The noise scale for data in `nodes` sums at once, each moved by at most `distance` in L1."""
    return nodes * distance / epsilon


def gaussian_sigma(rho: Fraction, squared_distance: int, nodes: int = 1) -> Fraction:
    """The noise parameter for data in `nodes` sums at once, each moved by at most sqrt(squared_distance)."""
    return square_root_above(nodes * squared_distance / (2 * rho))
