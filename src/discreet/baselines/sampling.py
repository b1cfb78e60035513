"""Learners from single costs: every set by itself, and every item by itself."""

import math
from collections.abc import Hashable, Iterable

from discreet import checks
from discreet.kernel.queries import CostOfSet
from discreet.kernel.releases import Laplace
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items, named_items_and_sizes
from discreet.learners.bandit import MODES, Mode, best_length, cost_release
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.policies import Arms, ItemSampling
from discreet.policies.posterior import PRIOR
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed

Items = int | Iterable[Hashable]

MOST_ITEMS = 12  # all 2^n sets are arms


class ExponentialWeights(BanditFeedback):
    """Every subset is an arm of Exp3; each cost gets Laplace noise on arrival. At most 12 items.

    By default the step eta is sqrt(ln(K) / (T K (M^2 + 8 M^2 / epsilon^2))), K = 2^n, and the uniform
    exploration gamma is K * eta * M, at most 1/2.

    Formal guarantees:
        Local. Neighbours: streams that differ in one function. A cost is clipped to [-M, M] and gets discrete
        Laplace noise of scale 2M / epsilon on arrival. Proof: `docs/guarantees.md#slots`.
    """

    @keeps_arguments
    def __init__(
        self,
        n: Items,
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


class ProductSampling(BanditFeedback):
    """Thompson sampling as if items did not depend on each other: costs are taken to add up over items.

    It needs few rounds, also with many items, and misses what only some items together bring. In local mode
    each cost becomes one random bit on arrival. In central mode a set is played for a block of about
    2.8 / epsilon rounds, whose sum gets Laplace noise. With an `epsilon` of `math.inf` costs are released
    exactly, round by round.

    Formal guarantees:
        Neighbours: streams that differ in one function. Those of `BanditLearner` in the same mode
        (`docs/guarantees.md#slots`).
    """

    @keeps_arguments
    def __init__(
        self,
        items: Items,
        epsilon: float,
        cost_range: tuple[float, float],
        *,
        mode: Mode = "local",
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "ProductSampling"
        names = named_items(owner, items)
        query = CostOfSet(*cost_interval(owner, cost_range, maximize=False))
        budget = Budget.of(owner, epsilon, may_be_unlimited=True)
        checks.one_of(owner, "mode", mode, MODES)
        release = cost_release(query, mode, budget)
        alone = mode == "local" or budget.unlimited
        block = 1 if alone else best_length(budget.per_round)
        # The first guess at the variance of a released mean: that of its noise, and of uniform costs.
        noise = release.noise_variance / (block * query.units) ** 2 + PRIOR / block
        policy = ItemSampling(len(names), unit=1 / query.units, rounds=block, noise=noise)
        super().__init__(names, Learner(len(names), policy, query, release), source=source, seed=seed)
