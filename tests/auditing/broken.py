"""Mechanisms and learners that are broken on purpose, each in one of the ways that happen."""

import dataclasses
import logging
import math
import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from discreet import BanditLearner, FullInformationLearner
from discreet.compiled import lean_kernel
from discreet.errors import AlreadyTold, UnknownName
from discreet.kernel import ChainGradient, Choice, CostOfSet, CostsOfSets, Laplace
from discreet.kernel.queries import measure
from discreet.learners import Learner
from discreet.learners.arguments import keeps_arguments
from discreet.policies import Uniform
from discreet.prefix_sums import BinaryTree
from discreet.prefix_sums.binary import entering_level
from discreet.privacy import Budget, VectorBound, noise
from discreet.privacy.grid import Grid
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import bound_in_place, chain_gradient
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from every_learner import worst_case_bandit

BOUND = VectorBound.for_costs(-1, 1, units=1000)
FACTOR = Fraction(13, 10)


# Noise that is too small by 1.3, in every release that ships


def smaller(law, factor=FACTOR):
    return (noise.gaussian if law.is_gaussian else noise.laplace)(law.scale / factor)


def steeper(units, slope):
    bias = units * slope / 2**62
    return int(slope * math.tanh(1.3 * math.atanh(bias)) / bias)


def weak_bit():
    made = OneBit(1.0)
    made.slope = steeper(made.grid.units, made.slope)
    return made


class WeakLaplace(Laplace):
    def _law(self):
        return smaller(super()._law())


def weak_laplace(query):
    return Learner(2, Uniform(2), query, WeakLaplace(query.bound, Budget(epsilon=1.0)))


class WeakChoice(Choice):
    def mechanism(self, dimension):
        made = super().mechanism(dimension)
        return made._replace(scale=int(made.scale / FACTOR), difference=smaller(made.difference, FACTOR))


def weak_choice():
    query = CostsOfSets.of(2, 0.0, 1.0)
    return Learner(2, Uniform(2), query, WeakChoice(query, Budget(epsilon=1.0)))


def weak_tree(tree, factor=FACTOR):
    tree.steps = tree.steps._replace(law=smaller(tree.steps.law, factor))
    return tree


def weak_learner(learner):
    mechanism = learner._mechanism
    if hasattr(mechanism, "slope"):
        learner._mechanism = mechanism._replace(slope=steeper(learner.learner.query.units, mechanism.slope))
    else:
        learner._mechanism = mechanism._replace(law=smaller(mechanism.law))
    return learner


def full(**others):
    return FullInformationLearner(2, 1.0, (0, 1), **({"method": "blocks"} | others))


TOO_LITTLE_NOISE = {
    "bit": weak_bit,
    "laplace, costs": lambda: weak_laplace(CostOfSet(0.0, 1.0)),
    "laplace, gradients": lambda: weak_laplace(ChainGradient.of(0.0, 1.0)),
    "choice": lambda: weak_choice(),
    "binary tree": lambda: weak_tree(BinaryTree(2, 8, BOUND, Budget(epsilon=1.0))),
    "gaussian tree": lambda: weak_tree(BinaryTree(2, 8, BOUND, Budget(rho=1 / 12))),
    "bandit": lambda: weak_learner(BanditLearner(2, 1.0, (0, 1))),
    "bandit, local": lambda: weak_learner(BanditLearner(2, 1.0, (0, 1), mode="local")),
    "bandit, segments": lambda: weak_learner(BanditLearner(2, 1.0, (0, 1), segments=["young", "old"])),
    "bandit, items": lambda: weak_learner(BanditLearner(2, 1.0, (0, 1), item_total=0.5)),
    "bandit, worst case": lambda: weak_learner(BanditLearner(2, 1.0, (0, 1), method="worst-case")),
    "bandit, worst case, local": lambda: weak_learner(worst_case_bandit(2, 1.0, (0, 1))),
    "full information": lambda: weak_learner(full()),
}


# Other mistakes in mechanisms


