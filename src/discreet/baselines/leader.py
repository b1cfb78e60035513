"""Follow the approximate leader without noise: what the paper's algorithm would do with no privacy."""

import math
from collections.abc import Hashable, Iterable

import numpy as np

from discreet import checks
from discreet.kernel.queries import ChainGradient
from discreet.kernel.releases import Exact
from discreet.learners.arguments import keeps_arguments, named_items_and_sizes
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.learner import Learner
from discreet.policies import Leader
from discreet.randomness import Seed


class FollowTheApproximateLeader(FunctionFeedback):
    """x = clip(-(sum of gradients) / (H t), 0, 1).

    Args:
        n: The number of items, or their names.
        T: The number of rounds, for the default H.
        M: Costs lie in [-M, M]; others are clipped.
        H: Strong convexity; by default 4 M sqrt((1 + ln T) / (n T)), which balances
            8 M^2 (1 + ln T) / H and T H n / 2.
        seed: Makes a run repeatable.

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
