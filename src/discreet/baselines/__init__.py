"""What a learner is measured against.

Without privacy: Hazan and Kale's algorithms, follow the approximate leader, and our own learners on exact
data. Without learning: a fixed set, the best fixed set in hindsight, a uniformly random set. With privacy,
what one might pick otherwise: exponential weights over all sets, and gradients that are noised one by one.

Arguments that many share: `n` or `items` is the number of items or their names; `T` is the number of rounds,
from which defaults are made; costs lie in [-`M`, `M`] and others are clipped; `seed` makes a run repeatable,
and one with noise not private; `source` has random bits instead.

Examples:
    >>> learner = HazanKaleBandit(["tea", "milk"], T=1000, M=1.0)
    >>> learner.tell(learner.ask(), 0.3)
"""

from discreet.baselines.fixed import BestFixedSet, FixedSet, RandomSet
from discreet.baselines.with_noise import ExponentialWeights, NoisedGradients
from discreet.baselines.without_noise import (
    BanditWithoutNoise,
    FollowTheApproximateLeader,
    FullInformationWithoutNoise,
    HazanKale,
    HazanKaleBandit,
)

__all__ = [
    "BanditWithoutNoise",
    "BestFixedSet",
    "ExponentialWeights",
    "FixedSet",
    "FollowTheApproximateLeader",
    "FullInformationWithoutNoise",
    "HazanKale",
    "HazanKaleBandit",
    "NoisedGradients",
    "RandomSet",
]
