"""Learners that are told the cost of the chosen set, with a policy of ours or of yours."""

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from discreet import checks
from discreet.bounds import bandit_dual_averaging, bandit_tuning
from discreet.checks import FloatArray
from discreet.constraints import Constraints
from discreet.errors import InvalidArgument
from discreet.imports import load_object
from discreet.kernel.queries import CostAndItems, CostOfSet
from discreet.kernel.releases import Bits, Exact, Laplace, laplace_or_exact
from discreet.learners.arguments import (
    cost_interval,
    first_point,
    keeps_arguments,
    named_items,
    named_segments,
)
from discreet.learners.feedback import BanditFeedback
from discreet.learners.learner import Learner
from discreet.learners.session import Item
from discreet.policies import ChainBandit, Model
from discreet.policies.holdout import Held, Holdout
from discreet.policies.memory import KEEP, Seen
from discreet.policies.model_state import ItemFeedback, Noise
from discreet.privacy.budget import Budget
from discreet.privacy.grid import Grid
from discreet.randomness import BitSource, Seed

Mode = Literal["local", "central"]
Method = Literal["model", "worst-case"]
MODES = ("local", "central")
BanditQuery = CostOfSet | CostAndItems

#: The model draws tables of all pairs of items: with more items it would be slow.
MOST_MODELLED = 64
#: How many times larger or smaller than half the range an item total may be: the model adds up both.
FARTHEST_TOTAL = 10**6
#: For how many further decisions a local model waits for feedback.
EXPIRE_AFTER = 1000

#: What the tuning of least bound is multiplied by: a larger bound, and about half the regret on the stream of
#: `benchmarks/bench_worst_case.py`. See `docs/guarantees.md#regret`.
EXPLORATION, STEP = 0.4, 3.0
#: Central blocks are this many times as long as `best_length` says: the baseline pays for longer ones.
LONGER_BLOCKS = 2
#: No block is longer, so that its sum fits 64 bits with room to spare.
LONGEST_BLOCK = 1 << 24


