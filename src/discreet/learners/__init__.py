"""Learners to ask and tell. Those of the paper are in `discreet.paper`, others in `discreet.baselines`.

Examples:
    >>> learner = BanditLearner(["tea", "milk"], epsilon=1.0, cost_range=(0, 1))
    >>> learner.tell(learner.ask(), 0.3)
"""

from discreet.learners.bandit import BanditLearner, PolicyLearner
from discreet.learners.full_information import FullInformationLearner
from discreet.learners.learner import Learner
from discreet.learners.session import Decision, Session

__all__ = ["BanditLearner", "Decision", "FullInformationLearner", "Learner", "PolicyLearner", "Session"]
