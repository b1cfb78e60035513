"""What a learner is measured against.

Some are not private, and show what privacy costs; so do our learners with an `epsilon` of `math.inf`. Some do
not learn. Some are private, and what one might pick otherwise: exponential weights over all sets, items
judged independently of each other, gradients that are noised one by one, and a noisy leader.

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

from discreet.baselines.fixed import BestFixedSet, FixedSet, RandomSet
from discreet.baselines.gradients import (
    FollowTheApproximateLeader,
    HazanKale,
    HazanKaleBandit,
    NoisedGradients,
    NoisyLeader,
)
from discreet.baselines.leaders import FollowTheLeader, GreedyLeader
from discreet.baselines.sampling import ExponentialWeights, ProductSampling

__all__ = [
    "BestFixedSet",
    "ExponentialWeights",
    "FixedSet",
    "FollowTheApproximateLeader",
    "FollowTheLeader",
    "GreedyLeader",
    "HazanKale",
    "HazanKaleBandit",
    "NoisedGradients",
    "NoisyLeader",
    "ProductSampling",
    "RandomSet",
]
