"""A stream of cuts with one directed edge each."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.set_functions import Cut, SetFunction


class Edges(NamedTuple):
    """The compiled form: where each round's edge starts and ends."""

    tails: IntArray
    heads: IntArray


class DirectedCuts(Stream):
    """f(S) = 2 [i in S and j not in S] - 1, with an edge (i, j) drawn each round; for any number of items.

    The edge is uniform over the ordered pairs of different items; with probability `favoured` it is
    (0, 1) instead. The empty set and the full set cost -1 in every round, the least there is.
    Iterating gives the functions round by round.

    Args:
        n: The number of items, at least 2.
        rounds: How many rounds to draw.
        favoured: The probability of the round being given to the edge (0, 1).
        seed: Of the draws.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> stream = DirectedCuts(3, rounds=100, favoured=1.0, seed=0)
        >>> stream.total([0]), stream.total([1]), stream.total([])
        (100.0, -100.0, -100.0)
    """

    def __init__(
        self, n: int, rounds: int, favoured: float = 0.0, seed: int = 0, *, owner: str = "DirectedCuts"
    ) -> None:
        self.n = checks.integer(owner, "n", n, 2)
        self.rounds = checks.integer(owner, "rounds", rounds, 1)
        favoured = checks.unit_number(owner, "favoured", favoured)
        generator = np.random.default_rng(checks.integer(owner, "seed", seed, 0))
        tails = generator.integers(self.n, size=self.rounds)
        heads = generator.integers(self.n - 1, size=self.rounds)
        heads += heads >= tails  # skips the tail itself
        given = generator.random(self.rounds) < favoured
        tails[given], heads[given] = 0, 1
        self.compiled = Edges(tails, heads)

    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first so many rounds."""
        return _sum_of_cuts(self.n, self.compiled.tails[:rounds], self.compiled.heads[:rounds])

    def __iter__(self) -> Iterator[SetFunction]:
        return (_sum_of_cuts(self.n, *self._edge(t)) for t in range(self.rounds))

    def _edge(self, t: int) -> Edges:
        return Edges(self.compiled.tails[t : t + 1], self.compiled.heads[t : t + 1])


def _sum_of_cuts(n: int, tails: IntArray, heads: IntArray) -> SetFunction:
    return Cut.from_edges(n, tails, heads, np.full(tails.size, 2.0)).shift(-tails.size)


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
