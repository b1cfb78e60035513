"""This package's own updates on exact data: the difference to them is what privacy costs."""

from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.bounds.dual_averaging import bandit_tuning
from discreet.kernel.queries import ChainGradient, CostOfSet
from discreet.kernel.releases import Exact
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items
from discreet.learners.bandit import EXPLORATION, STEP
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.full_information import squared_gradient
from discreet.learners.learner import Learner
from discreet.policies import Averaging, ChainBandit
from discreet.policies.averaging import ALPHA
from discreet.randomness import Seed


class BanditWithoutNoise(BanditFeedback):
    """`BanditLearner` on the exact costs.

    Args:
        items: The number of items, or their names.
        cost_range: The range of costs.
        exploration_scale: Multiplies the exploration of least regret bound.
        step_scale: Multiplies the step of least regret bound.
        seed: Makes a run repeatable.

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
        low, high = cost_interval(owner, cost_range, maximize=False)
        exploration, step = bandit_tuning(len(names), 1.0)
        query = CostOfSet(low, high)
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

    Args:
        items: The number of items, or their names.
        cost_range: The range of costs.
        seed: Makes a run repeatable.

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
        low, high = cost_interval(owner, cost_range, maximize=False)
        query = ChainGradient.of(owner, low, high)
        policy = Averaging(
            np.full(len(names), 0.5),
            unit=query.step,
            shortest=1,
            longest=1,
            noise_energy=0.0,
            first_spent=ALPHA * squared_gradient(query) ** 0.5,
        )
        super().__init__(names, Learner(len(names), policy, query, Exact(local=True)), seed=seed)
