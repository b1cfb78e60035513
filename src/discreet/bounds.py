"""Regret bounds with all constants: the paper's, corrected ones, those of our learners, and tunings.

Every function returns a bound on the expected regret over T rounds against the best fixed set, or the
parameters that minimise a bound. The errors E1 to E9 of the paper (arXiv:1807.02290) are in `docs/errata.md`,
a comparison of rates in `docs/theorems.md`. Notation: `n` items, `T` rounds, costs in [-`M`, `M`] or another
range of that width, privacy loss `epsilon`, strong convexity `H`, Lipschitz bound `L`, diameter `D`,
exploration `gamma`; `noise` is "laplace" or "spherical".

Examples:
    >>> hazan_kale(n=9, T=100, M=1.0)  # without privacy: 4 M sqrt(n T)
    120.0
    >>> T = 10**8
    >>> exploration, step = bandit_tuning(n=4, second_moment=5.0)
    >>> round(bandit_dual_averaging(4, T, 1.0, 5.0, exploration, step) / T, 3)  # our bandit learner
    0.039
    >>> round(batched(4, T, 1.0, noise_variance=128.0, shortest=8, longest=128) / T, 4)  # full information
    0.005
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar

from discreet import checks

Noise = Literal["laplace", "spherical"]
_P = ParamSpec("_P")
_R = TypeVar("_R")

#: How an argument of any bound is checked, by its name. All others must be positive numbers.
_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    **dict.fromkeys(("n", "T", "block", "first"), functools.partial(checks.integer, least=1)),
    **dict.fromkeys(("variance", "noise_variance", "first_spent", "outstanding"), checks.nonnegative_number),
    "gamma": checks.share,
    "noise": functools.partial(checks.one_of, options=("laplace", "spherical")),
    "adaptive": lambda owner, name, value: value,
}


def _checked(bound: Callable[_P, _R]) -> Callable[_P, _R]:
    """Check the arguments of a bound by their names. None passes where it is the default."""
    signature = inspect.signature(bound)
    optional = {name for name, parameter in signature.parameters.items() if parameter.default is None}

    @functools.wraps(bound)
    def with_checks(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        given = signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            if value is not None or name not in optional:
                check = _CHECKS.get(name, checks.positive_number)
                given.arguments[name] = check(bound.__name__, name, value)
        return bound(*given.args, **given.kwargs)

    return with_checks


def _best_on_grid(bound: Callable[[float], float]) -> float:
    """The number in (0, 1], in steps of 1%, at which a bound is least."""
    return min((math.pow(1.01, -k) for k in range(1500)), key=bound)


@_checked
def hazan_kale_step(n: int, T: int, M: float) -> float:
    """The step eta = sqrt(n) / (4 M sqrt(T)) of Hazan and Kale's full-information algorithm, not private."""
    return math.sqrt(n) / (4 * M * math.sqrt(T))


@_checked
def hazan_kale(n: int, T: int, M: float) -> float:
    """Its regret, 4 M sqrt(n T), from |g_t| <= 4 M."""
    return 4 * M * math.sqrt(n * T)


@_checked
def hazan_kale_bandit_tuning(n: int, T: int, M: float) -> tuple[float, float]:
    """(eta, gamma) of their bandit algorithm: gamma = n / T^(1/3), at most 1, and the best eta for it."""
    gamma = min(n / math.pow(T, 1 / 3), 1.0)
    return math.sqrt(gamma / (16 * M**2 * n * T)), gamma


@_checked
def hazan_kale_bandit(n: int, T: int, M: float) -> float:
    """Its regret: 4 M n^1.5 sqrt(T / gamma) + 2 gamma M T at that tuning; 6 M n T^(2/3) for T >= n^3."""
    _, gamma = hazan_kale_bandit_tuning(n, T, M)
    return 4 * M * math.pow(n, 1.5) * math.sqrt(T / gamma) + 2 * gamma * M * T


# The bounds as the paper states them, errors included.


