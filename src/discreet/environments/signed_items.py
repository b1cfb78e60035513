"""Environments of signed items, s (2 [i in S] - 1), and of edges, 2 [i in S and j not in S] - 1."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.stream import Environment, Stream, chain_costs, named, prefix_cost
from discreet.errors import InvalidType
from discreet.set_functions import Cut, Modular, SetFunction


class SignedItems(NamedTuple):
    """The compiled form: the item i and the sign s of each round."""

    items: IntArray
    signs: IntArray
    adaptive: bool  # then a sign is 0 until its round is played, and against the learner's point then


class SignedItemStream(Stream):
    """A stream of signed items; without `signs` an adaptive one, which remembers those of one run."""

    #: What the signs of `lower_bound` favour, and by how much.
    hidden: frozenset[int]
    gap: float

    def __init__(self, n: int, items: IntArray, signs: IntArray | None = None) -> None:
        self.n, self.rounds = n, items.size
        self.compiled = SignedItems(items, np.zeros_like(items) if signs is None else signs, signs is None)

    def sum_of(self, rounds: slice) -> Modular:
        weights = np.zeros(self.n)
        np.add.at(weights, self.compiled.items[rounds], self.compiled.signs[rounds])
        return Modular(2 * weights, constant=-weights.sum())

    def for_one_run(self) -> Stream:
        return SignedItemStream(self.n, self.compiled.items) if self.compiled.adaptive else self

    def __iter__(self) -> Iterator[SetFunction]:
        if self.compiled.adaptive:
            raise InvalidType("The functions of this stream depend on what the learner does.")
        return super().__iter__()


@named
def modular(n: int = 8, gap: float = 0.5) -> Environment:
    """Each round concerns one item; every other item is worth taking.

    The item is uniform. With probability 1/2 + gap/2 the sign is -1 for an even item and +1 for an odd one.
    The gap is from 0 (signs are fair coins) to 1 (the best set costs -1 in every round).
    """
    n = checks.integer("modular", "n", n, 1)
    gap = checks.unit_number("modular", "gap", gap)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        items = rng.integers(n, size=rounds)
        return SignedItemStream(n, items, _signs(items % 2 == 0, gap, rng))

    return Environment("modular", make, tuple(range(n)))


@named
def drifting(n: int = 8, gap: float = 0.5, turns: float = 0.5) -> Environment:
    """Each round concerns one item; those worth taking are a run that moves around a ring.

    Half of the items, neighbours on a ring, are worth taking. The run starts at item 0 and moves at constant
    speed, `turns` times around in total. The gap is that of `modular`, for the best set of the moment.
    """
    n = checks.integer("drifting", "n", n, 2)
    gap = checks.unit_number("drifting", "gap", gap)
    turns = checks.nonnegative_number("drifting", "turns", turns)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        items = rng.integers(n, size=rounds)
        begins = np.floor(turns * n * np.arange(rounds) / rounds).astype(np.int64)
        return SignedItemStream(n, items, _signs((items - begins) % n < n // 2, gap, rng))

    return Environment("drifting", make, tuple(range(n)))


@named
def lower_bound(n: int = 8, strength: float = 0.5) -> Environment:
    """Nearly fair signs favour a hidden set, so little that no learner can find it in time.

    The hidden set takes every item with probability 1/2. The item of a round is uniform, and its sign favours
    the hidden set with probability 1/2 + gap/2, where gap = min(1, strength sqrt(n / rounds)).
    With strength 1/2 every learner's expected regret is at least 0.23 sqrt(n rounds) if rounds >= n, private
    or not, even if it sees every function completely. docs/theorems.md has the proof.
    """
    n = checks.integer("lower-bound", "n", n, 1)
    strength = checks.positive_number("lower-bound", "strength", strength)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        mask = rng.random(n) < 0.5
        items = rng.integers(n, size=rounds)
        gap = min(1.0, strength * math.sqrt(n / rounds))
        stream = SignedItemStream(n, items, _signs(mask[items], gap, rng))
        stream.hidden, stream.gap = frozenset(np.flatnonzero(mask).tolist()), gap
        return stream

    return Environment("lower-bound", make, tuple(range(n)))


@named
def adaptive_adversary(n: int = 8) -> Environment:
    """Each round a random item is made costly on the side that the learner leans to.

    The sign is +1 if the learner's point has x_i > 1/2, else -1. Its streams cannot be iterated.
    """
    n = checks.integer("adaptive-adversary", "n", n, 1)

    def make(rounds: int, seed: int) -> Stream:
        return SignedItemStream(n, np.random.default_rng(seed).integers(n, size=rounds))

    return Environment("adaptive-adversary", make, tuple(range(n)))


def _signs(good: BoolArray, gap: float, rng: np.random.Generator) -> IntArray:
    """For each round -1 if its item is good and +1 if not, flipped with probability 1/2 - gap/2."""
    favourable = np.where(good, -1, 1)
    return np.where(rng.random(good.size) < 0.5 + 0.5 * gap, favourable, -favourable)


@lean_kernel
def _sign(stream: SignedItems, t: int, x: FloatArray) -> float:
    if stream.adaptive:
        if t == 0:
            stream.signs[:] = 0
        stream.signs[t] = 1 if x[stream.items[t]] > 0.5 else -1
    return float(stream.signs[t])


@chain_costs.register(SignedItems)
@lean_kernel
def _chain(stream: SignedItems, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    item, sign = stream.items[t], _sign(stream, t, x)
    cost = costs[0] = -sign
    for k in range(order.size):
        if order[k] == item:
            cost = sign
        costs[k + 1] = cost


@prefix_cost.register(SignedItems)
@lean_kernel
def _prefix(stream: SignedItems, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    item, sign = stream.items[t], _sign(stream, t, x)
    for k in range(size):
        if order[k] == item:
            return sign
    return -sign


class Edges(NamedTuple):
    """The compiled form: where each round's edge starts and ends."""

    tails: IntArray
    heads: IntArray


