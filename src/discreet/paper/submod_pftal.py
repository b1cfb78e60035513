"""The paper's algorithms for sets: SubmodPFTAL for full information, BanditSubmodPFTAL for bandits."""

import math
from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

from discreet import bounds, checks
from discreet.bounds import Noise
from discreet.errors import InvalidArgument
from discreet.kernel.queries import ChainGradient, OnePoint, largest_estimate
from discreet.learners.arguments import first_point, keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.learner import Learner
from discreet.paper.pftal import Calibration, tree_release
from discreet.policies import Leader
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed


def corrected_H(T: int, M: float, epsilon: float) -> float:
    """Minimises n (4M)^2 ln^2.5 T / (epsilon H) + T H n / 2, the paper's bound with its lost factor T."""
    log = math.log(max(T, 2))
    return 4 * math.sqrt(2) * M * math.sqrt(math.pow(log, 2.5) / (epsilon * T))


class SubmodPFTAL(FunctionFeedback):
    """Follow the approximate leader on regularised Lovász extensions, with a tree of noisy sums.

    Args:
        n: The number of items, or their names; T is that of rounds, epsilon the privacy loss.
        M: Costs lie in [-M, M]; others are clipped.
        H: Strong convexity. Default: `corrected_H`, or as published M sqrt(T) / sqrt(n) (erratum E2).
        L: Lipschitz bound. Corrected: at least 4M, the bound that is enforced. Published: what
            the noise is made for, 4M + H sqrt(n) by default.
        S1: The first set, as numbers.
        expire_after: As of `Session`.

    Formal guarantees:
        Corrected. Neighbours: streams that differ in one function. Sensitivity: gradients are clipped to
        |g|_1 <= 4M, so replacing a function moves a node by at most 8M in L1. Noise: discrete Laplace of
        scale levels * 8M / epsilon. Proof: `docs/guarantees.md#binary-tree`; regret: `bounds.submod_pftal`.
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        epsilon: float,
        M: float = 1.0,
        H: float | None = None,
        L: float | None = None,
        *,
        calibration: Calibration = "corrected",
        noise: Noise | None = None,
        S1: Iterable[int] = (),
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner, published = "SubmodPFTAL", calibration == "published"
        items, size, T, M = named_items_and_sizes(owner, n, T, M, MOST_ROUNDS)
        budget = Budget.of(owner, epsilon)
        if H is None:
            H = bounds.submod_pftal_stated_H(size, T, M) if published else corrected_H(T, M, epsilon)
        self.H = checks.positive_number(owner, "H", H)
        default_L = 4 * M + (self.H * math.sqrt(size) if published else 0.0)
        self.L = checks.positive_number(owner, "L", default_L if L is None else L)
        if not published and self.L < 4 * M:
            raise checks.invalid_argument(owner, "L", f"at least 4M = {4 * M}, which is enforced", self.L)
        self.T, self.M, self.epsilon, self.calibration = T, M, float(epsilon), calibration
        query = ChainGradient.of(-M, M)
        submodular, anything = (
            self.epsilon * distance * M / self.L for distance in (2 * math.sqrt(6), 4 * math.sqrt(2))
        )
        but = (
            " whatever L is, but neighbours replace a function, so for submodular costs in [-M, M] the real "
            f"loss is up to epsilon * 2 sqrt(6) M / L, here {submodular:.3g}, and for any other costs, "
            f"clipped, up to {anything:.3g}: more than epsilon once L is small (errata E3, E8); its noise is "
            "made of floats; and with its H the regret is linear (E2)"
        )
        release = tree_release(owner, size, T, query.bound, budget, calibration, noise, self.L, but)
        start = checks.subset_mask(owner, "S1", S1, size).astype(np.float64)
        learner = Learner(size, Leader(start, self.H, unit=query.step), query, release)
        super().__init__(items, learner, source=source, seed=seed, expire_after=expire_after)


class BanditSubmodPFTAL(BanditFeedback):
    """Chain sampling with exploration, the one-point estimate with its coin, and a tree of noisy sums.

    Other arguments are as of `SubmodPFTAL`.

    Args:
        H: Strong convexity; M / (sqrt(n) T^(1/4)) by default.
        L: What the noise is made for. Published: 4M + 2 H sqrt(n). Corrected: at least 2M (n+1) / gamma.
        gamma: Exploration in (0, 1]; n / T^(1/4) by default, which needs T >= n^4 (erratum E6).
        x1: The first point of the cube; all levels 1/2 by default.

    Formal guarantees:
        Corrected. Neighbours: streams that differ in one function. Sensitivity: given sets and coins, an
        estimate has one nonzero coordinate, of size at most 2M (n+1) / gamma, which is enforced. Noise:
        discrete Laplace of scale levels * 4M (n+1) / (gamma epsilon). Proof:
        `docs/guarantees.md#binary-tree`; regret: `bounds.bandit_submod_pftal`.
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        epsilon: float,
        M: float = 1.0,
        H: float | None = None,
        L: float | None = None,
        gamma: float | None = None,
        *,
        calibration: Calibration = "corrected",
        noise: Noise | None = None,
        x1: npt.ArrayLike | None = None,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner, published = "BanditSubmodPFTAL", calibration == "published"
        items, size, T, M = named_items_and_sizes(owner, n, T, M, MOST_ROUNDS)
        budget = Budget.of(owner, epsilon)
        default_H, default_gamma = bounds.bandit_submod_pftal_stated_tuning(size, T, M)
        if gamma is None and default_gamma > 1:
            raise InvalidArgument(
                f"The default gamma = n / T^(1/4) of BanditSubmodPFTAL needs T >= n^4 = {size**4}. "
                f"Got T = {T} instead. Give a 'gamma' in (0, 1], or use BanditLearner, which has no horizon."
            )
        self.gamma = checks.share(owner, "gamma", default_gamma if gamma is None else gamma)
        self.H = checks.positive_number(owner, "H", default_H if H is None else H)
        largest = largest_estimate(-M, M, size, self.gamma)
        default_L = 4 * M + 2 * self.H * math.sqrt(size) if published else largest
        self.L = checks.positive_number(owner, "L", default_L if L is None else L)
        if not published and largest > self.L:
            wanted = f"at least 2M(n+1)/gamma = {largest}, the size that an estimate can have"
            raise checks.invalid_argument(owner, "L", wanted, self.L)
        self.T, self.M, self.epsilon, self.calibration = T, M, float(epsilon), calibration
        query = OnePoint.of(-M, M, size, self.gamma)
        hidden, known = (self.epsilon * factor * largest / self.L for factor in (math.sqrt(2), 2))
        but = (
            f", but its noise is made for vectors of norm L = {self.L:.3g} while an estimate reaches "
            f"2M(n+1)/gamma = {largest:.3g} (erratum E1): the real loss is bounded by {hidden:.3g}, and by "
            f"{known:.3g} where the coins are seen, which grow like T^(1/4); and the noise is made of floats"
        )
        release = tree_release(owner, size, T, query.bound, budget, calibration, noise, self.L, but)
        start = first_point(owner, "x1", x1, items)
        policy = Leader(start, self.H, unit=query.step, gamma=self.gamma, coin=True)
        learner = Learner(size, policy, query, release)
        super().__init__(items, learner, source=source, seed=seed, expire_after=expire_after)
