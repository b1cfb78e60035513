"""Regret bounds of this package's own learners, proved in `docs/guarantees.md#regret` with all constants.

All of them play x = clip(start - eta * (sum of released gradients)). For steps that do not grow and
gradients (or unbiased estimates) g_1, ..., g_N the regret on the Lovász extension is at most

    R / eta_N + sum of eta_t E|g_t|^2 / 2,      R = sum over items of max(start_i, 1 - start_i)^2 / 2,

which is n/8 where the start is the middle of the cube. The bounds below insert what is known of the
gradients.
"""

import math

import numpy as np

from discreet import checks
from discreet.bounds.arguments import checked
from discreet.checks import FloatArray


def start_range(start: FloatArray) -> float:
    """R, the largest value of |x - start|^2 / 2 on the cube."""
    return float((np.maximum(start, 1 - start) ** 2).sum() / 2)


@checked
def bandit_tuning(n: int, second_moment: float) -> tuple[float, float]:
    """The (exploration, step) that minimise `bandit_dual_averaging` for large T.

    exploration = (n sqrt(12 (n+1) s) / 24)^(2/3) and step = sqrt(exploration / (12 (n+1) s)), where s is the
    second moment of a released number in units of M^2, and the start is the middle of the cube.

    Examples:
        >>> exploration, step = bandit_tuning(n=4, second_moment=5.0)
        >>> round(exploration, 2), round(step, 3)
        (2.03, 0.082)
    """
    spread = 12 * (n + 1) * second_moment
    exploration = (n * math.sqrt(spread) / 24) ** (2 / 3)
    return exploration, math.sqrt(exploration / spread)


@checked
def bandit_dual_averaging(
    n: int,
    T: int,
    M: float,
    second_moment: float,
    exploration: float,
    step: float,
    *,
    block: int = 1,
    start_range: float | None = None,
    outstanding: float = 0.0,
) -> float:
    """Bandit feedback, with gamma_t = min(1, exploration t^(-1/3)) and eta_t = (step / M) t^(-2/3).

    With N = floor(T / block) updates, s the second moment and R the start's range it is

        block M (N^(2/3) (3 a + R/b + 1.5 n(n+1) s b/a) + 3 n(n+1) s b N^(1/3)) + 2 M block,

    a being the exploration and b the step. The best a and b make it 2.48 n^(2/3) (n+1)^(1/3) s^(1/3) M
    T^(2/3) to first order. The adversary is oblivious: the best set must not depend on the estimates.

    Args:
        n: Items.
        T: Rounds.
        M: Half the width of the range of costs.
        second_moment: Of a released number minus its baseline, in units of M^2.
        exploration: The constant a.
        step: The constant b.
        block: Rounds for which a set is held.
        start_range: R; n/8 by default.
        outstanding: The largest number of draws whose costs are pending; it must not depend on the draws.

    Examples:
        >>> exploration, step = bandit_tuning(n=4, second_moment=5.0)
        >>> round(bandit_dual_averaging(4, 10**8, 1.0, 5.0, exploration, step) / 10**8, 3)  # per round
        0.039
    """
    distance = n / 8 if start_range is None else start_range
    spread = n * (n + 1) * second_moment
    root = (T // block) ** (1 / 3)
    rate = 3 * exploration + distance / step + 1.5 * spread * step / exploration
    regret = rate * root**2 + 3 * spread * step * root
    if outstanding:
        # The missing gradients would have moved the point by eta times their sum. The schedules lag by as
        # many draws, which repeats the first term of each sum that often.
        d = outstanding
        drift = 8 * d * step * (3 * root + d)
        jitter = 2 * math.sqrt(2) * math.sqrt(2 * spread * d) * step
        slow = 1 + 1 / math.sqrt(exploration)
        regret += drift + jitter * (3 * root + 2 * root**1.5 / math.sqrt(exploration) + d * slow)
        regret += d * (2 * min(1.0, exploration) + spread * step * (1 + 1 / exploration))
    return float(block * M * regret + 2 * M * block)


@checked
def batched(
    n: int,
    T: int,
    M: float,
    noise_variance: float,
    shortest: float,
    longest: float,
    *,
    alpha: float = 0.5,
    squared_gradient: float | None = None,
    start_range: float | None = None,
    first_spent: float = 0.0,
    adaptive: bool = False,
) -> float:
    """Full information in blocks of any adaptive lengths between `shortest` and `longest`.

    (1 + 1/alpha) (sqrt(alpha R E) + F + L) + 2 M longest, where E = T (G longest + n v / shortest) bounds
    the energy of all releases, F is what the step starts from, and L = 4 M longest + sqrt(2v) (ln B + 3n/4)
    bounds the mean of the largest of B = T / shortest releases in L1.

    Args:
        n: Items.
        T: Rounds.
        M: Half the width of the range of costs.
        noise_variance: v, of each coordinate of a release.
        shortest: Least length of a block.
        longest: Greatest length.
        alpha: The step's constant.
        squared_gradient: G, the largest squared norm of a gradient; 8 M^2 by default.
        start_range: R; n/8 by default.
        first_spent: F.
        adaptive: Whether the adversary sees what was chosen and adapts.

    Examples:
        >>> bound = batched(n=4, T=10**6, M=1.0, noise_variance=128.0, shortest=8, longest=128)
        >>> round(bound / 10**6, 3)  # per round
        0.052
    """
    if longest < shortest:
        raise checks.invalid_argument(
            "batched", "longest", f"at least the shortest length {shortest}", longest
        )
    distance = n / 8 if start_range is None else start_range
    gradient = 8 * M**2 if squared_gradient is None else squared_gradient
    energy = T * (gradient * longest + n * noise_variance / shortest)
    blocks = max(1.0, T / shortest)
    largest = 4 * M * longest + math.sqrt(2 * noise_variance) * (math.log(blocks) + 0.75 * n)
    regret = (1 + 1 / alpha) * (math.sqrt(alpha * distance * energy) + first_spent + largest)
    # The sum of max(start, 1 - start) is at most the root of n times that of its squares, which is 2R.
    away = math.sqrt(2 * n * distance) * math.sqrt(noise_variance * blocks) if adaptive else 0.0
    return regret + 2 * M * longest + away


@checked
def tree_dual_averaging(
    n: int, T: int, M: float, variance: float, eta: float, *, start_range: float | None = None
) -> float:
    """Full information on prefix sums whose noise has this mean variance per coordinate.

    R / eta + eta T (4 M^2 + 2 sqrt(2) M sqrt(n variance)), with R = n/8 by default. The adversary may adapt.

    Examples:
        >>> eta = tree_step(n=4, T=10**6, M=1.0, variance=1e4)
        >>> round(tree_dual_averaging(4, 10**6, 1.0, 1e4, eta) / 10**6, 3)  # per round
        0.034
    """
    distance = n / 8 if start_range is None else start_range
    return distance / eta + eta * T * _tree_rate(n, M, variance)


@checked
def tree_step(n: int, T: int, M: float, variance: float, *, start_range: float | None = None) -> float:
    """The eta that minimises `tree_dual_averaging`.

    From the middle of the cube the bound is then M sqrt(2 n T) sqrt(1 + sqrt(n variance) / (sqrt(2) M)).

    Examples:
        >>> round(tree_step(n=4, T=10**6, M=1.0, variance=1e4), 7)
        2.96e-05
    """
    distance = n / 8 if start_range is None else start_range
    return math.sqrt(distance / (T * _tree_rate(n, M, variance)))


def _tree_rate(n: int, M: float, variance: float) -> float:
    return 4 * M**2 + 2 * math.sqrt(2) * M * math.sqrt(n * variance)
