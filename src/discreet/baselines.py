"""What a learner is measured against.

Some are not private, and show what privacy costs. Some do not learn. Some are private, and what one might
pick otherwise: exponential weights or Thompson sampling over all sets, items judged independently of each
other, gradients that are noised one by one, and a noisy leader.

Arguments that many share: `n` or `items` is the number of items or their names; `T` is the number of rounds,
from which defaults are made; costs lie in [-`M`, `M`] and others are clipped; `seed` makes a run repeatable,
and one with noise not private; `source` has random bits instead; with `maximize` regret is that of rewards.

Examples:
    >>> bandit = HazanKaleBandit(["tea", "milk"], T=1000, M=1.0)
    >>> bandit.tell(bandit.ask(), 0.3)
    >>> from discreet.set_functions import Modular
    >>> sorted(BestFixedSet(Modular([3.0, -1.0, -2.0])).ask().subset)
    [1, 2]
"""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import bounds, checks
from discreet.kernel.queries import ChainGradient, CostOfSet, OnePoint
from discreet.kernel.releases import Bits, Discard, Exact, Laplace, Release
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items, named_items_and_sizes
from discreet.learners.bandit import EXPLORATION, STEP, Method, Mode, best_length, default_method
from discreet.learners.feedback import BanditFeedback, FunctionFeedback, Told, as_set_function
from discreet.learners.full_information import squared_gradient
from discreet.learners.learner import Learner
from discreet.minimizers import Minimum, minimize
from discreet.policies import (
    Arms,
    Averaging,
    ChainBandit,
    Descent,
    DoublingLeader,
    DualAveraging,
    Fixed,
    ItemSampling,
    Leader,
    Model,
    SetSampling,
    Uniform,
)
from discreet.policies.averaging import ALPHA
from discreet.policies.base import CompiledPolicy
from discreet.policies.model import Noise
from discreet.policies.posterior import PRIOR
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import BitSource, Seed
from discreet.set_functions import Modular, SetFunction, Sum

Items = int | Iterable[Hashable]

MOST_ITEMS = 12  # all 2^n sets are arms
MOST_TABULATED = 16  # all 2^n costs are added up


