"""Learners that are told the cost of the chosen set, with a policy of ours or of yours."""

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy.typing as npt

from discreet import checks
from discreet.bounds import bandit_dual_averaging, bandit_tuning, start_range
from discreet.errors import InvalidArgument
from discreet.imports import load_object
from discreet.kernel.queries import CostOfSet
from discreet.kernel.releases import Bits, Laplace
from discreet.learners.arguments import cost_interval, first_point, keeps_arguments, named_items
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.learners.session import Item
from discreet.policies import ChainBandit
from discreet.privacy.budget import Budget
from discreet.privacy.grid import Grid
from discreet.randomness import BitSource, Seed

Mode = Literal["local", "central"]

#: What the tuning of least bound is multiplied by: a larger bound, and about half the regret on the stream of
#: `benchmarks/bench_regret.py`. See `docs/guarantees.md#regret`.
EXPLORATION, STEP = 0.4, 3.0
#: Central blocks are this many times as long as `best_length` says: the baseline pays for longer ones.
LONGER_BLOCKS = 2
#: No block is longer, so that its sum fits 64 bits with room to spare.
LONGEST_BLOCK = 1 << 24


class BanditLearner(BanditFeedback[Item]):
    """Choose subsets, be told what the chosen one cost, keep every cost private.

    Args:
        items: Their number, or their names in a fixed order.
        epsilon: What one person may lose, in all their rounds.
        cost_range: The range of costs (or rewards), declared beforehand. Others are clipped.
        mode: "local": every cost becomes one random bit on arrival, and nothing else of it is kept.
            "central": a set is played for a block of rounds, and the mean of its costs is released with
            noise. Regret is less, but exact sums are kept while a block is open.
        block: Rounds in a block, in central mode; about 5.7 / epsilon by default.
        maximize: Whether large values are good. Regret bounds need supermodular rewards: complements.
        rounds_per_person: In how many rounds one person may appear; each gets epsilon divided by it.
        start: The first point: n levels in [0, 1], or a set of items.
        exploration_scale: Multiplies the exploration of least regret bound.
        step_scale: Multiplies the step of least regret bound.
        expire_after: For how many further decisions feedback is waited for; then a decision counts as the
            middle of the range. By default 100,000 in local mode. In central mode 0: a block closes at the
            `ask` after its last decision. Where many decisions are open at a time, give more than that many.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Neighbours: streams that differ in one cost function (with `rounds_per_person` = k, in k). *Local*:
        the clipped cost becomes one bit, with likelihood ratios of at most exp(epsilon / k) exactly; all else
        is computed from bits. *Central*: a cost enters one block sum, which it moves by at most the width of
        the range; the noise is discrete Laplace of scale width * k / epsilon; a block closes by the number of
        decisions alone. Proof: `docs/guarantees.md#slots`. Regret: `bounds.bandit_dual_averaging`.

    Examples:
        >>> learner = BanditLearner(["tea", "milk", "sugar"], epsilon=1.0, cost_range=(0, 1), maximize=True)
        >>> learner.tell(learner.ask(), 0.7)
        >>> bit = learner.randomizer().release(0.7)  # on a client, so that nobody else sees the number
        >>> learner.tell(learner.ask(), released=bit)
        >>> learner.guarantee.local, learner.rounds
        (True, 2)
    """

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Item],
        epsilon: float | Fraction,
        cost_range: tuple[float, float],
        *,
        mode: Mode = "local",
        block: int | None = None,
        maximize: bool = False,
        rounds_per_person: int = 1,
        start: npt.ArrayLike | Iterable[Hashable] | None = None,
        exploration_scale: float = EXPLORATION,
        step_scale: float = STEP,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "BanditLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        query, release = _query_and_release(owner, low, high, mode, epsilon, rounds_per_person)
        if block is None:
            length = 1 if mode == "local" else LONGER_BLOCKS * best_length(release.budget.per_round)
            block = min(length, LONGEST_BLOCK)
        elif mode == "local":
            raise InvalidArgument("A 'block' needs mode='central': local learners release every cost.")
        self.block = checks.integer(owner, "block", block, 1, LONGEST_BLOCK)
        noise = release.noise_variance / (self.block * query.units) ** 2
        self._second_moment = noise if mode == "local" else 1 + noise
        exploration, step = bandit_tuning(len(names), self._second_moment)
        self._policy = ChainBandit(
            first_point(owner, "start", start, names),
            units=query.units,
            rounds=self.block,
            exploration=exploration * checks.positive_number(owner, "exploration_scale", exploration_scale),
            step=step * checks.positive_number(owner, "step_scale", step_scale),
            prior=self._second_moment,
        )
        learner = Learner(len(names), self._policy, query, release)
        super().__init__(
            names, learner, source=source, seed=seed, maximize=maximize, expire_after=expire_after
        )
        self.mode: Mode = mode
        self._half = 0.5 * high - 0.5 * low
        self._middle = low + self._half

    @property
    def noise_variance(self) -> float:
        """Of one released mean, in squared costs."""
        return super().noise_variance / self.block**2

    @property
    def mean_cost(self) -> float | None:
        """The mean of all costs (or rewards) so far, as released; None before any was."""
        return self.mean_of(self._learned_state())

    def mean_of(self, state: Any) -> float | None:
        """The same, in a state of the policy."""
        mean = self._policy.mean(state)
        return None if mean is None else float(self._sign * (self._middle + mean * self._half))

    def regret_bound(self, rounds: int) -> float:
        """The expected regret over so many rounds is at most this; proved in `docs/guarantees.md#regret`.

        It is for submodular costs in the range, fixed beforehand, each told before the next set is drawn.
        """
        n, constants = len(self.items), self._policy.constants
        moment, reach = self._second_moment + 3, start_range(constants.start)  # 3: from a wrong baseline
        gamma, step = constants.exploration, constants.step
        return bandit_dual_averaging(
            n, rounds, self._half, moment, gamma, step, block=self.block, start_range=reach
        )


