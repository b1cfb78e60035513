"""Environments: recipes that make a stream of any length from any seed, and the names they have."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ParamSpec

from discreet import checks
from discreet.environments.stream import Stream
from discreet.errors import InvalidArgument

P = ParamSpec("P")


@dataclasses.dataclass(frozen=True)
class Environment:
    """A named recipe for streams.

    Attributes:
        name: What tables and the command line call it.
        make: A function of rounds and a seed that returns a stream.
        items: The names of the items.
        cost_range: Bounds on all costs.
        about: One sentence that describes it.
        parameters: The arguments it was made with, for tables and reports. If one is called `path`, results
            are marked as made from a file of people's data.
        most_rounds: The longest possible stream, if the data are limited.
        rewards: Whether its numbers are rewards, for learners with `maximize=True`; not those of named ones.
    """

    name: str
    make: Callable[[int, int], Stream]
    items: tuple[Hashable, ...]
    cost_range: tuple[float, float] = (-1.0, 1.0)
    about: str = ""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    most_rounds: int | None = None
    rewards: bool = False

    @property
    def n(self) -> int:
        """The number of items."""
        return len(self.items)

    def stream(self, rounds: int, seed: int = 0) -> Stream:
        """A stream of the given number of rounds.

        Examples:
            >>> from discreet.environments import modular
            >>> modular(n=4, gap=0.5).stream(100, seed=1).rounds
            100
        """
        rounds = checks.integer(self.name, "rounds", rounds, 1, self.most_rounds)
        return self.make(rounds, checks.integer(self.name, "seed", seed, 0))


#: Name -> the function that makes the environment. The decorator `named` fills it.
ENVIRONMENTS: dict[str, Callable[..., Environment]] = {}


def named(recipe: Callable[P, Environment]) -> Callable[P, Environment]:
    """Register a function under its own name, hyphens for underscores.

    Its first line becomes `about`, and its arguments other than `n` the parameters, unless it sets them.
    """
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
    """The environment with a name, made with the given parameters.

    Examples:
        >>> find("modular", n=6, gap=0.1).n
        6
    """
    if name not in ENVIRONMENTS:
        raise checks.unknown_name(
            f"There is no environment called {name!r}.", name, sorted(ENVIRONMENTS), others=", or MODULE:NAME"
        )
    check_parameters(name, ENVIRONMENTS[name], parameters)
    return ENVIRONMENTS[name](**parameters)


def check_parameters(name: str, make: Callable[..., object], given: Mapping[str, object]) -> None:
    """Raise if a function has no such parameter, or needs one that is not given."""
    known = inspect.signature(make).parameters
    unknown = sorted(set(given) - set(known))
    if unknown:
        listed = f"It has: {', '.join(known)}." if known else "It has none."
        raise InvalidArgument(f"The environment {name!r} has no parameter {unknown[0]!r}. {listed}")
    for parameter in known.values():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and parameter.name not in given and not variadic:
            raise InvalidArgument(f"The environment {name!r} needs the parameter {parameter.name!r}.")
