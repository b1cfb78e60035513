"""check_stream: sound streams pass, and each kind of mistake is found and named."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest

from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel
from discreet.environments import FunctionStream, Stream, chain_costs, check_stream, prefix_cost
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import Modular, SetFunction

ROUNDS, N = 12, 3


class Prices(NamedTuple):
    """The price of item 1 in each round; the others are free."""

    prices: FloatArray
    played: IntArray


@chain_costs.register(Prices)
@kernel
def _chain(stream: Prices, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    costs[0] = 0.0
    for k in range(order.size):
        costs[k + 1] = costs[k] + (stream.prices[t] if order[k] == 1 else 0.0)


@prefix_cost.register(Prices)
@kernel
def _prefix(stream: Prices, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    for k in range(size):
        if order[k] == 1:
            return stream.prices[t]
    return 0.0


class Counting(Prices):
    """The same, with costs that grow every time it is looked at."""


@chain_costs.register(Counting)
@kernel
def _counting_chain(stream: Counting, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    stream.played[0] += 1
    costs[:] = 0.001 * stream.played[0]


prefix_cost.register(Counting)(_prefix)


class Shelf(Stream):
    """One that is sound, with places to break it."""

    n, rounds, cost_range = N, ROUNDS, (0.0, 1.0)

    def __init__(self) -> None:
        self.prices = np.random.default_rng(3).random(ROUNDS)
        self.compiled = Prices(self.prices, np.zeros(1, dtype=np.int64))

    def sum_of(self, rounds: slice) -> SetFunction:
        return Modular([0, self.prices[rounds].sum(), 0])


class OneRoundShort(Shelf):
    def __iter__(self) -> Iterator[SetFunction]:
        return (Modular([0, price, 0]) for price in self.prices[1:])


class OneItemMore(Shelf):
    def __iter__(self) -> Iterator[SetFunction]:
        return (Modular([0, price, 0, 0]) for price in self.prices)


class WrongTotal(Shelf):
    def total_until(self, rounds: int) -> SetFunction:
        return Modular([0, self.prices.sum(), 0])  # of all rounds, whatever was asked for


def broken(change: Callable[[Shelf], object]) -> Shelf:
    stream = Shelf()
    change(stream)
    return stream


def with_wrong_price(stream: Shelf) -> None:
    stream.compiled = Prices(stream.prices.copy(), np.zeros(1, dtype=np.int64))
    stream.compiled.prices[7] *= 0.99


def that_counts(stream: Shelf) -> None:
    stream.compiled = Counting(stream.prices, np.zeros(1, dtype=np.int64))


def test_functions_and_compiled_costs_pass_where_they_are_right() -> None:
    """With a compiled form, and without."""
    check_stream(Shelf())
    check_stream(FunctionStream(Shelf()))


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (OneRoundShort(), "12 rounds, but iterating gives 11"),
        (OneItemMore(), r"3 items, its functions have \{4\}"),
        (WrongTotal(), r"at \[0 1 2\] the total of 6 rounds"),
        (broken(with_wrong_price), "in round 7 chain_costs gives .* its function gives"),
        (broken(that_counts), "in round 0 chain_costs gives .* repeated, it gives"),
        (broken(lambda stream: setattr(stream, "cost_range", (0.0, 0.5))), "lies outside"),
        (broken(lambda stream: setattr(stream, "cost_range", (1.0, 1.0))), "its cost_range is"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_broken_is_named(stream: Stream, message: str) -> None:
    """One mistake each, in an otherwise sound stream."""
    with pytest.raises(InvalidArgument, match=message):
        check_stream(stream)


def test_a_stream_with_nothing_to_play_is_refused() -> None:
    """Neither compiled costs nor functions."""

    class Idea(Shelf):
        def __init__(self) -> None:
            pass

        def __iter__(self) -> Iterator[SetFunction]:
            raise InvalidType("They depend on what the learner does.")

    with pytest.raises(InvalidArgument, match="neither compiled nor iterable"):
        check_stream(Idea())
