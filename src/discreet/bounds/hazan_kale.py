"""Regret bounds of Hazan and Kale's non-private algorithms, by projected descent.

Descent with step eta on the cube, whose diameter is sqrt(n), has regret at most
n / (2 eta) + eta/2 * sum of E|g_t|^2.
"""

import math

from discreet.bounds.arguments import checked


@checked
def hazan_kale_step(n: int, T: int, M: float) -> float:
    """The step eta = sqrt(n) / (4 M sqrt(T)) of the full-information algorithm.

    Examples:
        >>> hazan_kale_step(n=9, T=100, M=1.0)
        0.075
    """
    return math.sqrt(n) / (4 * M * math.sqrt(T))


@checked
def hazan_kale(n: int, T: int, M: float) -> float:
    """Full information: 4 M sqrt(n T), from |g_t| <= 4 M and the step above.

    Examples:
        >>> hazan_kale(n=9, T=100, M=1.0)
        120.0
    """
    return 4 * M * math.sqrt(n * T)


@checked
def hazan_kale_bandit_tuning(n: int, T: int, M: float) -> tuple[float, float]:
    """(eta, gamma) of the bandit algorithm: gamma = n / T^(1/3), at most 1, and the best eta for it.

    With E|g|^2 <= 16 M^2 n^2 / gamma the step is eta = sqrt(gamma / (16 M^2 n T)).

    Examples:
        >>> eta, gamma = hazan_kale_bandit_tuning(n=2, T=1000, M=1.0)
        >>> round(eta, 4), round(gamma, 4)
        (0.0025, 0.2)
    """
    gamma = min(n / math.pow(T, 1 / 3), 1.0)
    return math.sqrt(gamma / (16 * M**2 * n * T)), gamma


@checked
def hazan_kale_bandit(n: int, T: int, M: float) -> float:
    """Bandit: 4 M n^1.5 sqrt(T / gamma) + 2 gamma M T at that tuning; 6 M n T^(2/3) for T >= n^3.

    Examples:
        >>> round(hazan_kale_bandit(n=2, T=1000, M=1.0))
        1200
    """
    _, gamma = hazan_kale_bandit_tuning(n, T, M)
    return 4 * M * math.pow(n, 1.5) * math.sqrt(T / gamma) + 2 * gamma * M * T
