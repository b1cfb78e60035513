"""Regret bounds of the paper's algorithms run with enough noise, proved here with all constants.

**The algorithm.** x_{t+1} = clip(-(G_t + Z_t) / (H t), 0, 1), where G_t is the sum of the gradients (or
unbiased estimates) g_1, ..., g_t and Z_t the tree's noise, of mean norm at most Zbar.

**Proof.** Let y_{t+1} = clip(-G_t / (H t)) be the leader without noise for the same gradients. Clipping
does not increase distances, so |x_{t+1} - y_{t+1}| <= |Z_t| / (H t). By convexity the regret of the
extension is at most the sum of g_t.(x_t - u), which is

    sum of g_t.(y_t - u)  +  sum of g_t.(x_t - y_t).

*First sum.* y_{t+1} minimises the sum of l_j(x) = g_j.x + H/2 |x|^2 over j <= t, an H t-strongly convex
function, so l_t(y_t) - l_t(y_{t+1}) <= |g_t + H y_t|^2 / (H t), and "be the leader" gives
sum of l_t(y_t) - l_t(u) <= sum of |g_t + H y_t|^2 / (H t). Taking the quadratic terms out costs at most
T H |u|^2 / 2 <= T H n / 2.

*Second sum.* Given the past, g_t may be replaced by its mean, whose norm is at most
2 sqrt(2) M; so it is at most 2 sqrt(2) M * Zbar / H times the sum of 1/t, which is at most 1 + ln T.

**Full information**: |g_t| <= 2 sqrt(2) M. **Bandit**: E |g_t + H y_t|^2 <= 2 E|g_t|^2 + 2 H^2 n with
E|g_t|^2 <= (4n - 2)(n+1) M^2 / gamma, and exploring adds at most 2 gamma M T. The adversary may adapt in
full information; in the bandit case it is oblivious, because u must not depend on the estimates.
"""

import math
from typing import Literal

from discreet.bounds.arguments import best_on_grid, checked

Noise = Literal["laplace", "spherical"]


@checked
def mean_noise_norm(n: int, T: int, l1: float, l2: float, epsilon: float, noise: Noise = "laplace") -> float:
    """A bound on the mean Euclidean norm of a binary tree's noise on one prefix sum.

    A prefix adds up at most `levels` = ceil(log2 T) + 1 nodes, and each round is part of as many. Laplace:
    each coordinate of a node has variance 2 (levels * l1 / epsilon)^2. Spherical: a node's squared norm has
    mean n (n+1) (levels * l2 / epsilon)^2.

    Args:
        n: Length of the vectors.
        T: Rounds.
        l1: L1 distance between two inputs of one round.
        l2: L2 distance.
        epsilon: Privacy loss.
        noise: The distribution of the noise.

    Examples:
        >>> round(mean_noise_norm(n=4, T=1024, l1=8.0, l2=5.7, epsilon=1.0))
        826
    """
    levels = (T - 1).bit_length() + 1
    if noise == "laplace":
        return math.sqrt(2 * n * levels) * levels * l1 / epsilon
    return math.sqrt(n * (n + 1) * levels) * levels * l2 / epsilon


@checked
def submod_pftal(n: int, T: int, M: float, epsilon: float, H: float, noise: Noise = "laplace") -> float:
    """Full information: (2 sqrt(2) M + H sqrt(n))^2 (1 + ln T) / H + T H n / 2 + noise.

    At the best H it is of order n^(3/4) M sqrt(T / epsilon), up to logarithms.

    Gradients are clipped to |g|_1 <= 4M, so replacing a round moves a node by 8M in L1 and
    4 sqrt(2) M in L2.

    Examples:
        >>> H = submod_pftal_tuning(4, 10**8, 1.0, 1.0)
        >>> round(submod_pftal(4, 10**8, 1.0, 1.0, H) / 10**8, 3)  # per round
        0.121
    """
    falling, rising = _full_terms(n, T, M, epsilon, noise)
    return falling / H + rising * H + 4 * math.sqrt(2 * n) * M * (1 + math.log(T))


@checked
def submod_pftal_tuning(n: int, T: int, M: float, epsilon: float, noise: Noise = "laplace") -> float:
    """The H that minimises `submod_pftal`, which has the form A / H + B H + constant.

    Examples:
        >>> round(submod_pftal_tuning(4, 10**8, 1.0, 1.0), 4)
        0.0304
    """
    falling, rising = _full_terms(n, T, M, epsilon, noise)
    return math.sqrt(falling / rising)


@checked
def bandit_submod_pftal(
    n: int, T: int, M: float, epsilon: float, H: float, gamma: float, noise: Noise = "laplace"
) -> float:
    """Bandit, against an oblivious adversary: exploration, regularisation, estimates and noise.

    Given the coins, replacing a round moves one coordinate of the estimate by at most
    4 M (n+1) / gamma, in L1 and in L2 alike.

    Examples:
        >>> H, gamma = bandit_submod_pftal_tuning(4, 10**12, 1.0, 1.0)
        >>> round(bandit_submod_pftal(4, 10**12, 1.0, 1.0, H, gamma) / 10**12, 2)  # per round
        0.05
    """
    falling, rising = _bandit_terms(n, T, M, epsilon, gamma, noise)
    return falling / H + rising * H + 2 * gamma * M * T


@checked
def bandit_submod_pftal_tuning(
    n: int, T: int, M: float, epsilon: float, noise: Noise = "laplace"
) -> tuple[float, float]:
    """The (H, gamma) that minimise `bandit_submod_pftal`, gamma on a grid of 1% steps.

    Examples:
        >>> H, gamma = bandit_submod_pftal_tuning(4, 10**12, 1.0, 1.0)
        >>> round(H, 4), round(gamma, 4)
        (0.0085, 0.0084)
    """
    # The first term falls like 1 / gamma, and the best H makes the bound 2 sqrt(A B) + 2 gamma M T.
    falling, rising = _bandit_terms(n, T, M, epsilon, 1.0, noise)
    gamma = best_on_grid(lambda g: math.sqrt(falling * rising / g) + g * M * T)
    return math.sqrt(falling / gamma / rising), gamma


def _full_terms(n: int, T: int, M: float, epsilon: float, noise: Noise) -> tuple[float, float]:
    """The A and B of the full-information bound's A / H + B H."""
    log = 1 + math.log(T)
    norm = mean_noise_norm(n, T, 8 * M, 4 * math.sqrt(2) * M, epsilon, noise)
    return 8 * M**2 * log + 2 * math.sqrt(2) * M * norm * log, n * log + T * n / 2


def _bandit_terms(
    n: int, T: int, M: float, epsilon: float, gamma: float, noise: Noise
) -> tuple[float, float]:
    """The A and B of the bandit bound's A / H + B H."""
    log = 1 + math.log(T)
    squared = (4 * n - 2) * (n + 1) * M**2 / gamma
    distance = 4 * M * (n + 1) / gamma
    norm = mean_noise_norm(n, T, distance, distance, epsilon, noise)
    return 2 * squared * log + 2 * math.sqrt(2) * M * norm * log, 2 * n * log + T * n / 2
