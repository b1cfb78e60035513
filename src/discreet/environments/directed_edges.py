"""The environment of cuts with one directed edge each."""

from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.environment import Environment, named
from discreet.environments.stream import Stream, SummedStream, chain_costs, prefix_cost
from discreet.set_functions import Cut, SetFunction


class Edges(NamedTuple):
    """The compiled form: where each round's edge starts and ends."""

    tails: IntArray
    heads: IntArray


class EdgeStream(SummedStream):
    """A stream of f(S) = 2 [i in S and j not in S] - 1, with an edge (i, j) per round."""

    def __init__(self, n: int, tails: IntArray, heads: IntArray) -> None:
        self.n, self.rounds, self.compiled = n, tails.size, Edges(tails, heads)

    def sum_of(self, rounds: slice) -> SetFunction:
        tails, heads = self.compiled.tails[rounds], self.compiled.heads[rounds]
        return Cut.from_edges(self.n, tails, heads, np.full(tails.size, 2.0)).shift(-tails.size)


@named
def cuts(n: int = 8, favoured: float = 0.0) -> Environment:
    """Each round one directed edge must not be cut; taking nothing and taking all are best.

    The function of a round is 2 [i in S and j not in S] - 1. The edge (i, j) is uniform over the ordered
    pairs of different items. The empty and the full set cost -1 in every round, the least possible.

    Args:
        n: The number of items, at least 2.
        favoured: The probability that the edge is (0, 1) instead.

    Examples:
        >>> stream = cuts(n=3, favoured=1.0).stream(100)
        >>> stream.total([0]), stream.total([1]), stream.total([])
        (100.0, -100.0, -100.0)
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

    return Environment("cuts", make, tuple(range(n)), (-1.0, 1.0), parameters={"favoured": favoured})


@chain_costs.register(Edges)
@lean_kernel
def _chain(stream: Edges, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    tail, head = stream.tails[t], stream.heads[t]
    tail_in = head_in = False
    costs[0] = -1.0
    for k in range(order.size):
        tail_in |= order[k] == tail
        head_in |= order[k] == head
        costs[k + 1] = 1.0 if tail_in and not head_in else -1.0


@prefix_cost.register(Edges)
@lean_kernel
def _prefix(stream: Edges, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    tail_in = False
    for k in range(size):
        if order[k] == stream.heads[t]:
            return -1.0
        tail_in |= order[k] == stream.tails[t]
    return 1.0 if tail_in else -1.0