@_checked
def ftal(T: int, L: float, H: float, D: float) -> float:
    """Follow the approximate leader without noise: 2 (L + H D)^2 ln T / H, on a set of diameter D."""
    return 2 * (L + H * D) ** 2 * math.log(T) / H


@_checked
def ftal_tuning(L: float, D: float) -> float:
    """The H that minimises `ftal` and `pftal` where it may be chosen: L / D."""
    return L / D


@_checked
def pftal(n: int, T: int, L: float, H: float, D: float, epsilon: float) -> float:
    """Private FTAL: the noise lemma 8 n (L + H D)^2 ln^2.5 T / (H epsilon), plus `ftal`.

    The lemma's constant rests on three slips (E4) and on the sensitivity of adding a round (E3).
    """
    return 8 * n * (L + H * D) ** 2 * math.pow(math.log(T), 2.5) / (H * epsilon) + ftal(T, L, H, D)


@_checked
def submod_pftal_stated_H(n: int, T: int, M: float) -> float:
    """The H of the full-information theorem, M sqrt(T) / sqrt(n), which erratum E2 refutes."""
    return M * math.sqrt(T) / math.sqrt(n)


@_checked
def submod_pftal_claimed(n: int, T: int, M: float, epsilon: float) -> float:
    """The rate that the full-information theorem claims, n^1.5 M sqrt(T) / epsilon: not a bound (E2)."""
    return math.pow(n, 1.5) * M * math.sqrt(T) / epsilon


@_checked
def submod_pftal_published(n: int, T: int, M: float, epsilon: float, H: float) -> float:
    """What the full-information proof gives for any H once its lost factor T is put back (E2)."""
    D = math.sqrt(n)
    return pftal(n, T, 4 * M + H * D, H, D, epsilon) + T * H * n / 2


@_checked
def submod_pftal_published_tuning(n: int, T: int, M: float, epsilon: float) -> float:
    """The H that minimises `submod_pftal_published`, which has the form A / H + B H + constant."""
    log = math.log(max(T, 2))
    weight = 8 * n * math.pow(log, 2.5) / epsilon + 2 * log
    return math.sqrt(16 * M**2 * weight / (4 * n * weight + T * n / 2))


@_checked
def bandit_submod_pftal_stated_tuning(n: int, T: int, M: float) -> tuple[float, float]:
    """The (H, gamma) of the bandit theorem: M / (sqrt(n) T^(1/4)) n / T^(1/4), perhaps above 1 (E6)."""
    return M / (math.sqrt(n) * math.pow(T, 0.25)), n / math.pow(T, 0.25)


@_checked
def bandit_submod_pftal_published(n: int, T: int, M: float, epsilon: float, H: float, gamma: float) -> float:
    """The last display of the bandit proof, all five terms, with far too little noise for privacy (E1)."""
    D, log = math.sqrt(n), math.log(T)
    leader = 2 * (2 * M * (n + 1) / gamma + 2 * H * D) ** 2 * log / H
    noise = 8 * n * (4 * M + 2 * H * D) ** 2 * math.pow(log, 2.5) / (H * epsilon)
    estimate = 8 * n * M * D * math.sqrt(T) / math.sqrt(gamma)
    return leader + 2 * gamma * M * T + T * H * D**2 / 2 + noise + estimate


@_checked
def bandit_submod_pftal_published_tuning(n: int, T: int, M: float, epsilon: float) -> tuple[float, float]:
    """The (H, gamma) that minimise `bandit_submod_pftal_published`, gamma on a grid of 1% steps."""
    log = math.log(max(T, 2))
    noise = 8 * n * math.pow(log, 2.5) / epsilon

    def best_H(gamma: float) -> float:
        falling = 2 * (2 * M * (n + 1) / gamma) ** 2 * log + noise * 16 * M**2
        return math.sqrt(falling / (8 * n * log + noise * 4 * n + T * n / 2))

    gamma = _best_on_grid(lambda g: bandit_submod_pftal_published(n, T, M, epsilon, best_H(g), g))
    return best_H(gamma), gamma


# The paper's algorithms run with enough noise: Theorem 14 of `docs/guarantees.md#regret`.