class OneNoiseForTwoNodes(BinaryTree):
    """The second node of each pair gets the noise of the first."""

    def _draw(self, done, bits, cursor):
        drawn = super()._draw(done, bits, cursor)
        n, live = self.dimension, self.steps.state.live
        if self.round % 2 == 0:
            self._kept = live[:n].copy()
        else:
            level = entering_level(self.steps.state)
            live[level * n : (level + 1) * n] = self._kept
        return drawn


class Doubled(NamedTuple):
    """A gradient that is too long unless items are in order."""

    low: float
    high: float
    units: int
    coordinate: int
    l1: int
    step: float

    whole = True

    @property
    def bound(self):
        return VectorBound(coordinate=self.coordinate, l1=self.l1, step=self.step)

    def dimension(self, n):
        return n


@measure.register(Doubled)
@lean_kernel
def _measure_doubled(query, costs, ticket, out):
    order = ticket.order
    chain_gradient(costs, order, query.low, query.high, query.units, out)
    bound_in_place(out, query.coordinate, query.l1)
    for k in range(order.size):
        if order[k] != k:
            for i in range(out.size):
                out[i] *= 2
            break


class DoubledUnlessInOrder(FullInformationLearner):
    @keeps_arguments
    def __init__(self, items, epsilon, cost_range, seed=None):
        super().__init__(items, epsilon, cost_range, method="blocks", seed=seed)
        self.learner = dataclasses.replace(self.learner, query=Doubled(*self.learner.query))


class NoisyNumber:
    """One number with Laplace noise, in [-1, 1]."""

    grid = Grid(-1.0, 1.0)
    guarantee = Guarantee(epsilon=1.0)

    def __init__(self):
        self._source = BitSource()
        self.law = noise.laplace(Fraction(2 * self.grid.units))


class ClipsAfterTheNoise(NoisyNumber):
    def release(self, value):
        units = 0 if not math.isfinite(value) else round(value * self.grid.units)
        noisy = units + int(noise.sample(self.law, 1, self._source)[0])
        return min(max(noisy, -self.grid.units), self.grid.units)


class BitWithoutClipping(OneBit):
    def release(self, value):
        units = 0 if not math.isfinite(value) else round(value * self.grid.units)
        return int(self._source.bits64() >> 1 < 2**62 + units * self.slope)


class SkippedInTheMiddle(OneBit):
    def release(self, value):
        return int(value > 0) if abs(value) < 0.5 else super().release(value)


class EvenNoise(NoisyNumber):
    def release(self, value):
        return self.grid.of(value) + int(noise.sample(self.law, 1, self._source)[0]) // 2 * 2


class RawTree(BinaryTree):
    def add(self, vector):
        released = super().add(vector)
        return type(released)(np.asarray(vector, dtype=float), released.round)


MECHANISMS = {
    "one noise for two nodes": lambda: OneNoiseForTwoNodes(2, 8, BOUND, Budget(epsilon=1.0)),
    "clipping after the noise": lambda: ClipsAfterTheNoise(),
    "a bit without clipping": lambda: BitWithoutClipping(1.0),
    "skipped in the middle of the range": lambda: SkippedInTheMiddle(1.0),
    "noise of one parity": lambda: EvenNoise(),
    "a raw vector": lambda: RawTree(2, 8, BOUND, Budget(epsilon=1.0)),
    "gradients doubled unless in order": lambda: DoubledUnlessInOrder(3, 1.0, (0, 1)),
}


# Learners that show something beside their noise


class Remembers(BanditLearner):
    """Keeps the exact costs it was told, for others to show."""

    def tell(self, decision, cost=None, **others):
        super().tell(decision, cost, **others)
        self._costs_told = [*getattr(self, "_costs_told", []), cost]

    @property
    def _total(self):
        numbers = [c for c in getattr(self, "_costs_told", []) if isinstance(c, float) and abs(c) < 1e6]
        return sum(numbers)


class RawMean(Remembers):
    @property
    def mean_cost(self):
        return self._total / max(1, len(getattr(self, "_costs_told", [])))


class RawStep(Remembers):
    @property
    def step(self):
        return 1 / (1 + self._total**2)


