"""What several releases about one person lose together, each with the same pure loss.

The best that holds for all mechanisms, also if each is chosen in view of what was released before. Reference:
Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", 2015.

Formal guarantees:
    The worst mechanism of a loss tells one bit, and is right with probability e^loss / (1 + e^loss); the
    losses add up or cancel. Floats are rounded in the safe direction. Proof:
    `docs/guarantees.md#with-a-delta`.

Examples:
    >>> each = loss_of_each(Fraction(1), 1e-6, rounds=86)
    >>> round(float(each * 86), 2)  # what they would lose by adding up
    2.23
"""

import functools
import math
from fractions import Fraction

import numpy as np

from discreet.checks import FloatArray, invalid_argument

#: Releases of one learner about one person that can be composed with a delta.
MOST_ROUNDS = 1_000
#: For the rounding of floats: terms are positive, so at most some 10^5 relative errors of 2^-53 add up.
_SLACK = 1e-9


def checked_delta(owner: str, delta: float, rounds: int) -> float:
    """A delta for so many rounds, refused in the name of its owner."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise invalid_argument(owner, "delta", "a number from 0 to below 1", delta)
    if delta and rounds > MOST_ROUNDS:
        raise invalid_argument(owner, "rounds_per_person", f"at most {MOST_ROUNDS:,} with a 'delta'", rounds)
    return float(delta)


@functools.lru_cache(maxsize=1024)
def loss_of_each(epsilon: Fraction, delta: float, rounds: int) -> Fraction:
    """The largest loss of so many releases that together are (epsilon, delta)-private; epsilon at most."""
    low, high = epsilon / rounds, epsilon
    if delta == 0 or rounds == 1 or _fits(high, rounds, epsilon, delta):
        return low if delta == 0 else high
    while (middle := Fraction(float(low + high) / 2)) < high and middle > low * (1 + Fraction(1, 1 << 30)):
        low, high = (middle, high) if _fits(middle, rounds, epsilon, delta) else (low, middle)
    return low


def _fits(loss: Fraction, rounds: int, epsilon: Fraction, delta: float) -> bool:
    return _beyond(*_distribution(loss, rounds), float(epsilon)) <= delta


def _beyond(probability: FloatArray, reached: FloatArray, epsilon: float) -> float:
    """An upper bound of the delta that is needed at epsilon."""
    gap = reached - epsilon * (1 - _SLACK)
    above = gap > 0
    return float((1 + _SLACK) * (probability[above] * -np.expm1(-gap[above])).sum())


def _distribution(loss: Fraction, rounds: int) -> tuple[FloatArray, FloatArray]:
    """The probabilities of the total losses of the worst mechanisms, and these total losses."""
    odds = math.exp(-float(loss))
    reached = np.arange(rounds, -rounds - 1, -2).astype(np.float64)
    reached *= float(loss)
    return _binomial(odds / (1 + odds), rounds), reached


def _binomial(share: float, count: int) -> FloatArray:
    """Of how many among `count` independent events of this probability happen."""
    law, square = np.ones(1), np.array([1 - share, share])
    while count:
        if count & 1:
            law = np.convolve(law, square)
        square, count = np.convolve(square, square), count >> 1
    return law
