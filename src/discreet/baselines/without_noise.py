"""This package's own updates on exact data: the difference to them is what privacy costs."""

from collections.abc import Hashable, Iterable

import numpy as np

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
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed, as_source

NOT_PRIVATE = Guarantee(epsilon=float("inf")).void("it adds no noise")


class BanditWithoutNoise(BanditFeedback):
    """`BanditLearner` on the exact costs.

    Args:
        items: The number of items, or their names.
        cost_range: The range of costs.
        exploration: Multiplies the exploration of least regret bound.
        step: Multiplies the step of least regret bound.
        seed: Makes a run repeatable.
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
        names = named_items("BanditWithoutNoise", items)
        low, high = cost_interval("BanditWithoutNoise", cost_range, maximize=False)
        a, b = bandit_tuning(len(names), 1.0)
        core = new_bandit_core(
            kind=AsItIs(),
            low=low,
            high=high,
            units=DEFAULT_UNITS,
            length=1,
            exploration=a * exploration,
            step=b * step,
            prior=1.0,
            start=np.full(len(names), 0.5),
        )
        super().__init__(names, core, as_source(None, seed), NOT_PRIVATE)


class FullInformationWithoutNoise(FunctionFeedback):
    """`FullInformationLearner` on the exact gradients, each round a block.

    Args:
        items: The number of items, or their names.
        cost_range: The range of costs.
        seed: Makes a run repeatable.
    """

    @keeps_arguments
    def __init__(
        self, items: int | Iterable[Hashable], cost_range: tuple[float, float], *, seed: Seed | None = None
    ) -> None:
        names = named_items("FullInformationWithoutNoise", items)
        low, high = cost_interval("FullInformationWithoutNoise", cost_range, maximize=False)
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
        super().__init__(names, core, as_source(None, seed), NOT_PRIVATE)
