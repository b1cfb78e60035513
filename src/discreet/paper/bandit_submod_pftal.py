"""BanditSubmodPFTAL: the paper's algorithm for bandit feedback."""

import math
from collections.abc import Hashable, Iterable

import numpy.typing as npt

from discreet import checks
from discreet.bounds import bandit_submod_pftal_stated_tuning
from discreet.bounds.corrected import Noise
from discreet.errors import InvalidArgument
from discreet.kernel.queries import OnePoint, largest_estimate
from discreet.learners.arguments import first_point, keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.paper.parameters import Calibration, tree_release
from discreet.policies import Leader
from discreet.prefix_sums.base import MOST_ROUNDS
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed


class BanditSubmodPFTAL(BanditFeedback):
    """Chain sampling with exploration, the one-point estimate with its coin, and a tree of noisy sums.

    Args:
        n: The number of items, or their names.
        T: The number of rounds.
        epsilon: Privacy loss.
        M: Costs lie in [-M, M]; others are clipped.
        H: Strong convexity; M / (sqrt(n) T^(1/4)) by default.
        L: What the published noise is made for, 4M + 2 H sqrt(n) by default. The corrected noise is
            made for the true bound 2M (n+1) / gamma on an estimate, and L may not be smaller.
        gamma: Exploration in (0, 1]; n / T^(1/4) by default, which needs T >= n^4 (erratum E6).
        calibration: "corrected" or "published".
        noise: "laplace" (exact, the corrected default) or "spherical" (the paper's: floats, not private).
        x1: The first point of the cube; all levels 1/2 by default.
        expire_after: As of `Session`.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Corrected. Neighbours: streams that differ in one function. The chosen sets and the coins have
        the same law given the past releases, whatever the functions, so they cancel in the likelihood
        ratio. Sensitivity: given them an estimate has one nonzero coordinate, of size at most
        2M (n+1) / gamma, enforced in exact integers; replacing a function moves a node by at most twice
        that. Noise: discrete Laplace of scale levels * 4M (n+1) / (gamma epsilon) per coordinate
        and node. Proof: `docs/guarantees.md#binary-tree`, with the coins as in its section Setting.
        Regret: `bounds.bandit_submod_pftal`.

    Examples:
        >>> learner = BanditSubmodPFTAL(["bread", "butter"], T=10_000, epsilon=1.0)
        >>> decision = learner.ask()
        >>> learner.tell(decision, 0.3)
        >>> learner.guarantee.private
        True
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
        default_H, default_gamma = bandit_submod_pftal_stated_tuning(size, T, M)
        if gamma is None and default_gamma > 1:
            raise InvalidArgument(
                f"The default gamma = n / T^(1/4) of BanditSubmodPFTAL needs T >= n^4 = {size**4}. "
                f"Got T = {T} instead. Give a 'gamma' in (0, 1], or use BanditLearner, which has no horizon."
            )
        self.gamma = checks.share(owner, "gamma", default_gamma if gamma is None else gamma)
        self.H = checks.positive_number(owner, "H", default_H if H is None else H)
        largest = largest_estimate(-M, M, size, self.gamma)
        printed = 4 * M + 2 * self.H * math.sqrt(size)
        self.L = checks.positive_number(owner, "L", (printed if published else largest) if L is None else L)
        if not published and largest > self.L:
            raise InvalidArgument(
                f"The 'L' of BanditSubmodPFTAL must be at least 2M(n+1)/gamma = {largest}, the size that an "
                f"estimate can have. Got {self.L} instead. A larger gamma allows a smaller L."
            )
        self.T, self.M, self.epsilon, self.calibration = T, M, float(epsilon), calibration
        query = OnePoint.of(-M, M, size, self.gamma)
        but = _why_false(self, largest)
        release = tree_release(owner, size, T, query.bound, budget, calibration, noise, self.L, but)
        start = first_point(owner, "x1", x1, items)
        policy = Leader(start, self.H, unit=query.step, gamma=self.gamma, coin=True)
        learner = Learner(size, policy, query, release)
        super().__init__(items, learner, source=source, seed=seed, expire_after=expire_after)


def _why_false(learner: BanditSubmodPFTAL, largest: float) -> str:
    """What holds instead of the theorem, which says: epsilon-private."""
    known = learner.epsilon * 2 * largest / learner.L
    hidden = learner.epsilon * math.sqrt(2) * largest / learner.L
    return (
        f", but its noise is made for vectors of norm L = {learner.L:.3g} while an estimate reaches "
        f"2M(n+1)/gamma = {largest:.3g} (erratum E1): the real loss is bounded by {hidden:.3g}, and by "
        f"{known:.3g} where the coins are seen, which grow like T^(1/4); and the noise is made of floats"
    )
