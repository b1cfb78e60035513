"""FullInformationLearner: whole cost functions are seen, and what they teach is released in blocks."""

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from discreet import bounds, checks
from discreet.constraints import MOST_ITEMS_LISTED, Constraints
from discreet.errors import InvalidArgument
from discreet.kernel.choice import Choice, ExactChoice
from discreet.kernel.queries import ChainGradient, CostsOfSets, MagnifiedGradient
from discreet.kernel.releases import Release, laplace_or_exact
from discreet.learners.arguments import cost_interval, keeps_arguments, named_items
from discreet.learners.feedback import FunctionFeedback
from discreet.learners.learner import Learner
from discreet.learners.session import Item
from discreet.policies import Averaging, Choose, WatchedLeader
from discreet.policies.averaging import ALPHA
from discreet.policies.choose import regret_before_alarm
from discreet.privacy.budget import Budget
from discreet.randomness import BitSource, Seed

Method = Literal["choose", "leader", "blocks"]

#: Blocks grow up to this many times their shortest length.
LONGEST_OVER_SHORTEST = 16
#: Up to so many items all sets are compared: by default, and if asked for.
MOST_BY_DEFAULT, MOST_ITEMS = 16, 20  # or as many allowed sets as so many items have
#: Rounds times epsilon: of the first phase of "choose" per item, and of its shortest slot.
FIRST_PHASE, SHORTEST_SLOT = 6.0, 100.0
#: By how much a set may cost more than the best of a slot: W sqrt(n B) times this, for B rounds and the width
#: W of the range.
SPREAD = 0.25
#: The leader's first slot is this many times as long as the shortest block.
FIRST_OVER_SHORTEST = 5
#: Where a leader has lost, gradients depend on the point: blocks then start with steps so many times smaller.
SMALLER_STEPS = 6


