"""Private learners that one would take off the shelf: every cost, or every gradient, is noised by itself."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.kernel.queries import ChainGradient, CostOfSet
from discreet.kernel.releases import Laplace
from discreet.learners.arguments import keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.learner import Learner
from discreet.policies import Arms, DualAveraging
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed

#: All 2^n sets are arms.
MOST_ITEMS = 12


class ExponentialWeights(BanditFeedback):
    """Every subset is an arm of Exp3; each cost gets Laplace noise on arrival. At most 12 items.

    Args:
        eta: The step; sqrt(ln(K) / (T K (M^2 + 8 M^2 / epsilon^2))) by default, K = 2^n.
        gamma: Uniform exploration; K * eta * M, at most 1/2, by default.

    Formal guarantees:
        Neighbours: streams that differ in one function. A cost is clipped to [-M, M], put on an integer
        grid, and noised on arrival with discrete Laplace noise of scale 2M / epsilon; everything
        else is post-processing. It is local. Proof: `docs/guarantees.md#slots`.

    Examples:
        >>> learner = ExponentialWeights(["tea", "milk"], T=1000, epsilon=1.0)
        >>> learner.point  # all four sets are as likely at first
        array([0.5, 0.5])
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


class NoisedGradients(FunctionFeedback):
    """Dual averaging on gradients that each carry Laplace noise of their own: the first thing one would try.

    Args:
        eta: The step; by default the best for gradients of squared norm 8 M^2 + 2 n (8M/epsilon)^2.

    Formal guarantees:
        Neighbours: streams that differ in one function. Sensitivity: a gradient is clipped to
        |g|_1 <= 4M in exact integers, so replacing it moves 8M in L1. Noise: discrete Laplace of scale
        8M / epsilon on every coordinate of every gradient, on arrival. It is local. Proof:
        `docs/guarantees.md#slots`.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = NoisedGradients(["tea", "milk"], T=1000, epsilon=1.0)
        >>> learner.tell(learner.ask(), Modular([0.5, -0.5]))
        >>> learner.guarantee.epsilon, learner.guarantee.local
        (1.0, True)
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
