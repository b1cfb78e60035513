"""A modular stream: each round one item matters, with a sign."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import lean_kernel
from discreet.environments.stream import Stream, chain_costs, prefix_cost
from discreet.set_functions import Modular


class SignedItems(NamedTuple):
    """The compiled form: the item and the sign of each round."""

    items: IntArray
    signs: IntArray


class SignedItemStream(Stream):
    """Shared by streams of f(S) = s (2 [i in S] - 1). Iterating gives the functions round by round."""

    compiled: SignedItems

    def total_until(self, rounds: int) -> Modular:
        """The sum of the functions of the first so many rounds."""
        return sum_of_signed_items(self.n, self.compiled.items[:rounds], self.compiled.signs[:rounds])

    def __iter__(self) -> Iterator[Modular]:
        return (sum_of_signed_items(self.n, *pair) for pair in zip(*self.compiled, strict=True))


class ItemSigns(SignedItemStream):
    """f(S) = s (2 [i in S] - 1), with an item i and a sign s drawn each round; for any number of items.

    The item is uniform. The best set on average takes every other item (0, 2, 4, ...), and the sign
    favours it with probability 1/2 + gap/2: s is then -1 if i is even and +1 if i is odd.
    Iterating gives the functions round by round.

    Args:
        n: The number of items.
        rounds: How many rounds to draw.
        gap: From 0 (signs are fair coins) to 1 (the best set costs -1 in every round).
        seed: Of the draws.
        owner: Whose arguments these are, for messages.

    Examples:
        >>> stream = ItemSigns(5, rounds=100, gap=1.0, seed=0)
        >>> stream.total([0, 2, 4])
        -100.0
    """

    def __init__(self, n: int, rounds: int, gap: float, seed: int = 0, *, owner: str = "ItemSigns") -> None:
        self.n = checks.integer(owner, "n", n, 1)
        self.rounds = checks.integer(owner, "rounds", rounds, 1)
        gap = checks.unit_number(owner, "gap", gap)
        generator = np.random.default_rng(checks.integer(owner, "seed", seed, 0))
        items = generator.integers(self.n, size=self.rounds)
        self.compiled = SignedItems(items, random_signs(items % 2 == 0, gap, generator))


def random_signs(good: BoolArray, gap: float, generator: np.random.Generator) -> IntArray:
    """For each round -1 if its item is good and +1 if not, but with probability 1/2 - gap/2 the other."""
    favourable = np.where(good, -1, 1)
    return np.where(generator.random(good.size) < 0.5 + 0.5 * gap, favourable, -favourable)


def sum_of_signed_items(n: int, items: IntArray, signs: IntArray) -> Modular:
    """The sum of s (2 [i in S] - 1) over the rounds' items i and signs s, or that of one round."""
    weights = np.zeros(n)
    np.add.at(weights, items, signs)
    return Modular(2 * weights, constant=-weights.sum())


@lean_kernel
def signed_item_chain(item: int, sign: int, order: IntArray, costs: FloatArray) -> None:
    """Write the n+1 values of S -> sign (2 [item in S] - 1) along `order` into `costs`."""
    cost = -float(sign)
    costs[0] = cost
    for k in range(order.size):
        if order[k] == item:
            cost = float(sign)
        costs[k + 1] = cost


@lean_kernel
def signed_item_prefix(item: int, sign: int, order: IntArray, size: int) -> float:
    """The value of S -> sign (2 [item in S] - 1) at the first `size` items of `order`."""
    for k in range(size):
        if order[k] == item:
            return float(sign)
    return -float(sign)


@chain_costs.register(SignedItems)
@lean_kernel
def _signs_chain(stream: SignedItems, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    signed_item_chain(stream.items[t], stream.signs[t], order, costs)


@prefix_cost.register(SignedItems)
@lean_kernel
def _signs_prefix(stream: SignedItems, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    return signed_item_prefix(stream.items[t], stream.signs[t], order, size)
