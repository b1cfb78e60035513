"""Learners: compositions of a sampler, an estimator, a private release and an update rule.

The two that one would take are :class:`BanditLearner` and :class:`FullInformationLearner`; those of the
paper are in `discreet.paper`, others to compare with in `discreet.baselines`.
"""

from discreet.learners.bandit import BanditLearner
from discreet.learners.decision import Decision
from discreet.learners.full_information import FullInformationLearner

__all__ = ["BanditLearner", "Decision", "FullInformationLearner"]
