"""Learners from single costs, with noise or without: every set by itself, every item by itself, a model."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import bounds, checks
from discreet.kernel.queries import CostOfSet
from discreet.kernel.releases import Bits, Exact, Laplace, Release
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items, named_items_and_sizes
from discreet.learners.bandit import EXPLORATION, STEP, Method, Mode, best_length, default_method
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.policies import Arms, ChainBandit, ItemSampling, Model, SetSampling
from discreet.policies.model_state import Noise
from discreet.policies.posterior import PRIOR
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed

Items = int | Iterable[Hashable]

MOST_ITEMS = 12  # all 2^n sets are arms


class BanditWithoutNoise(BanditFeedback):
    """`BanditLearner` on exact costs. The scales are for the worst case."""

    @keeps_arguments
    def __init__(
        self,
        items: Items,
        cost_range: tuple[float, float],
        *,
        method: Method | None = None,
        exploration_scale: float = EXPLORATION,
        step_scale: float = STEP,
        seed: Seed | None = None,
    ) -> None:
        owner = "BanditWithoutNoise"
        names = named_items(owner, items)
        if method is None:
            method = default_method(len(names))
        query = CostOfSet(*cost_interval(owner, cost_range, maximize=False))
        exploration, step = bounds.bandit_tuning(len(names), 1.0)
        worst = ChainBandit(
            np.full(len(names), 0.5),
            units=query.units,
            rounds=1,
            exploration=exploration * checks.positive_number(owner, "exploration_scale", exploration_scale),
            step=step * checks.positive_number(owner, "step_scale", step_scale),
            prior=1.0,
        )
        policy: ChainBandit | Model = worst
        if checks.one_of(owner, "method", method, ("model", "worst-case")) == "model":
            policy = Model(worst, Noise(0.0, 0.0), unit=1 / query.units, epsilon=math.inf)
        super().__init__(names, Learner(len(names), policy, query, Exact(local=True)), seed=seed)


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


class ThompsonSampling(BanditFeedback):
    """Every subset by itself, with a normal belief about its mean cost; at most 12 items.

    A set is the best one by a draw from these beliefs. Each cost becomes one random bit on arrival.

    Formal guarantees:
        Local. Neighbours: streams that differ in one function. A cost is clipped and becomes one bit, with
        likelihood ratios of at most exp(epsilon). Proof: `docs/guarantees.md#one-bit`.
    """

    @keeps_arguments
    def __init__(
        self,
        items: Items,
        epsilon: float,
        cost_range: tuple[float, float],
        *,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "ThompsonSampling"
        names, query = _few_items(owner, items), _cost(owner, cost_range)
        release = Bits(Budget.of(owner, epsilon), (query.low, query.high))
        super().__init__(names, _sampling(SetSampling, len(names), query, release), source=source, seed=seed)


class ThompsonWithoutNoise(BanditFeedback):
    """`ThompsonSampling` on exact costs."""

    @keeps_arguments
    def __init__(self, items: Items, cost_range: tuple[float, float], *, seed: Seed | None = None) -> None:
        owner = "ThompsonWithoutNoise"
        names, query = _few_items(owner, items), _cost(owner, cost_range)
        super().__init__(names, _sampling(SetSampling, len(names), query, Exact(local=True)), seed=seed)


class ProductSampling(BanditFeedback):
    """Thompson sampling as if items did not depend on each other: costs are taken to add up over items.

    It needs few rounds, also with many items, and misses what only some items together bring. In local mode
    each cost becomes one random bit on arrival. In central mode a set is played for a block of about
    2.8 / epsilon rounds, whose sum gets Laplace noise.

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
        names, query, budget = named_items(owner, items), _cost(owner, cost_range), Budget.of(owner, epsilon)
        if checks.one_of(owner, "mode", mode, ("local", "central")) == "local":
            bits = Bits(budget, (query.low, query.high))
            learner = _sampling(ItemSampling, len(names), query, bits)
        else:
            block = best_length(budget.per_round)
            learner = _sampling(ItemSampling, len(names), query, Laplace(query.bound, budget), block)
        super().__init__(names, learner, source=source, seed=seed)


class ProductWithoutNoise(BanditFeedback):
    """`ProductSampling` on exact costs."""

    @keeps_arguments
    def __init__(self, items: Items, cost_range: tuple[float, float], *, seed: Seed | None = None) -> None:
        owner = "ProductWithoutNoise"
        names, query = named_items(owner, items), _cost(owner, cost_range)
        super().__init__(names, _sampling(ItemSampling, len(names), query, Exact(local=True)), seed=seed)


def _few_items(owner: str, items: Items) -> tuple[Hashable, ...]:
    names = named_items(owner, items)
    checks.integer(owner, "number of items", len(names), 1, MOST_ITEMS)
    return names


def _cost(owner: str, cost_range: tuple[float, float]) -> CostOfSet:
    return CostOfSet(*cost_interval(owner, cost_range, maximize=False))


def _sampling(
    policy: type[SetSampling] | type[ItemSampling], n: int, query: CostOfSet, release: Release, block: int = 1
) -> Learner:
    """The first guess at the variance of a released mean: that of its noise, and of uniform costs."""
    noise = release.noise_variance / (block * query.units) ** 2 + PRIOR / block
    made = policy(n, unit=1 / query.units, rounds=block, noise=noise)
    return Learner(n, made, query, release)
