"""Streams of cost functions: what a simulated learner meets, round by round."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction, Sum

#: The difference that `check_stream` allows per round, as a share of the range.
TOLERANCE = 1e-9


@generic
def chain_costs(stream: Any, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    """Write the n+1 costs of round t along `order` into `costs`; adaptive streams may use the point x.

    Examples:
        >>> from discreet.environments import modular
        >>> stream, costs = modular(3, gap=1.0).stream(5).compiled, np.empty(4)
        >>> chain_costs(stream, 0, np.full(3, 0.5), np.array([2, 1, 0]), costs)
        >>> int(stream.items[0]), costs
        (2, array([ 1., -1., -1., -1.]))
    """


@generic
def prefix_cost(stream: Any, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    """The cost in round t of the first `size` items of `order`.

    Examples:
        >>> from discreet.environments import modular
        >>> stream = modular(3, gap=1.0).stream(5).compiled
        >>> [prefix_cost(stream, 0, np.full(3, 0.5), np.array([2, 1, 0]), size) for size in range(4)]
        [1.0, -1.0, -1.0, -1.0]
    """
    raise AssertionError("declares a generic function")


class Stream(ABC):
    """The cost functions of a number of rounds. Iterating gives them one by one.

    Attributes:
        n: The number of items.
        rounds: The number of rounds.
        cost_range: Bounds on all costs.
        compiled: A named tuple for which `chain_costs` and `prefix_cost` are registered, or None: then the
            stream is iterated in Python.

    Examples:
        >>> from discreet.environments import modular
        >>> stream = modular(4, gap=1.0).stream(100)
        >>> stream.n, stream.cost_range, sum(f([0, 2]) for f in stream) == stream.total([0, 2])
        (4, (-1.0, 1.0), True)
    """

    n: int
    rounds: int
    cost_range: tuple[float, float] = (-1.0, 1.0)
    compiled: Any = None

    @abstractmethod
    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first rounds: the best fixed set minimises it."""

    @property
    def total(self) -> SetFunction:
        """The sum of all rounds' functions."""
        return self.total_until(self.rounds)

    def for_one_run(self) -> Stream:
        """This stream, or a copy if playing it changes it, so that runs may go on side by side."""
        return self

    def __iter__(self) -> Iterator[SetFunction]:
        raise InvalidType(f"The functions of {type(self).__name__} depend on what the learner does.")


class SummedStream(Stream):
    """A stream that can add up the functions of any slice of its rounds; most streams derive from it.

    Examples:
        >>> from discreet.environments import modular
        >>> modular(4, gap=1.0).stream(100).sum_of(slice(10, 30))([0, 2])
        -20.0
    """

    @abstractmethod
    def sum_of(self, rounds: slice) -> SetFunction:
        """The sum of the functions of these rounds."""

    def total_until(self, rounds: int) -> SetFunction:
        return self.sum_of(slice(rounds))

    def __iter__(self) -> Iterator[SetFunction]:
        return (self.sum_of(slice(t, t + 1)) for t in range(self.rounds))


class FunctionStream(SummedStream):
    """Any iterable of set functions, one per round. It is played in Python, not compiled.

    Args:
        functions: The functions, of the same number of items.
        cost_range: Bounds on their values; by default those that the functions themselves guarantee.
        rounds: How many to take at most.

    Examples:
        >>> from discreet.set_functions import Modular
        >>> stream = FunctionStream([Modular([1, -1]), Modular([0, -1])])
        >>> stream.rounds, stream.total([1]), stream.cost_range
        (2, -2.0, (-1.0, 1.0))
    """

    def __init__(
        self,
        functions: Iterable[SetFunction],
        *,
        cost_range: tuple[float, float] | None = None,
        rounds: int | None = None,
    ) -> None:
        most = None if rounds is None else checks.integer("FunctionStream", "rounds", rounds, 1)
        self._functions = list[SetFunction]()
        for t, function in enumerate(itertools.islice(functions, most), 1):
            if not isinstance(function, SetFunction):
                raise InvalidType(
                    f"A FunctionStream is made of set functions. Got {type(function).__name__} in round {t} "
                    "(wrap Python code in discreet.set_functions.FromCallable)."
                )
            if t > 1 and function.n != self.n:
                raise InvalidArgument(
                    f"All functions of a stream must have the same number of items. Got {function.n} in "
                    f"round {t}, {self.n} before."
                )
            self.n = function.n
            self._functions.append(function)
        if not self._functions:
            raise InvalidArgument("A stream must have at least one round. Got none.")
        self.rounds = len(self._functions)
        if cost_range is None:
            low, high = zip(*(function.range() for function in self._functions), strict=True)
            cost_range = (min(low), max(high))
        self.cost_range = cost_range

    def sum_of(self, rounds: slice) -> SetFunction:
        return Sum(self._functions[rounds])

    def __iter__(self) -> Iterator[SetFunction]:
        return iter(self._functions)


