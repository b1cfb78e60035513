"""Leaders of exact totals, which are not private: the best set so far, and one that is built greedily."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from discreet.constraints import Constraints
from discreet.kernel.releases import Exact
from discreet.learners.arguments import named_items
from discreet.learners.feedback import Told, as_set_function
from discreet.minimizers import minimize
from discreet.minimizers.greedy import greedy_set
from discreet.set_functions import Modular, SetFunction, Sum

MOST_TABULATED = 16  # all 2^n costs are added up


class _LeaderOfTotals(ABC):
    """Finds a leader again whenever the number of rounds has grown by a tenth."""

    feedback = "function"
    guarantee = Exact().guarantee

    def __init__(self, items: int | Iterable[Hashable]) -> None:
        self.items = named_items(type(self).__name__, items)
        n = len(self.items)
        self._total: SetFunction = Modular(np.zeros(n))
        self._new = list[SetFunction]()
        self._rounds = 0
        self.point = np.zeros(n)

    @abstractmethod
    def _leader(self, total: SetFunction) -> Iterable[int]:
        """The set of item numbers to play after such a total."""

    def _play(self, chosen: Iterable[int]) -> None:
        self.point = np.isin(np.arange(len(self.items)), sorted(chosen)).astype(np.float64)

    def ask(self) -> frozenset[Hashable]:
        """The leader."""
        return frozenset(self.items[i] for i in np.flatnonzero(self.point))

    def tell(self, decision: object, function: Told) -> None:
        """Add the function of a round, which is that of any decision."""
        self._add(as_set_function(type(self).__name__, function, self.items))

    def _add(self, function: SetFunction) -> None:
        self._rounds += 1
        self._new.append(function)
        if 11 * len(self._new) >= self._rounds:
            self._total, self._new = Sum([self._total, *self._new]), []
            self._play(self._leader(self._total))


class FollowTheLeader(_LeaderOfTotals):
    """The set of least total cost so far, exactly: what full information is worth without privacy.

    Up to 16 items the costs of all sets are added up, of any functions. With more, functions are taken to be
    submodular, and the leader is found again whenever the number of rounds has grown by a tenth. Before
    anything was told it is the empty set. It has `ask` and `tell`, and cannot be saved.
    """

    def __init__(self, items: int | Iterable[Hashable]) -> None:
        super().__init__(items)
        n = len(self.items)
        self._totals = np.zeros(1 << n) if n <= MOST_TABULATED else None

    def _leader(self, total: SetFunction) -> Iterable[int]:
        return minimize(total).set

    def _add(self, function: SetFunction) -> None:
        if self._totals is None:
            super()._add(function)
            return
        self._totals += function.table().values
        self._play(np.flatnonzero(int(self._totals.argmin()) >> np.arange(len(self.items)) & 1))


class GreedyLeader(_LeaderOfTotals):
    """The set that grows by the item that lowers the exact total so far most, within constraints.

    What one would do about substitutes without privacy: of monotone rewards with diminishing returns it earns
    at least 1 - 1/e of what the best set of `at_most` so many items does. It is built again whenever the
    number of rounds has grown by a tenth. The constraints are those of `BanditLearner`. It has `ask` and
    `tell`, and cannot be saved.
    """

    def __init__(
        self, items: int | Iterable[Hashable], *, maximize: bool = False, **constraints: Any
    ) -> None:
        super().__init__(items)
        n, self.maximize = len(self.items), maximize
        self.constraints = Constraints.of("GreedyLeader", self.items, **constraints) or Constraints(n, n)
        self._play(self._leader(self._total))

    def _leader(self, total: SetFunction) -> Iterable[int]:
        return greedy_set(-total if self.maximize else total, self.constraints)
