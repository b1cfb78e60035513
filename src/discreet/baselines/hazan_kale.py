"""Hazan and Kale, "Online submodular minimization" (2012): projected subgradient descent, not private."""

from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.bounds import hazan_kale_bandit_tuning, hazan_kale_step
from discreet.kernel.queries import ChainGradient, OnePoint
from discreet.kernel.releases import Exact
from discreet.learners.arguments import keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.learner import Learner
from discreet.policies import Descent
from discreet.randomness import Seed


class HazanKale(FunctionFeedback):
    """Full information: x <- clip(x - eta g), then a random level set.

    Args:
        n: The number of items, or their names.
        T: The number of rounds, for the default step.
        M: Costs lie in [-M, M]; others are clipped.
        eta: The step; sqrt(n) / (4 M sqrt(T)) by default, for regret 4 M sqrt(n T).
        seed: Makes a run repeatable.

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
        default = hazan_kale_step(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        query = ChainGradient.of(owner, -M, M)
        policy = Descent(np.full(size, 0.5), self.eta, unit=query.step)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)


class HazanKaleBandit(BanditFeedback):
    """Bandit: the same descent on the one-point estimate.

    The estimator is the corrected one; that of the original paper is biased, as Rivera Cardoso and
    Cummings point out.

    Args:
        n: The number of items, or their names.
        T: The number of rounds, for the defaults.
        M: Costs lie in [-M, M]; others are clipped.
        eta: The step.
        gamma: Exploration in (0, 1]; n / T^(1/3) by default, at most 1.
        seed: Makes a run repeatable.

    Examples:
        >>> learner = HazanKaleBandit(["tea", "milk"], T=1000)
        >>> learner.tell(learner.ask(), 0.5)
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
        default_eta, default_gamma = hazan_kale_bandit_tuning(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default_eta if eta is None else eta)
        self.gamma = checks.share(owner, "gamma", default_gamma if gamma is None else gamma)
        query = OnePoint.of(-M, M, size, self.gamma)
        policy = Descent(np.full(size, 0.5), self.eta, unit=query.step, gamma=self.gamma, coin=True)
        super().__init__(items, Learner(size, policy, query, Exact(local=True)), seed=seed)
