"""This package's own updates on exact data: the difference to them is what privacy costs."""

from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.baselines.no_promise import NOT_PRIVATE
from discreet.bounds.dual_averaging import bandit_tuning
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items
from discreet.learners.bandit import EXPLORATION, STEP
from discreet.learners.bandit_core import new_bandit_core
from discreet.learners.batched_core import ALPHA, new_batched_core
from discreet.learners.feedback import BanditFeedback, FunctionFeedback
from discreet.learners.full_information import squared_gradient
from discreet.learners.limits import subgradient_limits
from discreet.learners.scalar_release import AsItIs
from discreet.prefix_sums.plain import no_noise
from discreet.privacy.grid import DEFAULT_UNITS
from discreet.randomness import Seed, as_source


class BanditWithoutNoise(BanditFeedback):
    """`BanditLearner` on the exact costs.

    Args:
        items: The number of items, or their names.
        cost_range: The range of costs.
        exploration: Multiplies the exploration of least regret bound.
        step: Multiplies the step of least regret bound.
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
        exploration: float = EXPLORATION,
        step: float = STEP,
        seed: Seed | None = None,
    ) -> None:
        owner = "BanditWithoutNoise"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize=False)
        a, b = bandit_tuning(len(names), 1.0)
        core = new_bandit_core(
            kind=AsItIs(),
            low=low,
            high=high,
            units=DEFAULT_UNITS,
            length=1,
            exploration=a * checks.positive_number(owner, "exploration", exploration),
            step=b * checks.positive_number(owner, "step", step),
            prior=1.0,
            start=np.full(len(names), 0.5),
        )
        super().__init__(names, core, as_source(None, seed, owner=owner), NOT_PRIVATE)


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
        limits, bound = subgradient_limits(low, high)
        core = new_batched_core(
            mechanism=no_noise(len(names)),
            limits=limits,
            shortest=1,
            longest=1,
            noise_energy=0.0,
            first_spent=ALPHA * squared_gradient(limits, bound) ** 0.5,
            start=np.full(len(names), 0.5),
        )
        super().__init__(names, core, as_source(None, seed, owner=owner), NOT_PRIVATE)