@_checked
def mean_noise_norm(n: int, T: int, l1: float, l2: float, epsilon: float, noise: Noise = "laplace") -> float:
    """A bound on the mean Euclidean norm of a binary tree's noise on a prefix sum of at most `levels` nodes.

    A coordinate of a node has variance 2 (levels * l1 / epsilon)^2; with spherical noise the squared norm of
    a node has mean n (n+1) (levels * l2 / epsilon)^2. l1 and l2 are distances between inputs of one round.
    """
    levels = (T - 1).bit_length() + 1
    if noise == "laplace":
        return math.sqrt(2 * n * levels) * levels * l1 / epsilon
    return math.sqrt(n * (n + 1) * levels) * levels * l2 / epsilon


@_checked
def submod_pftal(n: int, T: int, M: float, epsilon: float, H: float, noise: Noise = "laplace") -> float:
    """Full information: (2 sqrt(2) M + H sqrt(n))^2 (1 + ln T) / H + T H n / 2 + noise."""
    falling, rising = _terms(n, T, M, epsilon, noise)
    return falling / H + rising * H + 4 * math.sqrt(2 * n) * M * (1 + math.log(T))


@_checked
def submod_pftal_tuning(n: int, T: int, M: float, epsilon: float, noise: Noise = "laplace") -> float:
    """The H that minimises `submod_pftal`, which has the form A / H + B H + constant."""
    falling, rising = _terms(n, T, M, epsilon, noise)
    return math.sqrt(falling / rising)


@_checked
def bandit_submod_pftal(
    n: int, T: int, M: float, epsilon: float, H: float, gamma: float, noise: Noise = "laplace"
) -> float:
    """Bandit, against an oblivious adversary: exploration, regularisation, estimates and noise."""
    falling, rising = _terms(n, T, M, epsilon, noise, gamma)
    return falling / H + rising * H + 2 * gamma * M * T


@_checked
def bandit_submod_pftal_tuning(
    n: int, T: int, M: float, epsilon: float, noise: Noise = "laplace"
) -> tuple[float, float]:
    """The (H, gamma) that minimise `bandit_submod_pftal`, gamma on a grid of 1% steps."""
    # The first term falls like 1 / gamma, and the best H makes the bound 2 sqrt(A B) + 2 gamma M T.
    falling, rising = _terms(n, T, M, epsilon, noise, 1.0)
    gamma = _best_on_grid(lambda g: math.sqrt(falling * rising / g) + g * M * T)
    return math.sqrt(falling / gamma / rising), gamma


def _terms(
    n: int, T: int, M: float, epsilon: float, noise: Noise, gamma: float | None = None
) -> tuple[float, float]:
    """The A and B of a bound's A / H + B H; with exploration gamma those of the bandit."""
    squared, l1, l2, times = 8 * M**2, 8 * M, 4 * math.sqrt(2) * M, 1
    if gamma is not None:
        squared, times = (4 * n - 2) * (n + 1) * M**2 / gamma, 2
        l1 = l2 = 4 * M * (n + 1) / gamma
    log = 1 + math.log(T)
    norm = mean_noise_norm(n, T, l1, l2, epsilon, noise)
    return times * squared * log + 2 * math.sqrt(2) * M * norm * log, times * n * log + T * n / 2


# This package's own learners: Theorems 11, 12 and 18 of `docs/guarantees.md#regret`.


@_checked
def bandit_tuning(n: int, second_moment: float) -> tuple[float, float]:
    """The (exploration, step) that minimise `bandit_dual_averaging` for large T, from the cube's middle."""
    spread = 12 * (n + 1) * second_moment
    exploration = (n * math.sqrt(spread) / 24) ** (2 / 3)
    return exploration, math.sqrt(exploration / spread)


