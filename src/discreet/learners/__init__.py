"""Learners: compositions of a sampler, an estimator, a private release and an update rule.

The two that one would take are :class:`BanditLearner` and :class:`FullInformationLearner`; those of the
paper are in `discreet.paper`, others to compare with in `discreet.baselines`. All of them
are a :class:`Learner`.

Examples:
    >>> learner = BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
"""

from discreet.learners.bandit import BanditLearner
from discreet.learners.base import Learner
from discreet.learners.decision import Decision
from discreet.learners.full_information import FullInformationLearner

__all__ = ["BanditLearner", "Decision", "FullInformationLearner", "Learner"]
