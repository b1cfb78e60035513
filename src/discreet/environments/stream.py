"""Environments and their streams of cost functions: what a simulated learner meets, round by round."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, ParamSpec

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, lean_kernel
from discreet.errors import InvalidArgument, InvalidType
from discreet.set_functions import SetFunction

P = ParamSpec("P")


@generic
def chain_costs(stream: Any, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    """Write the n+1 costs of round t along `order` into `costs`; adaptive streams may use the point x."""


@generic
def prefix_cost(stream: Any, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    """The cost in round t of the first `size` items of `order`."""
    raise AssertionError("declares a generic function")


@generic
def part_costs(stream: Any, t: int, x: FloatArray, order: IntArray, size: int, parts: FloatArray) -> None:
    """Write into `parts` what each of these first items brought to the cost; not all streams can say that.

    The place of item i is i; those of other items are zero.
    """


@generic
def set_costs(stream: Any, t: int, x: FloatArray, room: IntArray, costs: FloatArray) -> None:
    """Write the costs of all sets in round t, coded by their bits, into `costs`; `room` is for an order."""


@set_costs.register(object)
@lean_kernel
def _each_set(stream: Any, t: int, x: FloatArray, room: IntArray, costs: FloatArray) -> None:
    for code in range(costs.size):
        size = 0
        for i in range(room.size):
            if code >> i & 1:
                room[size] = i
                size += 1
        costs[code] = prefix_cost(stream, t, x, room, size)


class Stream(ABC):
    """The cost functions of a number of rounds. Iterating gives them one by one."""

    n: int
    rounds: int
    cost_range: tuple[float, float] = (-1.0, 1.0)
    #: A named tuple for which `chain_costs` and `prefix_cost` are registered; if None, it is iterated.
    compiled: Any = None

    @abstractmethod
    def sum_of(self, rounds: slice) -> SetFunction:
        """The sum of the functions of these rounds."""

    def total_until(self, rounds: int) -> SetFunction:
        """The sum of the functions of the first rounds: the best fixed set minimises it."""
        return self.sum_of(slice(rounds))

    @property
    def total(self) -> SetFunction:
        """The sum of all rounds' functions."""
        return self.total_until(self.rounds)

    def for_one_run(self) -> Stream:
        """This stream, or a copy if playing it changes it, so that runs may go on side by side."""
        return self

    def __iter__(self) -> Iterator[SetFunction]:
        return (self.sum_of(slice(t, t + 1)) for t in range(self.rounds))


@dataclasses.dataclass(frozen=True)
class Environment:
    """A named recipe for streams.

    Attributes:
        make: A function of rounds and a seed that returns a stream.
        parameters: The arguments it was made with, for tables and reports. If one is called `path`, results
            are marked as made from a file of people's data.
        most_rounds: The longest possible stream, if the data are limited.
    """

    name: str
    make: Callable[[int, int], Stream]
    items: tuple[Hashable, ...]
    cost_range: tuple[float, float] = (-1.0, 1.0)
    about: str = ""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    most_rounds: int | None = None
    rewards: bool = False  # for learners with `maximize=True`

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.items)

    def stream(self, rounds: int, seed: int = 0) -> Stream:
        """A stream of the given number of rounds."""
        rounds = checks.integer(self.name, "rounds", rounds, 1, self.most_rounds)
        return self.make(rounds, checks.integer(self.name, "seed", seed, 0))


#: Name -> the function that makes the environment. The decorator `named` fills it.
ENVIRONMENTS: dict[str, Callable[..., Environment]] = {}


def named(recipe: Callable[P, Environment]) -> Callable[P, Environment]:
    """Register a function by its name; its first line is `about`, its arguments but `n` are parameters."""
    about = (inspect.getdoc(recipe) or "").partition("\n")[0]
    signature = inspect.signature(recipe)

    @functools.wraps(recipe)
    def make(*args: P.args, **kwargs: P.kwargs) -> Environment:
        made = recipe(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name != "n"}
        return dataclasses.replace(made, about=about, parameters=given | dict(made.parameters))

    ENVIRONMENTS[recipe.__name__.replace("_", "-")] = make
    return make


def find(name: str, **parameters: Any) -> Environment:
    """The environment with a name, made with the given parameters."""
    if name not in ENVIRONMENTS:
        problem = f"There is no environment called {name!r}."
        raise checks.unknown_name(problem, name, sorted(ENVIRONMENTS), others=", or MODULE:NAME")
    check_given(name, ENVIRONMENTS[name], parameters)
    return ENVIRONMENTS[name](**parameters)


def check_given(name: str, make: Callable[..., object], given: Mapping[str, object]) -> None:
    """Raise if a function has no such parameter, or needs one that is not given."""
    known = inspect.signature(make).parameters
    for unknown in sorted(set(given) - set(known)):
        listed = f"It has: {', '.join(known)}." if known else "It has none."
        raise InvalidArgument(f"The environment {name!r} has no parameter {unknown!r}. {listed}")
    for parameter in known.values():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and parameter.name not in given and not variadic:
            raise InvalidArgument(f"The environment {name!r} needs the parameter {parameter.name!r}.")


def check_stream(stream: Stream, *, seed: int = 0) -> None:
    """Check that the functions, the compiled costs and the totals of a custom stream agree.

    Costs must be in the `cost_range`, and the same from `prefix_cost`, `chain_costs` and the functions, whose
    sums are `total` and `total_until`; else there is an `InvalidArgument`. Every round is played, so use a
    short stream. Submodularity is not checked; see `discreet.set_functions.is_submodular`.

    Examples:
        >>> from discreet.environments import modular
        >>> check_stream(modular(n=4).stream(50))
    """
    rng = np.random.default_rng(seed)
    stream = stream.for_one_run()
    n, (low, high) = stream.n, stream.cost_range
    tolerance = 1e-9 * (high - low)
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
        require(sizes == {n}, f"it has {n} items, its functions have {sizes}")
    for t in range(stream.rounds):
        order, said = rng.permutation(n), dict[str, FloatArray]()
        if stream.compiled is not None:
            arguments = (stream.compiled, t, rng.random(n), order)
            chain_costs(*arguments, said.setdefault("chain_costs", np.full(n + 1, np.nan)))
            single = [prefix_cost(*arguments, size) for size in range(n + 1)]
            chain_costs(*arguments, said.setdefault("repeated, it", np.full(n + 1, np.nan)))
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
    masks = rng.random((22, n)) < 0.5
    masks[0], masks[1] = False, True
    for rounds, mask in itertools.product({max(stream.rounds // 2, 1), stream.rounds}, masks):
        stated, added = stream.total_until(rounds)(mask), sum(f(mask) for f in functions[:rounds])
        where = f"at {np.flatnonzero(mask)} the total of {rounds} rounds"
        same = abs(added - stated) <= tolerance * rounds
        require(same, f"{where} is {stated:g}, but the functions add up to {added:g}")
