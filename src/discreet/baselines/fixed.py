"""Choices that do not learn."""

import math
from collections.abc import Hashable, Iterable

from discreet import checks
from discreet.kernel.queries import CostOfSet
from discreet.kernel.releases import Discard
from discreet.learners.arguments import keeps_arguments, named_items
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.minimizers import Minimum, minimize
from discreet.policies import Fixed, Uniform
from discreet.policies.base import CompiledPolicy
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed
from discreet.set_functions import SetFunction

Items = int | Iterable[Hashable]


def _unteachable(n: int, policy: CompiledPolicy) -> Learner:
    """A learner that drops what it is told, costs and functions alike; their range does not matter."""
    return Learner(n, policy, CostOfSet(-1.0, 1.0), Discard())


class FixedSet(BanditFeedback):
    """The same set in every round, given as item numbers."""

    @keeps_arguments
    def __init__(self, n: Items, subset: Iterable[int] = (), *, maximize: bool = False) -> None:
        items = named_items("FixedSet", n)
        mask = checks.subset_mask("FixedSet", "subset", subset, len(items))
        super().__init__(items, _unteachable(len(items), Fixed(mask)), maximize=maximize)


class BestFixedSet(FixedSet):
    """The best fixed set for the sum of all rounds' cost functions: what regret is measured against."""

    def __init__(self, total: SetFunction) -> None:
        self.minimum: Minimum = minimize(total)
        super().__init__(total.n, self.minimum.set)
        del self._arguments

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(epsilon=math.inf).void("it is chosen in hindsight from the exact data")


class RandomSet(BanditFeedback):
    """Each item in or out with probability one half, in every round."""

    @keeps_arguments
    def __init__(self, n: Items, *, maximize: bool = False, seed: Seed | None = None) -> None:
        items = named_items("RandomSet", n)
        super().__init__(items, _unteachable(len(items), Uniform(len(items))), maximize=maximize, seed=seed)