class PolicyLearner(BanditFeedback[Item]):
    """Run any policy on privately released costs of the sets that it plays.

    The policy may be plain Python: see `examples/gallery/own_policy.py`. It is an object with `start`, `plan`
    and `learn` (see `policies.Policy`); or a class, or another function of the number of items, that makes
    one; or either as "MODULE:NAME". Only with a class that can be imported, or with such a name, can the
    learner be saved. The other arguments are those of `BanditLearner`. It is given the released sum of each
    slot's costs (also if rewards are maximised), in steps of a grid around the middle of the range: `value`
    turns a mean into a cost.

    Formal guarantees:
        Those of `Laplace` or `Bits` for a query of one cost, whatever the policy does, as long as it reads
        people's data nowhere else (`docs/guarantees.md#slots`).

    Examples:
        >>> from discreet.policies import Uniform
        >>> learner = PolicyLearner(["tea", "milk"], Uniform, epsilon=1.0, cost_range=(0, 1))
        >>> learner.tell(learner.ask(), 0.3)
    """

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Item],
        policy: Any,
        epsilon: float | Fraction,
        cost_range: tuple[float, float],
        *,
        mode: Mode = "central",
        maximize: bool = False,
        rounds_per_person: int = 1,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "PolicyLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        query, release = _query_and_release(owner, low, high, mode, epsilon, rounds_per_person)
        given = load_object(policy) if isinstance(policy, str) else policy
        ready = hasattr(given, "plan") and not isinstance(given, type)
        made = given if ready or not callable(given) else given(len(names))
        self._grid = Grid(low, high, query.units)
        learner = Learner(len(names), made, query, release)
        super().__init__(
            names, learner, source=source, seed=seed, maximize=maximize, expire_after=expire_after
        )

    def value(self, mean: float) -> float:
        """The cost (or reward) that a released mean, in grid steps, stands for."""
        return self._sign * self._grid.value(mean)


def _query_and_release(
    owner: str, low: float, high: float, mode: Mode, epsilon: float | Fraction, rounds_per_person: int
) -> tuple[CostOfSet, Bits | Laplace]:
    checks.one_of(owner, "mode", mode, ("local", "central"))
    budget, query = Budget.of(owner, epsilon, rounds_per_person), CostOfSet(low, high)
    return query, Bits(budget, (low, high)) if mode == "local" else Laplace(query.bound, budget)


def best_length(epsilon: Fraction) -> int:
    """The block length that minimises length + 8 / (length epsilon^2): costs, and noise, per estimate."""
    ideal = math.sqrt(8) / float(epsilon)
    near = [min(max(1, length), LONGEST_BLOCK) for length in (math.floor(ideal), math.ceil(ideal))]
    return min(near, key=lambda length: length + 8 / (length * float(epsilon) ** 2))
