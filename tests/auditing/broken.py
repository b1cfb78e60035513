"""Mechanisms and learners that are broken on purpose, each in one of the ways that happen."""

import logging

import numpy as np

from discreet import BanditLearner
from discreet.prefix_sums import BinaryTree, KAryTree
from discreet.privacy import Budget, Guarantee, VectorBound, noise
from discreet.privacy.guarantee import Neighbours
from discreet.randomizers import LaplaceOnGrid, OneBit
from discreet.randomness import BitSource

BOUND = VectorBound.for_costs(-1, 1, units=1000)


def laplace_at_half_scale() -> LaplaceOnGrid:
    mechanism = LaplaceOnGrid(1.0)
    mechanism.law = noise.laplace(mechanism.law.scale / 2)
    return mechanism


def one_bit_ten_percent_off() -> OneBit:
    mechanism = OneBit(1.0)
    mechanism.slope = mechanism.slope * 11 // 10
    return mechanism


def tree_for_zeroed_rounds(rounds: int = 1) -> BinaryTree:
    """Noise for a round that is zeroed out, where rounds are replaced."""
    zeroed = Budget(epsilon=1.0, neighbours=Neighbours.ZERO_OUT_ONE_ROUND)
    tree = BinaryTree(2, rounds, BOUND, Budget(epsilon=1.0))
    tree._law = BinaryTree(2, rounds, BOUND, zeroed)._law
    return tree


def tree_with_a_level_forgotten(rounds: int) -> BinaryTree:
    """A round enters one more node than the noise is made for."""
    tree = BinaryTree(1, rounds, VectorBound(coordinate=100, l1=100), Budget(epsilon=1.0))
    tree._law = tree._law_for(tree.levels - 1)
    return tree


class RestoredTwice:
    """A tree whose saved state is gone on with twice: with the real data, and with none."""

    def claim(self):
        return Guarantee(epsilon=1.0)

    def neighbours(self):
        return 10, -10

    def observe(self, data, runs, seed):
        source, seen = BitSource(seed), np.empty((runs, 2))
        bound, nothing = VectorBound(coordinate=10, l1=10), np.zeros(1, dtype=np.int64)
        for run in range(runs):
            tree = KAryTree(1, 4, bound, Budget(epsilon=1.0), arity=3, source=source)
            tree.add(nothing)
            tree.add(nothing)
            saved = tree.to_bytes()
            branches = [
                KAryTree.from_bytes(saved, generation=tree.generation, source=source) for _ in range(2)
            ]
            seen[run] = [
                branch.add(np.array([value])).values[0]
                for branch, value in zip(branches, (data, 0), strict=True)
            ]
        return seen


class SameSeedTwice:
    """Two servers that were started with one seed, each with a person of its own."""

    def claim(self):
        return Guarantee(epsilon=1.0)

    def neighbours(self):
        return 1.0, -1.0

    def observe(self, data, runs, seed):
        seeds = (
            np.random.SeedSequence(seed).generate_state(runs) if seed is None else seed.generate_state(runs)
        )
        replicas = [[LaplaceOnGrid(1.0, source=BitSource(int(s))) for _ in range(2)] for s in seeds]
        return np.array([[ours.release(data), theirs.release(0.0)] for ours, theirs in replicas], dtype=float)


class LogsLargeCosts(BanditLearner):
    """Helpful to whoever debugs it."""

    def tell(self, decision, cost=None, **others):
        if cost is not None and cost > 0.9:
            logging.getLogger("shop").info("unusual feedback for decision %d", decision.id)
        super().tell(decision, cost, **others)


class KeepsLargeCostsOpen(BanditLearner):
    """Takes a cost at the end of the range for a mistake, and lets its decision expire."""

    def tell(self, decision, cost=None, **others):
        if cost is not None and cost > 0.9:
            return
        super().tell(decision, cost, **others)


class RaisesOnLargeCosts(BanditLearner):
    """Validates what it is told."""

    def tell(self, decision, cost=None, **others):
        if cost is not None and cost > 0.9:
            raise ValueError("out of range")
        super().tell(decision, cost, **others)


class LogsTheCost(BanditLearner):
    """A line of one length for every cost, on a logger that hands nothing on."""

    def tell(self, decision, cost=None, **others):
        logger = logging.getLogger("quiet")
        logger.propagate = False
        logger.warning("cost %.2f", cost)
        super().tell(decision, cost, **others)


class ReturnsTheCost(BanditLearner):
    def tell(self, decision, cost=None, **others):
        super().tell(decision, cost, **others)
        return cost


class ShowsTheCost(BanditLearner):
    """Has the usual `ask` and `tell`, and something of its own below them."""

    def _cost_step(self, draw, number):
        self._last = number
        return super()._cost_step(draw, number)

    def __repr__(self):
        return f"learner {getattr(self, '_last', 0.0):.3f}"


class ShowsBlockSums(BanditLearner):
    """Prints what a block adds up to, when it is full."""

    def tell(self, decision, cost=None, **others):
        self._sum = getattr(self, "_sum", 0.0) + cost
        if (self.rounds + 1) % self.block == 0:
            print(f"{self._sum:.3f}")
        super().tell(decision, cost, **others)


class RawBit(OneBit):
    def release(self, value):
        return value


class RawTree(BinaryTree):
    def add(self, vector):
        released = super().add(vector)
        return type(released)(np.asarray(vector, dtype=float), released.round)


class OnlyCounts(BanditLearner):
    """Has a `tell` of its own that does no harm."""

    def tell(self, decision, cost=None, **others):
        super().tell(decision, cost, **others)
