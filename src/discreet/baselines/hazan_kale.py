"""Hazan and Kale, "Online submodular minimization" (2012): projected subgradient descent, not private."""

from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.baselines.no_promise import NOT_PRIVATE
from discreet.bounds import hazan_kale_bandit_tuning, hazan_kale_step
from discreet.learners.arguments import keeps_arguments, named_items
from discreet.learners.core import new_core
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.limits import one_point_limits, subgradient_limits
from discreet.learners.update_rules import ProjectedDescent
from discreet.prefix_sums.plain import no_noise
from discreet.randomness import Seed, as_source


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
        items = named_items(owner, n)
        size, T = len(items), checks.integer(owner, "T", T, 1)
        M = checks.positive_number(owner, "M", M)
        default = hazan_kale_step(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        core = new_core(
            mechanism=no_noise(size),
            rule=ProjectedDescent(self.eta, np.zeros(size)),
            limits=subgradient_limits(-M, M)[0],
            start=np.full(size, 0.5),
        )
        super().__init__(items, core, as_source(None, seed, owner=owner), NOT_PRIVATE)


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
        items = named_items(owner, n)
        size, T = len(items), checks.integer(owner, "T", T, 1)
        M = checks.positive_number(owner, "M", M)
        default_eta, default_gamma = hazan_kale_bandit_tuning(size, T, M)
        self.eta = checks.positive_number(owner, "eta", default_eta if eta is None else eta)
        self.gamma = checks.share(owner, "gamma", default_gamma if gamma is None else gamma)
        core = new_core(
            mechanism=no_noise(size),
            rule=ProjectedDescent(self.eta, np.zeros(size)),
            limits=one_point_limits(-M, M, size, self.gamma, coin=True)[0],
            start=np.full(size, 0.5),
            gamma=self.gamma,
            coin=True,
        )
        super().__init__(items, core, as_source(None, seed, owner=owner), NOT_PRIVATE)
