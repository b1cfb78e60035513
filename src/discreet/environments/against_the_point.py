"""An adversary that looks at the learner's point before it sets the cost."""

from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.item_signs import signed_item_chain, signed_item_prefix, sum_of_signed_items
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.set_functions import Modular


class Adversary(NamedTuple):
    """The compiled form: each round's item, and the sign it got when it was played (0 until then)."""

    items: IntArray
    signs: IntArray


class AgainstThePoint(Stream):
    """f(S) = s (2 [i in S] - 1) with s = +1 if x_i > 1/2 and s = -1 otherwise; for any number of items.

    The item i is uniform, and x is the learner's point: an item it leans towards costs 1 if taken, one
    that it leans away from costs 1 if left out. The functions depend on the run, so this stream
    cannot be iterated.

    One object serves one run. It remembers the signs it gave, and playing round 0 again forgets
    them. Playing another round again overwrites what that round left, so it counts once.

    Args:
        n: The number of items.
        rounds: How many rounds to draw.
        seed: Of the items.

    Examples:
        >>> stream = AgainstThePoint(2, rounds=3, seed=0)
        >>> for t in range(3):
        ...     prefix_cost(stream.compiled, t, np.array([0.9, 0.1]), np.array([0, 1]), 1)
        1.0
        1.0
        1.0
        >>> stream.total([0]), stream.total([1])
        (3.0, -3.0)
    """

    def __init__(self, n: int, rounds: int, seed: int = 0) -> None:
        self.n = checks.integer("AgainstThePoint", "n", n, 1)
        self.rounds = checks.integer("AgainstThePoint", "rounds", rounds, 1)
        generator = np.random.default_rng(checks.integer("AgainstThePoint", "seed", seed, 0))
        items = generator.integers(self.n, size=self.rounds)
        self.compiled = Adversary(items, np.zeros(self.rounds, dtype=np.int64))

    def for_one_run(self) -> "AgainstThePoint":
        """A stream with the same items, that has not been played."""
        twin = AgainstThePoint.__new__(AgainstThePoint)
        twin.n, twin.rounds = self.n, self.rounds
        twin.compiled = Adversary(self.compiled.items, np.zeros(self.rounds, dtype=np.int64))
        return twin

    def total_until(self, rounds: int) -> Modular:
        """The sum of the functions of the first so many rounds, as far as they have been played."""
        return sum_of_signed_items(self.n, self.compiled.items[:rounds], self.compiled.signs[:rounds])


@lean_kernel
def set_sign(stream: Adversary, t: int, x: FloatArray) -> None:
    """Set the sign of round t against x; a round that is replayed gets one sign, not two."""
    if t == 0:
        stream.signs[:] = 0
    stream.signs[t] = 1 if x[stream.items[t]] > 0.5 else -1


@chain_costs.register(Adversary)
@lean_kernel
def _adversary_chain(stream: Adversary, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    set_sign(stream, t, x)
    signed_item_chain(stream.items[t], stream.signs[t], order, costs)


@prefix_cost.register(Adversary)
@lean_kernel
def _adversary_prefix(stream: Adversary, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    set_sign(stream, t, x)
    return signed_item_prefix(stream.items[t], stream.signs[t], order, size)
