"""Exponential weights over all subsets with noised costs: the private bandit one would take off the shelf."""

import math
from collections.abc import Hashable, Iterable

from discreet import checks
from discreet.kernel.queries import CostOfSet
from discreet.kernel.releases import Laplace
from discreet.learners.arguments import keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.policies import Arms
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed

#: All 2^n sets are arms.
MOST_ITEMS = 12


class ExponentialWeights(BanditFeedback):
    """Every subset is an arm of Exp3; each cost gets Laplace noise on arrival.

    Args:
        n: The number of items (at most 12), or their names.
        T: The number of rounds, for the default step.
        epsilon: Privacy loss.
        M: Costs lie in [-M, M]; others are clipped.
        eta: The step; sqrt(ln(K) / (T K (M^2 + 8 M^2 / epsilon^2))) by default, K = 2^n.
        gamma: Uniform exploration; K * eta * M, at most 1/2, by default.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Neighbours: streams that differ in one function. A cost is clipped to [-M, M], put on an integer
        grid, and noised on arrival with discrete Laplace noise of scale 2M / epsilon; everything
        else is post-processing. It is local. Proof: `docs/guarantees.md#slots`.

    Examples:
        >>> learner = ExponentialWeights(["tea", "milk"], T=1000, epsilon=1.0)
        >>> learner.point  # all four sets are as likely at first
        array([0.5, 0.5])
        >>> learner.tell(learner.ask(), 0.7)
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        epsilon: float,
        M: float = 1.0,
        *,
        eta: float | None = None,
        gamma: float | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "ExponentialWeights"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        arms = 2 ** checks.integer(owner, "number of items", size, 1, MOST_ITEMS)
        budget = Budget.of(owner, epsilon)
        default = math.sqrt(math.log(arms) / (T * arms * M**2 * (1 + 8 / float(epsilon) ** 2)))
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        self.gamma = checks.share(owner, "gamma", min(arms * self.eta * M, 0.5) if gamma is None else gamma)
        query = CostOfSet(-M, M)
        policy = Arms(size, eta=self.eta, gamma=self.gamma, unit=query.bound.step)
        release = Laplace(query.bound, budget, local=True)
        super().__init__(items, Learner(size, policy, query, release), source=source, seed=seed)