class EdgeStream(Stream):
    """A stream of edges (i, j)."""

    def __init__(self, n: int, tails: IntArray, heads: IntArray) -> None:
        self.n, self.rounds, self.compiled = n, tails.size, Edges(tails, heads)

    def sum_of(self, rounds: slice) -> SetFunction:
        tails, heads = self.compiled.tails[rounds], self.compiled.heads[rounds]
        return Cut.from_edges(self.n, tails, heads, np.full(tails.size, 2.0)).shift(-tails.size)


@named
def cuts(n: int = 8, favoured: float = 0.0) -> Environment:
    """Each round one directed edge must not be cut; taking nothing and taking all are best.

    The edge is uniform over the ordered pairs of items, or with probability `favoured` it is (0, 1).
    """
    n = checks.integer("cuts", "n", n, 2)
    favoured = checks.unit_number("cuts", "favoured", favoured)

    def make(rounds: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        tails, heads = rng.integers(n, size=rounds), rng.integers(n - 1, size=rounds)
        heads += heads >= tails  # skips the tail itself
        given = rng.random(rounds) < favoured
        tails[given], heads[given] = 0, 1
        return EdgeStream(n, tails, heads)

    return Environment("cuts", make, tuple(range(n)))


@chain_costs.register(Edges)
@lean_kernel
def _edge_chain(stream: Edges, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    tail, head = stream.tails[t], stream.heads[t]
    tail_in = head_in = False
    costs[0] = -1.0
    for k in range(order.size):
        tail_in |= order[k] == tail
        head_in |= order[k] == head
        costs[k + 1] = 1.0 if tail_in and not head_in else -1.0


@prefix_cost.register(Edges)
@lean_kernel
def _edge_prefix(stream: Edges, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    tail_in = False
    for k in range(size):
        if order[k] == stream.heads[t]:
            return -1.0
        tail_in |= order[k] == stream.tails[t]
    return 1.0 if tail_in else -1.0