class BanditLearner(BanditFeedback[Item]):
    """Choose subsets, be told what the chosen one cost, keep every cost private.

    Args:
        items: Their number, or their names in a fixed order.
        epsilon: What one person may lose, in all their rounds. If it is `math.inf`, everything is released
            exactly, which is not private: to see what privacy costs. No service takes such a learner.
        cost_range: The range of costs (or rewards), declared beforehand. Others are clipped.
        mode: "central": sets are played for some rounds each, and the sum of their costs is released with
            noise. Whoever runs the learner sees the costs anyway; exact sums are kept until they are
            released. "local": every cost becomes one random bit on arrival, or on the person's own device,
            and nothing else of it is kept. It needs several times as many rounds.
        method: "model": a model of the costs of all sets learns from what is released, for up to
            `MOST_MODELLED` items; by far the better one on all streams that we know, but without a theorem.
            If its released costs show that no model fits, "worst-case" takes over, which has a theorem for
            submodular costs. By default "model" where it is possible.
        maximize: Whether large values are good.
        rounds_per_person: In how many rounds one person may appear; each gets epsilon divided by it.
        delta: For local mode: a probability, far below one in the number of people, with which a person may
            lose more than epsilon. With some 25 rounds per person or more each gets a larger share then.
        prior: For the model: what public data say, as tuples of a set of items, its mean cost (or reward),
            and how many rounds that is worth (with `segments`, in all of them together).
        forget: For the model: after so many further rounds, a round counts half. By default a test notices
            when the world has changed, and then everything is forgotten.
        item_total: For the model in central mode: `tell` is also given what each shown item brought, as parts
            of the cost. It is the most, in absolute values, that all items of one person can bring together.
            The more items there are, the more this helps.
        at_most: The most items that a set may have; `at_least` the fewest, `required` and `forbidden` those
            that must or must not be in it, `groups` lists of items of which at most one may be. Every set
            that is shown keeps to these, exploration included. For the model, which then never goes over to
            the worst case: that draws prefixes of chains of sets, some of which would not be allowed.
        segments: For the model: names of 2 to 64 kinds of people or situations, strings or integers, one of
            which is given to each `ask`. Each has a best set of its own (`best_for`), and what is learned of
            one tells about the others as far as they are alike. Whoever looks on may learn who is in which:
            take only what is public or declared beforehand.
        holdout: A set of items and a share of the rounds, above 0 and below 1, in which that set is shown
            whatever was learned; `held` says what learning is worth. It costs no epsilon, and that share of
            what could be gained.
        expire_after: For how many further decisions feedback is waited for; then a decision counts as the
            middle of the range. In central mode by default 0: a phase closes at the `ask` after its last
            decision. Where many decisions are open at a time, give more than that many. In local mode by
            default 1,000 for the model, and 100,000 for the worst case, which learns from each bit alone.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Neighbours: streams that differ in one cost function (with `rounds_per_person` = k, in k). *Central*:
        a cost enters the sum of one slot, which it moves by at most the width of the range; the noise is
        discrete Laplace of scale width * k / epsilon; phases close by the number of decisions alone. What
        items brought enters the same slot, within one bound together with the cost. Who runs the learner is
        trusted with the costs. *Local*: the clipped cost becomes one bit, with likelihood ratios of at most
        exp(epsilon / k) exactly, or, with a `delta`, what makes k of them (epsilon, delta)-private
        (`docs/guarantees.md#with-a-delta`). Nobody is trusted if the device makes it. All else is computed
        from what was released. Segments are public, and each round is in one of them: they cost no epsilon.
        Proof: `docs/guarantees.md#slots`. Regret of the worst case: `bounds.bandit_dual_averaging`; there is
        no bound for the model.

    Examples:
        >>> learner = BanditLearner(["tea", "milk", "sugar"], epsilon=1.0, cost_range=(0, 1), maximize=True)
        >>> learner.tell(learner.ask(), 0.7)
        >>> learner = BanditLearner(["tea", "milk", "sugar"], epsilon=1.0, cost_range=(0, 1), mode="local")
        >>> bit = learner.randomizer().release(0.7)  # on a client, so that nobody else sees the number
        >>> learner.tell(learner.ask(), released=bit)
        >>> learner.guarantee.local, learner.method
        (True, 'model')
    """

    most_items = MOST_MODELLED

    @keeps_arguments
    def __init__(
        self,
        items: int | Iterable[Item],
        epsilon: float | Fraction,
        cost_range: tuple[float, float],
        *,
        mode: Mode = "central",
        method: Method | None = None,
        maximize: bool = False,
        rounds_per_person: int = 1,
        delta: float = 0.0,
        prior: Iterable[tuple[Iterable[Hashable], float, float]] | None = None,
        forget: float | None = None,
        item_total: float | None = None,
        at_most: int | None = None,
        at_least: int | None = None,
        required: Iterable[Hashable] | None = None,
        forbidden: Iterable[Hashable] | None = None,
        groups: Iterable[Iterable[Hashable]] | None = None,
        segments: Iterable[str | int] | None = None,
        holdout: tuple[Iterable[Hashable], float] | None = None,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "BanditLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        self._half = 0.5 * high - 0.5 * low
        self._middle = low + self._half
        if method is None:
            method = default_method(len(names))
        checks.one_of(owner, "method", method, ("model", "worst-case"))
        for_model = {"prior": prior, "forget": forget, "item_total": item_total, "segments": segments}
        for name, value in for_model.items():
            if value is not None and method != "model":
                raise InvalidArgument(f"The argument {name!r} of {owner} is for method='model'.")
        constraints = Constraints.of(
            owner,
            names,
            at_most=at_most,
            at_least=at_least,
            required=required,
            forbidden=forbidden,
            groups=groups,
        )
        if constraints is not None and method == "worst-case":
            if len(names) > MOST_MODELLED:
                raise InvalidArgument(
                    f"{owner} takes constraints with at most {MOST_MODELLED} items. Got {len(names)} items."
                )
            raise InvalidArgument(
                "The method 'worst-case' takes no constraints: it draws prefixes of chains of sets, from the "
                "empty one to all items, some of which would not be allowed. Use method='model'."
            )
        parts = named_segments(owner, segments)
        if parts and item_total is not None:
            raise InvalidArgument(
                "A learner with 'segments' has no 'item_total' yet: make one learner for each segment."
            )
        sign = -1.0 if maximize else 1.0
        budget = Budget.of(owner, epsilon, rounds_per_person, delta, may_be_unlimited=True)
        loss = math.inf if budget.unlimited else float(budget.per_round)
        checks.one_of(owner, "mode", mode, MODES)
        if item_total is not None and mode == "local":
            raise InvalidArgument(
                "An 'item_total' needs mode='central': a local learner releases one bit, of the cost alone."
            )
        query = _query(owner, low, high, item_total)
        release = cost_release(query, mode, budget)
        alone = mode == "local" or budget.unlimited
        length = 1 if alone else LONGER_BLOCKS * best_length(loss)
        #: For how many rounds the worst case plays a set.
        self.block = min(length, LONGEST_BLOCK)
        if item_total is not None and prior is not None:
            raise InvalidArgument(f"A {owner} with an 'item_total' has no 'prior'.")
        unit = query.bound.step / self._half  # in halves of the range
        noise = release.noise_variance * unit**2
        self._second_moment = max(1.0, noise) if mode == "local" else 1 + noise / self.block**2
        exploration, step = bandit_tuning(len(names), self._second_moment)
        self._worst_case = ChainBandit(
            np.full(len(names), 0.5),
            units=query.units,
            rounds=self.block,
            exploration=exploration * EXPLORATION,
            step=step * STEP,
            prior=self._second_moment,
        )
        self._noise_in_halves = noise
        self._policy: ChainBandit | Model | Holdout = self._worst_case
        if method == "model":
            checks.integer(owner, "number of items", len(names), 1, MOST_MODELLED)
            self._policy = Model(
                self._worst_case,
                Noise(noise, 0.0) if mode == "local" else Noise(0.0, noise),
                unit=unit,
                epsilon=loss,
                prior=None if prior is None else self._public_means(names, prior, sign, len(parts)),
                half_life=None if forget is None else checks.positive_number(owner, "forget", forget),
                constraints=constraints,
                items=self._items_told(query, noise),
                segments=len(parts),
            )
            if mode == "local" and expire_after is None:
                expire_after = EXPIRE_AFTER
        if holdout is not None:
            self._policy = self._holding_out(names, holdout, unit, constraints)
        learner = Learner(len(names), self._policy, query, release, constraints)
        super().__init__(
            names,
            learner,
            source=source,
            seed=seed,
            maximize=maximize,
            expire_after=expire_after,
            segments=parts,
        )
        self.mode: Mode = mode
        self.method: Method = method

    def _items_told(self, query: BanditQuery, noise: float) -> ItemFeedback | None:
        """What the model has to know of what is released of items."""
        if not isinstance(query, CostAndItems):
            return None
        unit, total = query.item_step / self._half, query.total / self._half
        return ItemFeedback(noise * (unit / (query.bound.step / self._half)) ** 2, unit, total)

    def _holding_out(
        self,
        names: tuple[Item, ...],
        holdout: tuple[Iterable[Hashable], float],
        unit: float,
        constraints: Constraints | None,
    ) -> Holdout:
        owner = "BanditLearner"
        try:
            members, share = holdout
            chosen = frozenset(members)
        except (TypeError, ValueError):
            wanted = "a set of items and a share of the rounds"
            raise checks.invalid_argument(owner, "holdout", wanted, holdout) from None
        share = checks.positive_number(owner, "holdout", share)
        if share >= 1:
            raise checks.invalid_argument(owner, "holdout", "a share below 1", share)
        point = first_point(owner, "holdout", chosen, names)
        if constraints is not None and not constraints.allows(point[None] > 0)[0]:
            raise InvalidArgument("The set of the 'holdout' does not keep to the constraints.")
        members = np.flatnonzero(point)
        assert isinstance(self._policy, ChainBandit | Model)
        return Holdout(self._policy, members, share, unit, len(names))

    def _public_means(
        self,
        names: tuple[Item, ...],
        prior: Iterable[tuple[Iterable[Hashable], float, float]],
        sign: float,
        segments: int,
    ) -> Seen:
        """What is known of sets beforehand, as the model sees it."""
        owner, signs, totals, weights = "BanditLearner", list[FloatArray](), list[float](), list[float]()
        for entry in prior:
            try:
                chosen, mean, weight = entry
            except (TypeError, ValueError):
                wanted = "tuples of a set of items, its mean and a weight"
                raise checks.invalid_argument(owner, "prior", wanted, entry) from None
            value = sign * checks.finite_number(owner, "prior", mean)
            weights.append(checks.positive_number(owner, "prior", weight))
            totals.append((value - self._middle) / self._half * weights[-1])
            signs.append(2 * first_point(owner, "prior", frozenset(chosen), names) - 1)
        most = KEEP // max(1, segments)
        if not signs or len(signs) > most:
            raise checks.invalid_argument(owner, "prior", f"1 to {most} sets", len(signs))
        return Seen(
            np.array(signs),
            np.zeros(len(signs)),
            np.array(totals),
            np.array(weights),
            np.zeros(len(signs)),
            np.zeros((len(signs), 0)),
        )

    @property
    def noise_variance(self) -> float:
        """Of a released sum of the model, or of a released mean of the worst case, in squared costs."""
        return super().noise_variance / (self.block**2 if self.method == "worst-case" else 1)

    @property
    def mean_cost(self) -> float | None:
        """The mean of all costs (or rewards) so far, as released; None before any was."""
        return self.mean_of(self._learned_state())

    def mean_of(self, state: Any) -> float | None:
        """The same, in a state of the policy."""
        mean = self._policy.mean(state)
        return None if mean is None else float(self._sign * (self._middle + mean * self._half))

    @property
    def held(self) -> Held | None:
        """What was released of the rounds held out, and by how much learned sets are better."""
        return self.held_of(self._learned_state())

    def held_of(self, state: Any) -> Held | None:
        if not isinstance(self._policy, Holdout):
            return None
        local, factor = self.mode == "local", self._sign * self._half
        return self._policy.held(state, self._noise_in_halves, local, self._sign * self._middle, factor)

    def regret_bound(self, rounds: int) -> float:
        """The expected regret over so many rounds is at most this; proved in `docs/guarantees.md#regret`.

        Only for the worst case. It is for submodular costs in the range, fixed beforehand, each told before
        the next set is drawn.
        """
        if self.method == "model":
            raise InvalidArgument("There is no regret bound for method='model'. 'worst-case' has one.")
        n, constants = len(self.items), self._worst_case.constants
        moment = self._second_moment + 3  # 3: from a wrong baseline
        gamma, step = constants.exploration, constants.step
        return bandit_dual_averaging(n, rounds, self._half, moment, gamma, step, block=self.block)


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
        delta: float = 0.0,
        expire_after: int | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "PolicyLearner"
        names = named_items(owner, items)
        low, high = cost_interval(owner, cost_range, maximize)
        budget = Budget.of(owner, epsilon, rounds_per_person, delta, may_be_unlimited=True)
        checks.one_of(owner, "mode", mode, MODES)
        query = CostOfSet(low, high)
        release = cost_release(query, mode, budget)
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


def _query(owner: str, low: float, high: float, item_total: float | None) -> BanditQuery:
    if item_total is None:
        return CostOfSet(low, high)
    total, half = checks.positive_number(owner, "item_total", item_total), 0.5 * high - 0.5 * low
    if not 1 / FARTHEST_TOTAL <= total / half <= FARTHEST_TOTAL:
        wanted = f"within a factor of {FARTHEST_TOTAL:,} of half the range"
        raise checks.invalid_argument(owner, "item_total", wanted, item_total)
    return CostAndItems(low, high, total)


def cost_release(query: BanditQuery, mode: Mode, budget: Budget) -> Bits | Laplace | Exact:
    """How costs are released: as bits or in noisy sums, or exactly if the budget has no limit."""
    if mode == "central":
        budget.require_pure()
        return laplace_or_exact(query.bound, budget)
    if budget.unlimited:
        return Exact(local=True, rounds_per_person=budget.rounds_per_person)
    return Bits(budget, (query.low, query.high))


def default_method(n: int) -> Method:
    """What a learner of so many items does if nothing else is asked for."""
    return "model" if n <= MOST_MODELLED else "worst-case"


def best_length(epsilon: float | Fraction) -> int:
    """The block length that minimises length + 8 / (length epsilon^2): costs, and noise, per estimate."""
    ideal = math.sqrt(8) / float(epsilon)
    near = [min(max(1, length), LONGEST_BLOCK) for length in (math.floor(ideal), math.ceil(ideal))]
    return min(near, key=lambda length: length + 8 / (length * float(epsilon) ** 2))
