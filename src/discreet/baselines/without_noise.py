"""Learners on exact data, not private: what privacy costs is the difference to them."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import bounds, checks
from discreet.kernel.queries import ChainGradient, CostOfSet, OnePoint
from discreet.kernel.releases import Exact
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items, named_items_and_sizes
from discreet.learners.bandit import EXPLORATION, STEP
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.full_information import squared_gradient
from discreet.learners.learner import Learner
from discreet.policies import Averaging, ChainBandit, Descent, Leader
from discreet.policies.averaging import ALPHA
from discreet.randomness import Seed


class HazanKale(FunctionFeedback):
    """Hazan and Kale (2012), full information: x <- clip(x - eta g), then a random level set.

    Args:
        eta: The step; sqrt(n) / (4 M sqrt(T)) by default, for regret 4 M sqrt(n T).

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = HazanKale(2, T=100)
        >>> learner.tell(learner.ask(), Modular([1.0, -1.0]))
        >>> learner.point.round(3)
        array([0.465, 0.535])
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        M: float = 1.0,
        *,
        eta: float | None = None,
        seed: Seed | None = None,
    ) -> None:
        owner = "HazanKale"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        default = bounds.hazan_kale_step(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        query = ChainGradient.of(owner, -M, M)
        policy = Descent(np.full(size, 0.5), self.eta, unit=query.step)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


class HazanKaleBandit(BanditFeedback):
    """Hazan and Kale (2012), bandit: the same descent on the one-point estimate.

    The estimator is the corrected one; that of the original paper is biased, as Rivera Cardoso and
    Cummings point out.

    Args:
        eta: The step; by default that of `bounds.hazan_kale_bandit_tuning`.
        gamma: Exploration in (0, 1]; n / T^(1/3) by default, at most 1.

    Examples:
        >>> learner = HazanKaleBandit(["tea", "milk"], T=1000)
        >>> round(learner.gamma, 3), learner.guarantee.private
        (0.2, False)
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
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

    Args:
        H: Strong convexity; by default 4 M sqrt((1 + ln T) / (n T)), which balances
            8 M^2 (1 + ln T) / H and T H n / 2.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = FollowTheApproximateLeader(2, T=100, H=4.0)
        >>> learner.tell(learner.ask(), Modular([1.0, -1.0]))
        >>> learner.point
        array([0.  , 0.25])
    """

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        M: float = 1.0,
        *,
        H: float | None = None,
        seed: Seed | None = None,
    ) -> None:
        owner = "FollowTheApproximateLeader"
        items, size, T, M = named_items_and_sizes(owner, n, T, M)
        default = 4 * M * math.sqrt((1 + math.log(T)) / (size * T))
        self.H = checks.positive_number(owner, "H", default if H is None else H)
        query = ChainGradient.of(owner, -M, M)
        policy = Leader(np.zeros(size), self.H, unit=query.step)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


class BanditWithoutNoise(BanditFeedback):
    """`BanditLearner` on the exact costs.

    Args:
        cost_range: The range of costs.
        exploration_scale: Multiplies the exploration of least regret bound.
        step_scale: Multiplies the step of least regret bound.

    Examples:
        >>> learner = BanditWithoutNoise(["tea", "milk"], cost_range=(0, 1))
        >>> learner.tell(learner.ask(), 0.5)
        >>> learner.rounds, learner.guarantee.private
        (1, False)
    """

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Hashable],
        cost_range: tuple[float, float],
        *,
        exploration_scale: float = EXPLORATION,
        step_scale: float = STEP,
        seed: Seed | None = None,
    ) -> None:
        owner = "BanditWithoutNoise"
        names = named_items(owner, items)
        query = CostOfSet(*cost_interval(owner, cost_range, maximize=False))
        exploration, step = bounds.bandit_tuning(len(names), 1.0)
        policy = ChainBandit(
            np.full(len(names), 0.5),
            units=query.units,
            rounds=1,
            exploration=exploration * checks.positive_number(owner, "exploration_scale", exploration_scale),
            step=step * checks.positive_number(owner, "step_scale", step_scale),
            prior=1.0,
        )
        super().__init__(names, Learner(len(names), policy, query, Exact(local=True)), seed=seed)


class FullInformationWithoutNoise(FunctionFeedback):
    """`FullInformationLearner` on the exact gradients, each round a block.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = FullInformationWithoutNoise(2, cost_range=(-1, 1))
        >>> for _ in range(50):
        ...     learner.tell(learner.ask(), Modular([0.5, -0.5]))
        >>> learner.point
        array([0., 1.])
    """

    @keeps_arguments
    def __init__(
        self, items: int | Iterable[Hashable], cost_range: tuple[float, float], *, seed: Seed | None = None
    ) -> None:
        owner = "FullInformationWithoutNoise"
        names = named_items(owner, items)
        query = ChainGradient.of(owner, *cost_interval(owner, cost_range, maximize=False))
        policy = Averaging(
            np.full(len(names), 0.5),
            unit=query.step,
            shortest=1,
            longest=1,
            noise_energy=0.0,
            first_spent=ALPHA * squared_gradient(query) ** 0.5,
        )
        super().__init__(names, Learner(len(names), policy, query, Exact(local=True)), seed=seed)