class HazanKale(FunctionFeedback):
    """Hazan and Kale (2012), full information: x <- clip(x - eta g), then a random level set.

    The step eta is sqrt(n) / (4 M sqrt(T)) by default, for regret 4 M sqrt(n T).
    """

    @keeps_arguments
    def __init__(
        self, n: Items, T: int, M: float = 1.0, *, eta: float | None = None, seed: Seed | None = None
    ) -> None:
        owner = "HazanKale"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        default = bounds.hazan_kale_step(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        query = ChainGradient.of(owner, -M, M)
        policy = Descent(np.full(size, 0.5), self.eta, unit=query.step)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


class HazanKaleBandit(BanditFeedback):
    """Hazan and Kale (2012), bandit: the same descent on the one-point estimate (theirs is biased).

    The step eta and the exploration gamma are by default those of `bounds.hazan_kale_bandit_tuning`.
    """

    @keeps_arguments
    def __init__(
        self,
        n: Items,
        T: int,
        M: float = 1.0,
        *,
        eta: float | None = None,
        gamma: float | None = None,
        seed: Seed | None = None,
    ) -> None:
        owner = "HazanKaleBandit"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        default_eta, default_gamma = bounds.hazan_kale_bandit_tuning(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default_eta if eta is None else eta)
        self.gamma = checks.share(owner, "gamma", default_gamma if gamma is None else gamma)
        query = OnePoint.of(-M, M, size, self.gamma)
        policy = Descent(np.full(size, 0.5), self.eta, unit=query.step, gamma=self.gamma, coin=True)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


class FollowTheApproximateLeader(FunctionFeedback):
    """x = clip(-(sum of gradients) / (H t), 0, 1): what the paper's algorithm would do with no privacy.

    By default H is 4 M sqrt((1 + ln T) / (n T)), which balances 8 M^2 (1 + ln T) / H and T H n / 2.
    """

    @keeps_arguments
    def __init__(
        self, n: Items, T: int, M: float = 1.0, *, H: float | None = None, seed: Seed | None = None
    ) -> None:
        owner = "FollowTheApproximateLeader"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        default = 4 * M * math.sqrt((1 + math.log(T)) / (size * T))
        self.H = checks.positive_number(owner, "H", default if H is None else H)
        query = ChainGradient.of(owner, -M, M)
        policy = Leader(np.zeros(size), self.H, unit=query.step)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


class FollowTheLeader:
    """The set of least total cost so far, exactly: what full information is worth without privacy.

    Up to 16 items the costs of all sets are added up, of any functions. With more, functions are taken to be
    submodular, and the leader is found again whenever the number of rounds has grown by a tenth. It has `ask`
    and `tell`, and cannot be saved.
    """

    feedback = "function"
    guarantee = Exact().guarantee

    def __init__(self, items: Items) -> None:
        self.items = named_items("FollowTheLeader", items)
        n = len(self.items)
        self._totals = np.zeros(1 << n) if n <= MOST_TABULATED else None
        self._total: SetFunction = Modular(np.zeros(n))
        self._new = list[SetFunction]()
        self._rounds = 0
        self.point = np.zeros(n)

    def ask(self) -> frozenset[Hashable]:
        """The leader; before anything was told, the empty set."""
        return frozenset(self.items[i] for i in np.flatnonzero(self.point))

    def tell(self, decision: object, function: Told) -> None:
        """Add the cost function of a round, which is that of any decision."""
        added = as_set_function("FollowTheLeader", function, self.items)
        self._rounds += 1
        if self._totals is not None:
            self._totals += added.table().values
            self.point = (int(self._totals.argmin()) >> np.arange(len(self.items)) & 1).astype(np.float64)
            return
        self._new.append(added)
        if 11 * len(self._new) >= self._rounds:
            self._total, self._new = Sum([self._total, *self._new]), []
            chosen = sorted(minimize(self._total).set)
            self.point = np.isin(np.arange(len(self.items)), chosen).astype(np.float64)


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


class FullInformationWithoutNoise(FunctionFeedback):
    """`FullInformationLearner` on the exact gradients, each round a block."""

    @keeps_arguments
    def __init__(self, items: Items, cost_range: tuple[float, float], *, seed: Seed | None = None) -> None:
        owner = "FullInformationWithoutNoise"
        names = named_items(owner, items)
        query = ChainGradient.of(owner, *cost_interval(owner, cost_range, maximize=False))
        start, spent = np.full(len(names), 0.5), ALPHA * squared_gradient(query) ** 0.5
        policy = Averaging(start, unit=query.step, shortest=1, longest=1, noise_energy=0.0, first_spent=spent)
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


class NoisedGradients(FunctionFeedback):
    """Dual averaging on gradients that each carry Laplace noise of their own: the first thing one would try.

    The step eta is by default the best for gradients of squared norm 8 M^2 + 2 n (8M/epsilon)^2.

    Formal guarantees:
        Local. Neighbours: streams that differ in one function. A gradient is clipped to |g|_1 <= 4M and gets
        discrete Laplace noise of scale 8M / epsilon per coordinate. Proof: `docs/guarantees.md#slots`.
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
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "NoisedGradients"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        budget = Budget.of(owner, epsilon)
        squared = 8 * M**2 + 2 * size * (8 * M / float(epsilon)) ** 2
        default = math.sqrt(size / 4) / math.sqrt(T * squared)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        query = ChainGradient.of(owner, -M, M)
        policy = DualAveraging(np.full(size, 0.5), self.eta, unit=query.step)
        release = Laplace(query.bound, budget, local=True)
        super().__init__(items, Learner(size, policy, query, release), source=source, seed=seed)


class NoisyLeader(FunctionFeedback):
    """Sum up what each item adds, over epochs that double, add noise, take the items with negative sums.

    The first epoch has 100 / epsilon rounds. What an item adds is measured along a chain of sets through the
    chosen one, in a fixed order, which is exact for additive costs.

    Formal guarantees:
        Neighbours: streams that differ in one function. A gradient is clipped to |g|_1 <= 2M, where M is half
        the width of the range (no additive costs exceed it), and enters one sum, with discrete Laplace noise
        of scale 4M / epsilon per coordinate. Proof: `docs/guarantees.md#slots`.
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
        owner = "NoisyLeader"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize=False)
        budget = Budget.of(owner, epsilon)
        query = ChainGradient.of(owner, low, high, gradient_bound=high - low)
        policy = DoublingLeader(len(names), math.ceil(100 / float(epsilon)))
        learner = Learner(len(names), policy, query, Laplace(query.bound, budget))
        super().__init__(names, learner, source=source, seed=seed)


def _unteachable(n: int, policy: CompiledPolicy) -> Learner:
    """A learner that drops what it is told, costs and functions alike; their range does not matter."""
    return Learner(n, policy, CostOfSet(-1.0, 1.0), Discard())


class FixedSet(BanditFeedback):
    """The same set in every round, given as item numbers."""

    @keeps_arguments
    def __init__(self, n: Items, subset: Iterable[int] = (), *, maximize: bool = False) -> None:
        items = named_items("FixedSet", n)
        mask = checks.subset_mask("FixedSet", "subset", subset, len(items))
        super().__init__(items, _unteachable(len(items), Fixed(mask)), maximize=maximize)


class BestFixedSet(FixedSet):
    """The best fixed set for the sum of all rounds' cost functions: what regret is measured against."""

    def __init__(self, total: SetFunction) -> None:
        self.minimum: Minimum = minimize(total)
        super().__init__(total.n, self.minimum.set)
        del self._arguments

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=math.inf).void("it is chosen in hindsight from the exact data")


class RandomSet(BanditFeedback):
    """Each item in or out with probability one half, in every round."""

    @keeps_arguments
    def __init__(self, n: Items, *, maximize: bool = False, seed: Seed | None = None) -> None:
        items = named_items("RandomSet", n)
        super().__init__(items, _unteachable(len(items), Uniform(len(items))), maximize=maximize, seed=seed)
