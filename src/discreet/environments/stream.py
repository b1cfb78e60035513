"""Streams of cost functions: what a simulated learner meets, round by round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction, Sum


@generic
def chain_costs(stream: Any, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    """Write the n+1 costs of round t along `order` into `costs`; adaptive streams may look at x.

    Examples:
        >>> import numpy as np
        >>> from discreet.environments import ItemSigns
        >>> stream, costs = ItemSigns(3, rounds=5, gap=1.0).compiled, np.empty(4)
        >>> chain_costs(stream, 0, np.full(3, 0.5), np.array([2, 1, 0]), costs)
        >>> int(stream.items[0]), costs
        (2, array([ 1., -1., -1., -1.]))
    """


@generic
def prefix_cost(stream: Any, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    """The cost in round t of the first `size` items of `order`.

    Examples:
        >>> import numpy as np
        >>> from discreet.environments import ItemSigns
        >>> stream = ItemSigns(3, rounds=5, gap=1.0).compiled
        >>> [prefix_cost(stream, 0, np.full(3, 0.5), np.array([2, 1, 0]), size) for size in range(4)]
        [1.0, -1.0, -1.0, -1.0]
    """
    raise AssertionError("declares a generic function")


class Stream(ABC):
    """The cost functions of a number of rounds.

    Attributes:
        n: Items.
        rounds: Rounds.
        cost_range: No function has a value outside it.
        compiled: A named tuple for which `chain_costs` and `prefix_cost` are registered, or None where the
            functions are only known to Python.

    Examples:
        >>> from discreet.environments import ItemSigns
        >>> stream = ItemSigns(4, rounds=100, gap=1.0)
        >>> stream.n, stream.cost_range, sum(f([0, 2]) for f in stream) == stream.total([0, 2])
        (4, (-1.0, 1.0), True)
    """

    n: int
    rounds: int
    cost_range: tuple[float, float] = (-1.0, 1.0)
    compiled: Any = None

    @abstractmethod
    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first so many rounds: the best fixed set minimises it."""

    @property
    def total(self) -> SetFunction:
        """The sum of all rounds' functions."""
        return self.total_until(self.rounds)

    def for_one_run(self) -> Stream:
        """This stream, or one like it if playing it changes it: several runs may go on side by side."""
        return self

    def __iter__(self) -> Iterator[SetFunction]:
        raise InvalidType(f"The functions of {type(self).__name__} depend on what the learner does.")


class FunctionStream(Stream):
    """Any iterable of set functions, taken one a round. It is played by a plain loop, not compiled.

    Args:
        functions: The functions, of the same number of items.
        cost_range: The range of their values; taken from the functions' own certified ranges by default.
        rounds: Take no more than so many.

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
        taken: list[SetFunction] = []
        for function in functions:
            if not isinstance(function, SetFunction):
                raise InvalidType(
                    f"A FunctionStream is made of set functions. Got {type(function).__name__} in round "
                    f"{len(taken) + 1} (wrap Python code in discreet.set_functions.FromCallable)."
                )
            if taken and function.n != taken[0].n:
                raise InvalidArgument(
                    f"All functions of a stream must have the same number of items. Got {function.n} in "
                    f"round {len(taken) + 1}, {taken[0].n} before."
                )
            taken.append(function)
            if len(taken) == most:
                break
        if not taken:
            raise InvalidArgument("A stream must have at least one round. Got none.")
        self._functions = taken
        self.n, self.rounds = taken[0].n, len(taken)
        if cost_range is None:
            ranges = [function.range() for function in taken]
            cost_range = (min(low for low, _ in ranges), max(high for _, high in ranges))
        self.cost_range = cost_range

    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first so many rounds."""
        return Sum(self._functions[:rounds])

    def __iter__(self) -> Iterator[SetFunction]:
        return iter(self._functions)
