"""The bounds as the paper (the preprint) states or derives them, constants included, errors included.

Where a display has no constant, the one of the lemma behind it is used. Each docstring names the errors,
which `docs/errata.md` demonstrates; the corrected bounds are in `bounds.corrected`.
"""

import math

from discreet.bounds.arguments import best_on_grid, checked


@checked
def ftal(T: int, L: float, H: float, D: float) -> float:
    """Follow the approximate leader without noise: 2 (L + H D)^2 ln T / H.

    For H-strongly convex, L-Lipschitz losses on a set of diameter D.

    Examples:
        >>> round(ftal(T=1000, L=1.0, H=1.0, D=1.0), 1)
        55.3
    """
    return 2 * (L + H * D) ** 2 * math.log(T) / H


@checked
def ftal_tuning(L: float, D: float) -> float:
    """The H that minimises `ftal` and `pftal` where it may be chosen: L / D.

    Examples:
        >>> ftal_tuning(L=2.0, D=4.0)
        0.5
    """
    return L / D


@checked
def pftal(n: int, T: int, L: float, H: float, D: float, epsilon: float) -> float:
    """Private FTAL: the noise lemma 8 n (L + H D)^2 ln^2.5 T / (H epsilon), plus `ftal`.

    The lemma's constant rests on three slips (erratum E4): the norm of the noise has mean n * scale,
    a tree has log2 T levels and not ln T, and the sum of 1/t exceeds ln T. It also takes the
    sensitivity of adding a round, not of replacing one (E3).

    Examples:
        >>> private = pftal(5, 10_000, L=1.0, H=1.0, D=1.0, epsilon=1.0)
        >>> round(private / ftal(10_000, L=1.0, H=1.0, D=1.0))  # times the bound without privacy
        560
    """
    return 8 * n * (L + H * D) ** 2 * math.pow(math.log(T), 2.5) / (H * epsilon) + ftal(T, L, H, D)


@checked
def submod_pftal_stated_H(n: int, T: int, M: float) -> float:
    """The H of the full-information theorem, M sqrt(T) / sqrt(n), which erratum E2 refutes.

    Examples:
        >>> submod_pftal_stated_H(n=4, T=10_000, M=1.0)
        50.0
    """
    return M * math.sqrt(T) / math.sqrt(n)


@checked
def submod_pftal_claimed(n: int, T: int, M: float, epsilon: float) -> float:
    """The rate that the full-information theorem claims, n^1.5 M sqrt(T) / epsilon, without logarithms.

    Not a bound: with the theorem's H the regret is linear (E2).

    Examples:
        >>> submod_pftal_claimed(n=4, T=10_000, M=1.0, epsilon=1.0)
        800.0
    """
    return math.pow(n, 1.5) * M * math.sqrt(T) / epsilon


@checked
def submod_pftal_published(n: int, T: int, M: float, epsilon: float, H: float) -> float:
    """What the full-information proof gives for any H once its lost factor T is put back (E2).

    `pftal` with L = 4M + H sqrt(n) on a cube of diameter sqrt(n), plus T H n / 2.

    Examples:
        >>> T = 10**6
        >>> H = submod_pftal_stated_H(4, T, 1.0)
        >>> submod_pftal_published(4, T, 1.0, 1.0, H) > 2 * T  # more than any regret: costs are in [-1, 1]
        True
    """
    D = math.sqrt(n)
    return pftal(n, T, 4 * M + H * D, H, D, epsilon) + T * H * n / 2


@checked
def submod_pftal_published_tuning(n: int, T: int, M: float, epsilon: float) -> float:
    """The H that minimises `submod_pftal_published`, which has the form A / H + B H + constant.

    Examples:
        >>> round(submod_pftal_published_tuning(4, 10**6, 1.0, 1.0), 2)
        0.39
    """
    log = math.log(max(T, 2))
    weight = 8 * n * math.pow(log, 2.5) / epsilon + 2 * log
    return math.sqrt(16 * M**2 * weight / (4 * n * weight + T * n / 2))


@checked
def bandit_submod_pftal_published(n: int, T: int, M: float, epsilon: float, H: float, gamma: float) -> float:
    """The last display of the bandit proof, all five terms.

    It assumes noise of the size that TBAP would add for L = 4M + 2 H sqrt(n), which is far too little
    for privacy (E1).

    Examples:
        >>> H, gamma = bandit_submod_pftal_stated_tuning(4, 10**8, 1.0)
        >>> bound = bandit_submod_pftal_published(4, 10**8, 1.0, 1.0, H, gamma)
        >>> round(bound / 10**8, 2)  # per round, where costs lie in [-1, 1]
        6.23
    """
    D, log = math.sqrt(n), math.log(T)
    leader = 2 * (2 * M * (n + 1) / gamma + 2 * H * D) ** 2 * log / H
    noise = 8 * n * (4 * M + 2 * H * D) ** 2 * math.pow(log, 2.5) / (H * epsilon)
    estimate = 8 * n * M * D * math.sqrt(T) / math.sqrt(gamma)
    return leader + 2 * gamma * M * T + T * H * D**2 / 2 + noise + estimate


@checked
def bandit_submod_pftal_stated_tuning(n: int, T: int, M: float) -> tuple[float, float]:
    """The (H, gamma) of the bandit theorem: M / (sqrt(n) T^(1/4)) and n / T^(1/4).

    The second is a probability only for T >= n^4 (E6); it is returned as it is.

    Examples:
        >>> bandit_submod_pftal_stated_tuning(n=4, T=10_000, M=1.0)
        (0.05, 0.4)
    """
    return M / (math.sqrt(n) * math.pow(T, 0.25)), n / math.pow(T, 0.25)


@checked
def bandit_submod_pftal_published_tuning(n: int, T: int, M: float, epsilon: float) -> tuple[float, float]:
    """The (H, gamma) that minimise `bandit_submod_pftal_published`, gamma on a grid of 1% steps.

    For fixed gamma the bound is A / H + B H + constant.

    Examples:
        >>> H, gamma = bandit_submod_pftal_published_tuning(4, 10**8, 1.0, 1.0)
        >>> round(H, 3), round(gamma, 4)
        (0.082, 0.0791)
    """
    log = math.log(max(T, 2))
    noise = 8 * n * math.pow(log, 2.5) / epsilon

    def best_H(gamma: float) -> float:
        falling = 2 * (2 * M * (n + 1) / gamma) ** 2 * log + noise * 16 * M**2
        return math.sqrt(falling / (8 * n * log + noise * 4 * n + T * n / 2))

    gamma = best_on_grid(lambda g: bandit_submod_pftal_published(n, T, M, epsilon, best_H(g), g))
    return best_H(gamma), gamma
