"""What can take the place of a named environment: streams, functions, tables, a user's own code."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeGuard

import numpy as np

from discreet import checks
from discreet.environments.cost_tables import from_frame, from_mapping, sets_of
from discreet.environments.functions import FunctionStream
from discreet.environments.stream import ENVIRONMENTS, Environment, Stream, check_given, find
from discreet.environments.tables import TableStream
from discreet.errors import DiscreetError, InvalidArgument, InvalidType
from discreet.frames import columns_of, is_frame
from discreet.imports import failed, load_object
from discreet.minimizers.dispatch import MOST_ITEMS_TO_ENUMERATE
from discreet.privacy.grid import number_or_nan
from discreet.set_functions import FromCallable, SetFunction, Table

#: What `simulate` and `as_environment` take.
EnvironmentLike = Environment | Stream | str | Iterable[Any] | Callable[..., Any]
Items = Sequence[Hashable]
Range = tuple[float, float]


def as_environment(
    given: EnvironmentLike,
    *,
    items: Items | None = None,
    rounds: int | None = None,
    rewards: bool = False,
    parameters: Mapping[str, Any] | None = None,
) -> Environment:
    """Make an environment from anything that describes one.

    Args:
        given: One of

            - an environment, or the name of one, or "MODULE:NAME", which names any of the others;
            - a stream, which is the same for all seeds;
            - an iterable with one function per round, or an object whose `functions` are one: set functions,
              or Python functions of a frozenset of items. It may have a `cost_range`;
            - a set function, or a Python function of a frozenset of items, the same in every round;
            - a table of costs: an array as for `TableStream`, or a mapping from every set of items to its
              cost, or to a sequence of its costs in all rounds;
            - a frame (pandas, polars, pyarrow): with the columns set, cost and, if costs differ, round; or
              with a column of costs for each set, and a row per round. Sets are written "tea+milk" and "{}";
            - a function or class that returns one of these. It may take `n`, `rounds`, `seed` and other
              parameters, and it may have a `cost_range`, which is needed if ranges depend on the seed.
        items: The items of the learner.
        rounds: The number of rounds that will be played; an iterable is read no further.
        rewards: Whether the learner takes rewards.
        parameters: Arguments of the named environment, or of the function.

    Examples:
        >>> costs = {(): 0.0, ("tea",): -0.5, ("milk",): 0.5, ("tea", "milk"): 0.25}
        >>> as_environment(costs, items=["tea", "milk"], rounds=10).stream(10).total([0])
        -5.0
    """
    name, arguments = "", dict(parameters or {})
    if isinstance(given, str):
        name = given
        if ":" in name:
            given = load_object(name)
        else:
            size = {"n": len(items)} if items is not None and has_size(name) else {}
            given, arguments = find(name, **size | arguments), {}
    if not isinstance(given, Environment) or arguments:
        if rounds is not None:
            rounds = checks.integer("simulate", "rounds", rounds, 1)
        given = _converted(name, given, items, rounds, rewards, arguments)
    if given.rewards != rewards:
        has, takes = ("rewards", "costs") if given.rewards else ("costs", "rewards")
        clash = f"The environment {given.name} has {has}, and the learner takes {takes}"
        raise InvalidArgument(f"{clash}: make it with maximize={given.rewards}.")
    return given


def has_size(name: str) -> bool:
    """Whether an environment takes a number of items `n`; a table of costs does not."""
    found = load_object(name) if ":" in name else ENVIRONMENTS.get(name)
    return _is_function(found) and "n" in inspect.signature(found).parameters


def _is_function(given: Any) -> TypeGuard[Callable[..., Any]]:
    value = isinstance(given, SetFunction | Iterable) or hasattr(given, "functions") or is_frame(given)
    return isinstance(given, type) or (callable(given) and not value)


def _is_cost(known: Mapping[str, inspect.Parameter], arguments: dict[str, Any]) -> bool:
    """Whether a function takes one argument that is nothing a recipe may take: the chosen set."""
    names = [name for name, each in known.items() if each.default is each.empty]
    return len(names) == 1 and names[0] not in {"n", "rounds", "seed"} and not arguments


def _converted(
    name: str, given: Any, items: Items | None, rounds: int | None, rewards: bool, arguments: dict[str, Any]
) -> Environment:
    function: Callable[..., Any] = given if _is_function(given) else lambda: given
    if function is given:
        name = name or getattr(given, "__name__", type(given).__name__)
    known = inspect.signature(function).parameters
    declared = None if isinstance(given, type) else getattr(given, "cost_range", None)
    if function is given and _is_cost(known, arguments):
        cost = function
        given = function = lambda: itertools.repeat(cost)
        known = inspect.signature(lambda: None).parameters
    if "n" in known and items is not None:
        arguments = {"n": len(items)} | arguments
    varying = {"rounds", "seed"} & set(known) - set(arguments)
    check_given(name, function, arguments | dict.fromkeys(varying))
    if "rounds" in varying and rounds is None:
        raise InvalidArgument(f"{name} is a function of the number of rounds: give 'rounds'.")
    size = arguments.get("n", known["n"].default if "n" in known else None)
    names = range(size) if items is None and isinstance(size, int) else items

    def make(rounds: int | None, seed: int) -> Any:
        free = {"rounds": rounds, "seed": seed}
        try:
            made = function(**arguments, **{key: free[key] for key in varying})
            if isinstance(made, Environment) and not varying:
                return made
            return _as_stream(made, names, rounds, declared)
        except Exception as error:
            if function is not given or isinstance(error, DiscreetError):
                raise
            raise failed(f"Calling {name}", error) from error

    first = make(rounds, 0)
    if isinstance(first, Environment):
        return first
    low, high = first.cost_range

    def checked(length: int, seed: int) -> Stream:
        stream: Stream = first if not varying or (length, seed) == (rounds, 0) else make(length, seed)
        least, most = stream.cost_range
        if least < low or most > high:
            raise InvalidArgument(
                f"The costs of {name} lie in [{low:g}, {high:g}] with seed 0, and in [{least:g}, {most:g}] "
                f"with seed {seed}. Set {name.rpartition(':')[2]}.cost_range to a pair that holds for all."
            )
        if stream.rounds < length:
            raise InvalidArgument(f"{name} gives {stream.rounds} rounds with seed {seed}, not {length}.")
        return stream.for_one_run()

    return Environment(
        name or type(first).__name__,
        checked,
        tuple(names if names is not None and len(names) == first.n else range(first.n)),
        first.cost_range,
        parameters={key: value for key, value in arguments.items() if key != "n"},
        most_rounds=None if rounds is not None and first.rounds >= rounds else first.rounds,
        rewards=rewards,
    )


def _as_stream(given: Any, items: Items | None, rounds: int | None, cost_range: Range | None) -> Stream:
    if isinstance(given, Stream):
        return given
    if isinstance(given, Mapping):
        return from_mapping(given, items, rounds)
    if is_frame(given):
        return from_frame(columns_of(given), items, rounds)
    if isinstance(given, SetFunction):
        if rounds is None:
            raise InvalidArgument("A set function is the same in every round: give 'rounds'.")
        return FunctionStream(itertools.repeat(given, rounds))
    row = next(iter(given), None) if isinstance(given, list | tuple) else given
    if isinstance(row, list | tuple | np.ndarray):
        if any(isinstance(entry, str) for entry in row):
            raise InvalidType("Lists of items are not costs. Baskets are for environments.baskets(...).")
        return TableStream(given)
    functions = getattr(given, "functions", given)
    if functions is not given and callable(functions):
        functions = functions()
    if not isinstance(functions, Iterable) or isinstance(functions, str | bytes):
        wanted = "one or its name, a stream, set functions, a table, or a function that returns one"
        raise InvalidType(
            f"The 'environment' of simulate must be {wanted}. Got {type(given).__name__} instead."
        )
    if rounds is None and not isinstance(functions, Sized):
        raise InvalidArgument(f"This {type(functions).__name__} may never end: give 'rounds', or a list.")
    cost_range = getattr(given, "cost_range", cost_range)
    if items is None and isinstance(getattr(given, "n", None), int):
        items = range(given.n)
    made = _set_functions(functions, items, cost_range, rounds)
    return FunctionStream(made, cost_range=cost_range, rounds=rounds)


def _set_functions(
    given: Iterable[Any], items: Items | None, cost_range: Range | None, rounds: int | None
) -> Iterator[Any]:
    """Python functions of the named items as set functions; anything else as it is."""
    seen: dict[int, tuple[Any, SetFunction]] = {}  # holds them, so that no other gets the same id
    sets = list[frozenset[Hashable]]()
    for function in itertools.islice(given, rounds):
        if isinstance(function, SetFunction) or not callable(function):
            yield function
            continue
        if items is None:
            raise InvalidArgument("The number of items of Python functions is not known: give 'n'.")
        if id(function) not in seen:
            if len(items) <= MOST_ITEMS_TO_ENUMERATE:
                sets = sets or sets_of(items)
                made: SetFunction = Table([number_or_nan(function(taken)) for taken in sets])
            elif cost_range is None:
                limit = f"Python functions of more than {MOST_ITEMS_TO_ENUMERATE} items need a range"
                raise InvalidArgument(f"{limit}: wrap them in FromCallable, with a 'value_range'.")
            else:
                made = _named_sets(function, items, cost_range)
            seen[id(function)] = function, made
        yield seen[id(function)][1]


def _named_sets(function: Callable[..., Any], items: Items, cost_range: Range) -> FromCallable:
    def value(chosen: frozenset[int]) -> float:
        return float(function(frozenset(items[i] for i in chosen)))

    return FromCallable(value, len(items), value_range=cost_range)
