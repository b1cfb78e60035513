"""What can take the place of a named environment: streams, functions, tables, a user's own code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from typing import Any, TypeGuard

import numpy as np

from discreet import checks
from discreet.environments.pool import TableStream
from discreet.environments.stream import ENVIRONMENTS, Environment, FunctionStream, Stream, check_given, find
from discreet.errors import DiscreetError, InvalidArgument, InvalidType
from discreet.imports import failed, load_object
from discreet.minimizers.dispatch import MOST_ITEMS_TO_ENUMERATE
from discreet.set_functions import FromCallable, SetFunction

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
            - a table of costs: an array as for `TableStream`, or a mapping from every set of items to its
              cost, or to a sequence of its costs in all rounds;
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
    """Whether an environment takes a number of items `n`; pictures have a width and a height."""
    found = load_object(name) if ":" in name else ENVIRONMENTS.get(name)
    return _is_function(found) and "n" in inspect.signature(found).parameters


def _is_function(given: Any) -> TypeGuard[Callable[..., Any]]:
    value = isinstance(given, SetFunction | Iterable) or hasattr(given, "functions")
    return isinstance(given, type) or (callable(given) and not value)


def _converted(
    name: str, given: Any, items: Items | None, rounds: int | None, rewards: bool, arguments: dict[str, Any]
) -> Environment:
    function: Callable[..., Any] = given if _is_function(given) else lambda: given
    if function is given:
        name = name or getattr(given, "__name__", type(given).__name__)
    known = inspect.signature(function).parameters
    if "n" in known and items is not None:
        arguments = {"n": len(items)} | arguments
    varying = {"rounds", "seed"} & set(known) - set(arguments)
    check_given(name, function, arguments | dict.fromkeys(varying))
    if "rounds" in varying and rounds is None:
        raise InvalidArgument(f"{name} is a function of the number of rounds: give 'rounds'.")
    size = arguments.get("n", known["n"].default if "n" in known else None)
    names = range(size) if items is None and isinstance(size, int) else items
    declared = None if isinstance(given, type) else getattr(given, "cost_range", None)

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
        return _from_mapping(given, items, rounds)
    row = next(iter(given), None) if isinstance(given, list | tuple) else given
    if isinstance(row, list | tuple | np.ndarray):
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
    made = (_as_set_function(function, items, cost_range) for function in functions)
    return FunctionStream(made, cost_range=cost_range, rounds=rounds)


def _as_set_function(function: Any, items: Items | None, cost_range: Range | None) -> Any:
    """A Python function of the named items as a set function; anything else as it is."""
    if isinstance(function, SetFunction) or not callable(function):
        return function
    if items is None:
        raise InvalidArgument("The number of items of Python functions is not known: give 'n'.")
    few = len(items) <= MOST_ITEMS_TO_ENUMERATE
    if not few and cost_range is None:
        limit = f"Python functions of more than {MOST_ITEMS_TO_ENUMERATE} items need a range"
        raise InvalidArgument(f"{limit}: wrap them in FromCallable, with a 'value_range'.")
    made = FromCallable(
        lambda chosen: function(frozenset(items[i] for i in chosen)), len(items), value_range=cost_range
    )
    return made.table() if few else made


def _from_mapping(costs: Mapping[Any, Any], items: Items | None, rounds: int | None) -> Stream:
    names = range(len(costs).bit_length() - 1) if items is None else items
    try:
        by_set = {frozenset(key): value for key, value in costs.items()}
    except TypeError:
        raise InvalidType("The keys of a table of costs must be sets of items, such as (0, 2).") from None
    count = 2 ** len(names)
    if len(by_set) != count:
        raise InvalidArgument(f"A table for {len(names)} items must have {count} sets. Got {len(by_set)}.")
    sets = [frozenset(name for i, name in enumerate(names) if code >> i & 1) for code in range(count)]
    for missing in set(sets) - set(by_set):
        raise InvalidArgument(f"The table has no cost for the set {sorted(missing, key=str)}.")
    listed = [by_set[taken] for taken in sets]
    if any(np.ndim(entry) for entry in listed):
        return TableStream(np.transpose(checks.finite_matrix("simulate", "environment", listed)))
    if rounds is None:
        raise InvalidArgument("A table with one cost per set is the same in every round: give 'rounds'.")
    return TableStream([listed], np.zeros(rounds, dtype=np.int64))
