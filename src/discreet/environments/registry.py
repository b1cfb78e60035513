"""Environments by name: what the command line and sweeps can ask for."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from discreet.environments.against_the_point import AgainstThePoint
from discreet.environments.cut_pools import cuts_with_prices
from discreet.environments.directed_cuts import DirectedCuts
from discreet.environments.environment import Environment
from discreet.environments.item_signs import ItemSigns
from discreet.errors import InvalidArgument, UnknownName


def modular(n: int = 8, gap: float = 0.5) -> Environment:
    """Each round one item matters; the best set takes every other item, by a gap."""
    return Environment(
        "modular",
        lambda rounds, seed: ItemSigns(n, rounds, gap, seed=seed),
        tuple(range(n)),
        (-1.0, 1.0),
        "Each round concerns one item; every other item is worth taking.",
        {"gap": gap},
    )


def cuts(n: int = 8, favoured: float = 0.0) -> Environment:
    """Each round one directed edge is cut or not; the empty and the full set are best."""
    return Environment(
        "cuts",
        lambda rounds, seed: DirectedCuts(n, rounds, favoured, seed=seed),
        tuple(range(n)),
        (-1.0, 1.0),
        "Each round one directed edge must not be cut; taking nothing and taking all are best.",
        {"favoured": favoured},
    )


def priced_cuts(n: int = 8, edge: float = 0.2, bias: float = 1.0, spread: float = 1.0) -> Environment:
    """Random cuts with prices; the best set is neither empty nor full."""
    return Environment(
        "priced-cuts",
        lambda rounds, seed: cuts_with_prices(n, rounds, edge=edge, bias=bias, spread=spread, seed=seed),
        tuple(range(n)),
        (-1.0, 1.0),
        "Random cuts with prices; the best set is neither empty nor full.",
        {"edge": edge, "bias": bias, "spread": spread},
    )


def adversary(n: int = 8) -> Environment:
    """An adversary that sets the sign of a random item against the learner's point."""
    return Environment(
        "adversary",
        lambda rounds, seed: AgainstThePoint(n, rounds, seed=seed),
        tuple(range(n)),
        (-1.0, 1.0),
        "Each round a random item is made costly on the side that the learner leans to.",
    )


#: Name -> the function that makes the environment.
ENVIRONMENTS: dict[str, Callable[..., Environment]] = {
    "adversary": adversary,
    "cuts": cuts,
    "modular": modular,
    "priced-cuts": priced_cuts,
}


def find(name: str, **parameters: Any) -> Environment:
    """The environment of a name, with parameters as its function takes them.

    Examples:
        >>> find("modular", n=6, gap=0.1).n
        6
    """
    if name not in ENVIRONMENTS:
        near = difflib.get_close_matches(name, ENVIRONMENTS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownName(
            f"There is no stream called {name!r}.{hint} Known: {', '.join(sorted(ENVIRONMENTS))}."
        )
    make = ENVIRONMENTS[name]
    unknown = sorted(set(parameters) - set(inspect.signature(make).parameters))
    if unknown:
        known = ", ".join(inspect.signature(make).parameters)
        raise InvalidArgument(f"The stream {name!r} has no parameter {unknown[0]!r}. It has: {known}.")
    return make(**parameters)
