"""Choices that do not learn: a fixed set, the best one in hindsight, a random one."""

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

KNOWS_ALL = Guarantee(epsilon=float("inf")).void("it is chosen in hindsight from the exact data")


def _unteachable(n: int, policy: CompiledPolicy) -> Learner:
    """A learner that drops what it is told, costs and functions alike; their range does not matter."""
    return Learner(n, policy, CostOfSet(-1.0, 1.0), Discard())


class FixedSet(BanditFeedback):
    """The same set in every round.

    Args:
        subset: The set, as item numbers.
        maximize: Whether its regret is that of rewards, as of the learners it is compared with.

    Examples:
        >>> sorted(FixedSet(4, [1, 3]).ask().subset)
        [1, 3]
    """

    @keeps_arguments
    def __init__(
        self, n: int | Iterable[Hashable], subset: Iterable[int] = (), *, maximize: bool = False
    ) -> None:
        items = named_items("FixedSet", n)
        mask = checks.subset_mask("FixedSet", "subset", subset, len(items))
        super().__init__(items, _unteachable(len(items), Fixed(mask)), maximize=maximize)


class BestFixedSet(FixedSet):
    """The best fixed set in hindsight: what regret is measured against. It has seen all the data.

    Args:
        total: The sum of all rounds' cost functions.

    Attributes:
        minimum: The exact minimum with its certificate.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> sorted(BestFixedSet(Modular([3.0, -1.0, -2.0])).ask().subset)
        [1, 2]
    """

    def __init__(self, total: SetFunction) -> None:
        self.minimum: Minimum = minimize(total)
        super().__init__(total.n, self.minimum.set)
        del self._arguments

    @property
    def guarantee(self) -> Guarantee:
        """None: it was chosen from the data."""
        return KNOWS_ALL


class RandomSet(BanditFeedback):
    """Each item in or out with probability one half, in every round.

    Args:
        maximize: Whether its regret is that of rewards, as of the learners it is compared with.

    Examples:
        >>> RandomSet(["tea", "milk"]).ask().subset <= {"tea", "milk"}
        True
    """

    @keeps_arguments
    def __init__(
        self, n: int | Iterable[Hashable], *, maximize: bool = False, seed: Seed | None = None
    ) -> None:
        items = named_items("RandomSet", n)
        super().__init__(items, _unteachable(len(items), Uniform(len(items))), maximize=maximize, seed=seed)