def check_stream(stream: Stream, *, seed: int = 0) -> None:
    """Check that the functions, the compiled costs and the totals of a custom stream agree.

    In every round, at a random point and along a random order of the items: costs are in the `cost_range`;
    `prefix_cost` agrees with `chain_costs`, also when they are called again for the same round; both agree
    with the round's set function. On random sets: `total`, and `total_until` half of the rounds, are the sums
    of these functions. An adaptive stream has no functions to compare with. What differs is said in an
    `InvalidArgument`.

    Every round is played, so use a short stream. Submodularity is not checked; see
    `discreet.set_functions.is_submodular`.

    Examples:
        >>> from discreet.environments import modular
        >>> check_stream(modular(n=4).stream(50))
    """
    rng = np.random.default_rng(checks.integer("check_stream", "seed", seed, 0))
    stream = stream.for_one_run()
    low, high = stream.cost_range
    tolerance = TOLERANCE * (high - low)
    try:
        functions = list(stream)
    except InvalidType:  # an adaptive stream
        functions = None

    def require(sound: bool | np.bool_, problem: str) -> None:
        if not sound:
            raise InvalidArgument(f"The stream {type(stream).__name__} is inconsistent: {problem}.")

    require(low < high, f"its cost_range is {stream.cost_range}")
    require(stream.compiled is not None or functions is not None, "it is neither compiled nor iterable")
    if functions is not None:
        found, sizes = len(functions), {function.n for function in functions}
        require(found == stream.rounds, f"it has {stream.rounds} rounds, but iterating gives {found}")
        require(sizes == {stream.n}, f"it has {stream.n} items, its functions have {sizes}")
    for t in range(stream.rounds):
        order, said = rng.permutation(stream.n), dict[str, FloatArray]()
        if stream.compiled is not None:
            arguments = (stream.compiled, t, rng.random(stream.n), order)
            chain_costs(*arguments, said.setdefault("chain_costs", np.full(stream.n + 1, np.nan)))
            single = [prefix_cost(*arguments, size) for size in range(stream.n + 1)]
            chain_costs(*arguments, said.setdefault("repeated, it", np.full(stream.n + 1, np.nan)))
            said["prefix_cost"] = np.array(single)
        if functions is not None:
            said["its function"] = functions[t].chain_values(order)
        (first, expected), *others = said.items()
        inside = low <= expected.min() and expected.max() <= high
        require(inside, f"a cost of round {t} lies outside {stream.cost_range}")
        for name, costs in others:
            same = np.allclose(costs, expected, rtol=0, atol=tolerance)
            require(same, f"along {order} in round {t} {first} gives {expected}, {name} gives {costs}")
    if functions is None:
        return
    masks = [
        *(rng.random((20, stream.n)) < 0.5),
        np.zeros(stream.n, dtype=bool),
        np.ones(stream.n, dtype=bool),
    ]
    for rounds, mask in itertools.product({max(stream.rounds // 2, 1), stream.rounds}, masks):
        stated, added = stream.total_until(rounds)(mask), sum(f(mask) for f in functions[:rounds])
        where = f"at {np.flatnonzero(mask)} the total of {rounds} rounds"
        same = abs(added - stated) <= tolerance * rounds
        require(same, f"{where} is {stated:g}, but the functions add up to {added:g}")
