"""Steps along gradients, exact or noised one by one, and leaders of their sums."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import bounds, checks
from discreet.kernel.queries import ChainGradient, OnePoint
from discreet.kernel.releases import Exact, Laplace
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items, named_items_and_sizes
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.learner import Learner
from discreet.policies import Descent, DoublingLeader, DualAveraging, Leader
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed

Items = int | Iterable[Hashable]


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
        query = ChainGradient.of(-M, M)
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
        query = ChainGradient.of(-M, M)
        policy = Leader(np.zeros(size), self.H, unit=query.step)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


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
        query = ChainGradient.of(-M, M)
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
        query = ChainGradient.of(low, high)
        query = query._replace(l1=2 * query.units)  # no additive costs exceed it
        policy = DoublingLeader(len(names), math.ceil(100 / float(epsilon)))
        learner = Learner(len(names), policy, query, Laplace(query.bound, budget))
        super().__init__(names, learner, source=source, seed=seed)
