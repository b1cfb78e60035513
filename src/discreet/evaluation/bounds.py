"""Confidence bounds on averages of conditional means, for numbers that are nonnegative and may be large.

Let y_i >= 0 with E(y_i | past) = m_i, and p_i in [0, 1] known before y_i. Since
log(1 + s x) >= s x + x^2 (log(1 - s) + s) for x >= -1 and 0 <= s < 1 (Fan, Grama, Liu, 2015),

    exp(s sum(y_i - m_i) - (-log(1 - s) - s) sum((y_i - p_i)^2))

has an expectation of at most 1, and so has a mixture over s. By Markov's inequality sum(m_i) is at least
sum(y_i) - D, D the number where the mixture reaches 1 / alpha, except with probability alpha. Nothing has to
be known about how large y_i can be, nor need rounds be independent. This is an empirical Bernstein bound
(Waudby-Smith, Wu, Ramdas, Karampatziakis, Mineiro, "Anytime-valid off-policy inference", 2022).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from discreet.checks import FloatArray

#: The mixture: half, a quarter, ... of the largest s there is.
_STEPS: FloatArray = np.ldexp(1.0, -np.arange(1, 25))
_PRICES: FloatArray = -np.log1p(-_STEPS) - _STEPS


def deviation(squares: float, alpha: float) -> float:
    """The D above, for sum((y_i - p_i)^2) = squares."""

    def excess(distance: float) -> float:
        exponents = _STEPS * distance - _PRICES * squares
        most = float(exponents.max())
        return most + math.log(alpha * float(np.exp(exponents - most).sum()) / _STEPS.size)

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0.0, high))


def lower_bound(values: FloatArray, alpha: float) -> float:
    """The average of the conditional means, in [0, 1], is less than this with probability alpha at most."""
    before = np.concatenate(([0.5], 0.5 + np.cumsum(values[:-1]))) / np.arange(1, values.size + 1)
    squares = float(((values - np.minimum(before, 1.0)) ** 2).sum())
    return float(values.sum() - deviation(squares, alpha)) / values.size
