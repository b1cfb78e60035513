"""What a learner is measured against.

Without privacy: Hazan and Kale's algorithms, follow the approximate leader. Without learning: a fixed
set, the best fixed set in hindsight, a uniformly random set. With privacy, what one might pick
otherwise: exponential weights over all sets, and gradients that are noised one by one.

Examples:
    >>> learner = HazanKaleBandit(["tea", "milk"], T=1000, M=1.0)
    >>> learner.tell(learner.ask(), 0.3)
"""

from discreet.baselines.exponential_weights import ExponentialWeights
from discreet.baselines.fixed import BestFixedSet, FixedSet, RandomSet
from discreet.baselines.hazan_kale import HazanKale, HazanKaleBandit
from discreet.baselines.leader import FollowTheApproximateLeader
from discreet.baselines.noised_gradients import NoisedGradients
from discreet.baselines.without_noise import BanditWithoutNoise, FullInformationWithoutNoise

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
