"""Custom policies, with the privacy of this package."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

from discreet.imports import load_object
from discreet.kernel.queries import CostOfSet
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items, release_of_costs
from discreet.learners.decision import Item
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.privacy.budget import Budget
from discreet.privacy.grid import Grid
from discreet.randomness import BitSource, Seed


class PolicyLearner(BanditFeedback[Item]):
    """Run any policy on privately released costs of the sets that it plays.

    The policy may be plain Python: see `examples/gallery/own_policy.py`. It is given the released sum of each
    slot's costs, in steps of a grid around the middle of the range: `value` turns the mean of a slot, its sum
    divided by its rounds, into a cost.

    Args:
        items: The number of items, or their names in a fixed order.
        policy: An object with `start`, `plan` and `learn` (see `policies.Policy`); or a class, or another
            function of the number of items, that makes one; or either as "MODULE:NAME". Only with a class,
            which can be imported, or with such a name can the learner be saved.
        epsilon: What one person may lose, in all their rounds.
        cost_range: The range of costs (of rewards, where they are maximised), declared beforehand.
        mode: "central": the sum of the costs of each slot gets Laplace noise when its phase closes. "local":
            every cost becomes one random bit on arrival.
        maximize: Whether large values are good; the policy is given costs all the same.
        rounds_per_person: In how many rounds one person may appear; each gets epsilon divided by it.
        expire_after: As of `Session`.
        seed: Makes a run repeatable and not private.
        source: Random bits for the noise, instead of a seed.

    Formal guarantees:
        Those of `Laplace` or `Bits` for a query of one cost, whatever the policy does, as long as it reads
        people's data nowhere else (`docs/guarantees.md#slots`).

    Examples:
        >>> from discreet.policies import Uniform
        >>> learner = PolicyLearner(["tea", "milk"], Uniform, epsilon=1.0, cost_range=(0, 1))
        >>> learner.tell(learner.ask(), 0.3)
        >>> learner.guarantee.epsilon
        1.0
    """

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Item],
        policy: Any,
        epsilon: float | Fraction,
        cost_range: tuple[float, float],
        *,
        mode: Literal["central", "local"] = "central",
        maximize: bool = False,
        rounds_per_person: int = 1,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "PolicyLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        budget = Budget.of(owner, epsilon, rounds_per_person)
        query = CostOfSet(low, high)
        release = release_of_costs(owner, mode, query, budget)
        given = load_object(policy) if isinstance(policy, str) else policy
        ready = hasattr(given, "plan") and not isinstance(given, type)
        made = given if ready or not callable(given) else given(len(names))
        self._grid = Grid(low, high, query.units)
        super().__init__(
            names,
            Learner(len(names), made, query, release),
            source=source,
            seed=seed,
            maximize=maximize,
            expire_after=expire_after,
        )

    def value(self, mean: float) -> float:
        """The cost (or reward) that a released mean stands for; with noise it may be outside the range."""
        return self._sign * self._grid.value(mean)