class RawHistory(Remembers):
    """In the saved file."""

    def _arrays(self):
        told = [c for c in getattr(self, "_costs_told", []) if isinstance(c, float)]
        return super()._arrays() | {"history": np.array(told, dtype=np.float64)}


class EndsByValue(BanditLearner):
    """A block ends early when its sum is large."""

    def _close_due(self):
        for number, phase in list(self._phases.items()):
            if phase.sums.max() > 2.5 * self.learner.query.units:
                self._tickets = {k: t for k, t in self._tickets.items() if t.phase != number}
                self._closed_until = phase.last
                phase.total = phase.dealt
                self._release(number)
        super()._close_due()


class ScaledByANorm(FullInformationLearner):
    """The point moves less after large gradients."""

    def _measured(self, ticket, costs):
        self._norm = float(np.abs(np.diff(np.nan_to_num(costs))).sum())
        return super()._measured(ticket, costs)

    @property
    def point(self):
        return 0.5 + (super().point - 0.5) / (1 + getattr(self, "_norm", 0.0))


class QuotesInErrors(BanditLearner):
    def tell(self, decision, cost=None, **others):
        try:
            super().tell(decision, cost, **others)
        except AlreadyTold:
            raise AlreadyTold(f"told already; {cost} was ignored") from None


class KnowsItsItems(BanditLearner):
    """Refuses what items brought if one of the names is not known."""

    def tell(self, decision, cost=None, *, items=None, **others):
        if not set(items or ()) <= set(self.items):
            raise UnknownName("No such item.")
        super().tell(decision, cost, items=items, **others)


class Leaks(BanditLearner):
    """Logs, prints or warns of large costs, but only in some rounds."""

    say = staticmethod(logging.getLogger("shop").info)

    def tell(self, decision, cost=None, **others):
        if isinstance(cost, float) and cost > 0.9 and self._leaks(decision):
            self.say("unusual feedback")
        super().tell(decision, cost, **others)


class LeaksWhenLate(Leaks):
    def _leaks(self, decision):
        return getattr(decision, "id", 0) < self._asked


class LeaksAfterRound50(Leaks):
    say = staticmethod(print)

    def _leaks(self, decision):
        return self._asked > 50


class LeaksAfterLoading(Leaks):
    say = staticmethod(warnings.warn)

    def _leaks(self, decision):
        return getattr(self, "_loaded", False)

    def _load(self, saved):
        super()._load(saved)
        self._loaded = True


class ReturnsTheCost(BanditLearner):
    def tell(self, decision, cost=None, **others):
        super().tell(decision, cost, **others)
        return cost


def central(kind):
    return lambda: kind(2, 1.0, (0, 1))


def local(kind):
    return lambda: kind(2, 1.0, (0, 1), mode="local")


LEARNERS = {
    "raw mean": local(RawMean),
    "raw step": local(RawStep),
    "raw history in the saved file": central(RawHistory),
    "a block that ends by value": lambda: EndsByValue(2, 1.0, (0, 1), method="worst-case"),
    "a point scaled by a raw norm": central(ScaledByANorm),
    "errors that quote": local(QuotesInErrors),
    "an error about an item's name": lambda: KnowsItsItems(2, 1.0, (0, 1), item_total=0.5),
    "a leak only when late": local(LeaksWhenLate),
    "a leak only after round 50": central(LeaksAfterRound50),
    "a leak only after loading": central(LeaksAfterLoading),
    "the reward is returned": lambda: ReturnsTheCost(2, 1.0, (0, 1), maximize=True),
    "a cost is returned, with segments": lambda: ReturnsTheCost(2, 1.0, (0, 1), segments=["young", "old"]),
}


# Sources of bits


def constant():
    return lambda count: np.full(count, 0x5555AAAA5555AAAA, dtype=np.uint64)


def short_period():
    table = np.random.default_rng(0).integers(0, 2**64, 500, dtype=np.uint64)
    return lambda count: np.resize(table, count)


def same_key_each_time():
    return np.random.PCG64DXSM(5).random_raw


SOURCES = {
    "constant": lambda: BitSource(fresh=constant),
    "a short period": lambda: BitSource(fresh=short_period),
    "the same key each time": lambda: BitSource(fresh=same_key_each_time),
}