@_checked
def bandit_dual_averaging(
    n: int,
    T: int,
    M: float,
    second_moment: float,
    exploration: float,
    step: float,
    *,
    block: int = 1,
    outstanding: float = 0.0,
) -> float:
    """Bandit feedback, with gamma_t = min(1, exploration t^(-1/3)) and eta_t = (step / M) t^(-2/3).

    With N = floor(T / block) updates, s the second moment and R = n/8 it is

        block M (N^(2/3) (3 a + R/b + 1.5 n(n+1) s b/a) + 3 n(n+1) s b N^(1/3)) + 2 M block,

    a being the exploration and b the step. The adversary is oblivious. The second moment is that of a
    released number minus its baseline, in units of M^2. A set is held for `block` rounds. `outstanding` is
    the largest number of draws whose costs are pending; it must not depend on the draws.
    """
    spread = n * (n + 1) * second_moment
    root = (T // block) ** (1 / 3)
    rate = 3 * exploration + n / 8 / step + 1.5 * spread * step / exploration
    regret = rate * root**2 + 3 * spread * step * root
    if outstanding:
        d = outstanding
        drift = 8 * d * step * (3 * root + d)
        jitter = 2 * math.sqrt(2) * math.sqrt(2 * spread * d) * step
        slow = 1 + 1 / math.sqrt(exploration)
        regret += drift + jitter * (3 * root + 2 * root**1.5 / math.sqrt(exploration) + d * slow)
        regret += d * (2 * min(1.0, exploration) + spread * step * (1 + 1 / exploration))
    return float(block * M * regret + 2 * M * block)


@_checked
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
    first_spent: float = 0.0,
    adaptive: bool = False,
) -> float:
    """Full information in blocks of any adaptive lengths between `shortest` and `longest`.

    (1 + 1/alpha) (sqrt(alpha R E) + F + L) + 2 M longest, where R = n/8, E = T (G longest + n v / shortest)
    bounds the energy of all releases, F (`first_spent`) is what the step starts from, and L = 4 M longest +
    sqrt(2v) (ln B + 3n/4) bounds the mean of the largest of B = T / shortest releases in L1. Here v is the
    noise variance of each coordinate of a release, alpha the step's constant, and G the largest squared norm
    of a gradient, 8 M^2 by default. An adversary that is `adaptive` sees what was chosen.
    """
    if longest < shortest:
        raise checks.invalid_argument("batched", "longest", f"at least {shortest}, the shortest", longest)
    gradient = 8 * M**2 if squared_gradient is None else squared_gradient
    energy = T * (gradient * longest + n * noise_variance / shortest)
    blocks = max(1.0, T / shortest)
    largest = 4 * M * longest + math.sqrt(2 * noise_variance) * (math.log(blocks) + 0.75 * n)
    regret = (1 + 1 / alpha) * (math.sqrt(alpha * n / 8 * energy) + first_spent + largest)
    away = n / 2 * math.sqrt(noise_variance * blocks) if adaptive else 0.0
    return regret + 2 * M * longest + away


@_checked
def watched_leader(
    n: int,
    T: int,
    M: float,
    noise_variance: float,
    first: float,
    *,
    chance: float,
    allowed: float,
    allowed_cut: float,
) -> float:
    """What a leader adds to the bound of what it changes over to: Theorem 18, with its letters.

    2 M first + (c sqrt(n) + a) sqrt(B n v + 2 M^2 T) + 7 M longest + sqrt(2v) (ln B + 3n/4)
    + 1.5 a' sqrt(v B) + 1.5 sqrt(v/2) (ln B + 1), where v is the noise variance of a coordinate, there are at
    most B = 4 + 1.3 sqrt(T / first) slots, of which the `first` is given and the longest has
    2 sqrt(first T) rounds; c, a and a' are `chance`, `allowed` and `allowed_cut`.
    """
    slots, longest = 4 + 1.3 * math.sqrt(T / first), max(first, 2 * math.sqrt(first * T))
    spread = slots * n * noise_variance + 2 * M**2 * T
    seen = (chance * math.sqrt(n) + allowed) * math.sqrt(spread)
    log = math.log(slots)
    last = 7 * M * longest + math.sqrt(2 * noise_variance) * (log + 0.75 * n)
    cut = allowed_cut * math.sqrt(noise_variance * slots) + math.sqrt(noise_variance / 2) * (log + 1)
    return 2 * M * first + seen + last + 1.5 * cut