class FullInformationLearner(FunctionFeedback[Item]):
    """Choose subsets, be told the whole cost function afterwards, keep every function private.

    Args:
        method: "choose": hold the set that was best before, by a noisy minimum over all sets, watch whether
            it still is, and change over to blocks once it is not; every `tell` evaluates all sets; the
            default up to 16 items, possible up to 20. "leader": the items that have lowered costs so far,
            released in few long slots; it is watched, and goes over to blocks for good when it seems to
            lose; the default for more items. "blocks": blocks of rounds, with a step and lengths that adapt
            to what was released.
        horizon: The number of rounds: it limits the length of blocks.

    The other arguments are those of a central `BanditLearner`. Only "choose" takes the constraints `at_most`,
    `at_least`, `required`, `forbidden` and `groups`: it then compares the allowed sets, which may be those of
    many more items if they are few, and when the world has changed it chooses again. A missing function
    counts as a constant one.

    Formal guarantees:
        Neighbours: streams that differ in one cost function (with `rounds_per_person` = k, in k).
        Sensitivity: the gradient of a round is clipped to |g|_1 <= 4M in exact integers, so replacing the
        function moves it by at most twice that (M is half the width of the range). *Blocks*: a gradient
        enters one block sum, released with discrete Laplace noise of scale 8 M k / epsilon per coordinate:
        `docs/guarantees.md#slots`. *Choose*: the costs of all sets are clipped to the range; any functions
        are covered: `docs/guarantees.md#choices`. *Leader*: as blocks, where gradients may be doubled,
        clipped to the same bound, and what was cut off is one more number within it. Regret:
        `bounds.batched`, `bounds.watched_leader`.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> learner = FullInformationLearner(["tea", "milk"], epsilon=1.0, cost_range=(-1, 1))
        >>> learner.tell(learner.ask(), Modular([0.5, -0.5]))
        >>> learner.tell(learner.ask(), lambda subset: 0.5 if "tea" in subset else 0.0)
    """

    most_items = MOST_ITEMS_LISTED

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Item],
        epsilon: float | Fraction,
        cost_range: tuple[float, float],
        *,
        method: Method | None = None,
        horizon: int | None = None,
        maximize: bool = False,
        rounds_per_person: int = 1,
        at_most: int | None = None,
        at_least: int | None = None,
        required: Iterable[Hashable] | None = None,
        forbidden: Iterable[Hashable] | None = None,
        groups: Iterable[Iterable[Hashable]] | None = None,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "FullInformationLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        self._constraints = Constraints.of(
            owner,
            names,
            at_most=at_most,
            at_least=at_least,
            required=required,
            forbidden=forbidden,
            groups=groups,
        )
        if method is None:
            method = "choose" if self._constraints is not None else default_method(len(names))
        checks.one_of(owner, "method", method, ("choose", "leader", "blocks"))
        if method != "choose" and self._constraints is not None:
            raise InvalidArgument(
                f"The method {method!r} takes no constraints: it draws prefixes of chains of sets, from the "
                "empty one to all items, some of which would not be allowed. Use method='choose'."
            )
        if method == "choose" and not _can_be_compared(len(names), self._constraints):
            most = f"at most {MOST_ITEMS} items, or 2^{MOST_ITEMS} sets of at most {MOST_ITEMS_LISTED} items"
            why = f"it adds up the costs of all sets, so it takes {most}"
            raise InvalidArgument(f"The method 'choose' does not fit {len(names)} items: {why}.")
        if horizon is not None:
            horizon = checks.integer(owner, "horizon", horizon, 1)
        self._query = ChainGradient.of(low, high)
        self._half = 0.5 * high - 0.5 * low
        budget = Budget.of(owner, epsilon, rounds_per_person, may_be_unlimited=True)
        self._first_spent = SMALLER_STEPS * ALPHA if method == "leader" else ALPHA
        if method == "choose":
            learner = self._choose(len(names), budget, horizon)
        else:
            learner = self._blocks(len(names), budget, horizon)
            if method == "leader":
                learner = self._leader(learner, budget)
        self.method: Method = method
        super().__init__(
            names, learner, source=source, seed=seed, maximize=maximize, expire_after=expire_after
        )

    def _blocks(self, n: int, budget: Budget, horizon: int | None) -> Learner:
        release = laplace_or_exact(self._query.bound, budget)
        return Learner(n, self._averaging(n, release, horizon), self._query, release)

    def _averaging(self, n: int, release: Release, horizon: int | None) -> Averaging:
        query = self._query
        variance = release.noise_variance * query.step**2
        shortest, longest = block_lengths(n, variance, squared_gradient(query), horizon)
        return Averaging(
            np.full(n, 0.5),
            unit=query.step,
            shortest=shortest,
            longest=longest,
            noise_energy=n * variance,
            first_spent=self._spent(n, variance),
        )

    def _spent(self, n: int, variance: float) -> float:
        """What the step of blocks starts from."""
        if variance == 0:
            return self._first_spent * math.sqrt(squared_gradient(self._query))
        return self._first_spent * n * math.sqrt(variance)

    def _choose(self, n: int, budget: Budget, horizon: int | None) -> Learner:
        loss = math.inf if budget.unlimited else float(budget.per_round)
        constraints = self._constraints
        query = CostsOfSets(n, self._query, 0 if constraints is None else constraints.count)
        release: Choice | ExactChoice = ExactChoice(query=query, rounds_per_person=budget.rounds_per_person)
        if not budget.unlimited:
            release = Choice(query, budget)
        policy = Choose(
            self._averaging(n, release, horizon),
            first=max(1, math.ceil(FIRST_PHASE * n / loss)),
            shortest=max(1, math.ceil(SHORTEST_SLOT / loss)),
            noise=float(release.difference.scale) if isinstance(release, Choice) else 0.0,
            spread=SPREAD * 2 * query.units * math.sqrt(n),
            listed=None if constraints is None else constraints.listed(),
        )
        return Learner(n, policy, query, release, constraints)

    def _leader(self, blocks: Learner, budget: Budget) -> Learner:
        query, averaging = MagnifiedGradient.of(self._query), blocks.policy
        assert isinstance(averaging, Averaging)
        policy = WatchedLeader(
            averaging,
            unit=query.step,
            noise=math.sqrt(blocks.release.noise_variance) * query.step,
            half=self._half,
            first=FIRST_OVER_SHORTEST * averaging.constants.shortest,
        )
        return Learner(blocks.n, policy, query, laplace_or_exact(query.bound, budget))

    def regret_bound(self, rounds: int) -> float:
        """The expected regret over so many rounds is at most this; proved in `docs/guarantees.md#regret`.

        It is for submodular costs in the range, fixed beforehand, each told before the next set is drawn. To
        choose, where they are drawn alike, has far less regret than this bound says.
        """
        n, half = len(self.items), self._half
        policy: Any = self.learner.policy
        before, constants = 0.0, policy if self.method == "leader" else policy.constants
        if self.method == "leader":
            before, constants = policy.regret_bound(rounds), policy.averaging.constants
        elif self.method == "choose":
            if self._constraints is not None:
                raise InvalidArgument("With constraints there is no regret bound.")
            before = regret_before_alarm(constants, 2 * self._query.units, rounds) * self._query.step
            constants = constants.averaging
        return before + bounds.batched(
            n,
            rounds,
            half,
            self.noise_variance,
            constants.shortest,
            constants.longest,
            alpha=ALPHA,
            squared_gradient=squared_gradient(self._query),
            first_spent=self._spent(n, self.noise_variance),
        )


def _can_be_compared(n: int, constraints: Constraints | None) -> bool:
    """Whether few enough sets are allowed for `choose`."""
    sets = 1 << n if constraints is None or n > MOST_ITEMS_LISTED else constraints.count
    return sets <= 1 << MOST_ITEMS


def default_method(n: int) -> Method:
    """What a learner of so many items does if nothing else is asked for."""
    return "choose" if n <= MOST_BY_DEFAULT else "leader"


def block_lengths(
    n: int, noise_variance: float, squared_gradient: float, horizon: int | None = None
) -> tuple[int, int]:
    """The shortest block, where noise and the largest gradients have the same energy, and the longest."""
    if noise_variance == 0:
        return 1, 1  # there is no noise that longer blocks would lower
    most = math.inf if horizon is None else max(1, horizon // 16)
    shortest = min(max(1, round(math.sqrt(n * noise_variance / squared_gradient))), most)
    return int(shortest), int(min(LONGEST_OVER_SHORTEST * shortest, most))


def squared_gradient(query: ChainGradient) -> float:
    """The largest squared norm of a gradient, in values."""
    return query.bound.squared_l2 * query.step**2
