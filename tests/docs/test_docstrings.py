"""Docstrings: whatever is public, and so in the reference, is shown in use by an example that is run."""

import doctest
import functools
import importlib
import pathlib
import types
from typing import Any

import discreet

PAGES = pathlib.Path(__file__).parents[2] / "docs" / "api"
#: Packages that the reference shows in part; all they export is public.
IN_PART = ["discreet.learners", "discreet.minimizers", "discreet.privacy", "discreet.simulation"]
#: Packages of many separate things, each with an example of its own.
SHELVES = {"auditing", "report"}
TOP = [name for name in discreet.__all__ if not name.startswith("__")]


def referred() -> list[str]:
    """What the pages of the reference show: modules, and single things."""
    lines = [line for page in sorted(PAGES.glob("*.md")) for line in page.read_text().splitlines()]
    return [line.removeprefix("::: ") for line in lines if line.startswith("::: ")]


def found(address: str) -> Any:
    """The module or the thing of this address."""
    try:
        return importlib.import_module(address)
    except ModuleNotFoundError:
        module, _, name = address.rpartition(".")
        return getattr(importlib.import_module(module), name)


def things_of(module: types.ModuleType) -> dict[str, Any]:
    """The classes and functions that a module offers: those it lists, or those it defines."""
    listed = getattr(module, "__all__", None)
    names = [name for name in vars(module) if not name.startswith("_")] if listed is None else listed
    things = {name: getattr(module, name) for name in names}
    return {
        f"{module.__name__}.{name}": thing
        for name, thing in things.items()
        if hasattr(thing, "__qualname__") and not isinstance(thing, types.GenericAlias)
        if listed is not None or thing.__module__ == module.__name__
    }


def public_things() -> dict[str, Any]:
    """Every public class and function, by one of its addresses."""
    addresses = [f"discreet.{name}" for name in TOP] + IN_PART + referred()
    things: dict[str, Any] = {}
    for address in addresses:
        thing = found(address)
        things |= things_of(thing) if isinstance(thing, types.ModuleType) else {address: thing}
    once = {id(thing): address for address, thing in things.items()}
    return {address: things[address] for address in once.values()}


THINGS = public_things()
#: That an error is raised is shown, and tested, where it is raised.
ERRORS = {
    address
    for address, thing in THINGS.items()
    if isinstance(thing, type) and issubclass(thing, Exception) and thing is not discreet.DiscreetError
}


@functools.cache
def examples_in(module: str) -> frozenset[str]:
    """The names in a module for which a doctest is collected, as pytest collects it."""
    tests = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    return frozenset(test.name.removeprefix(f"{module}.") for test in tests if test.examples)


def has_example(thing: Any) -> bool:
    """One that is run, as all doctests are: its own, or for a class that of one of its public methods."""
    own = thing.__qualname__
    shown = {name for name in examples_in(thing.__module__) if f"{name}.".startswith(f"{own}.")}
    return any("._" not in name for name in shown)


def test_every_public_name_has_an_example() -> None:
    """The packages at the top too, in their own docstrings; parts and siblings are shown there, together."""
    parts = (
        "baselines",
        "bounds",
        "client",
        "environments",
        "kernel",
        "learners.arguments",
        "learners.feedback",
        "lovasz",
        "paper",
        "policies",
        "prefix_sums",
        "privacy",
        "randomizers",
        "randomness",
        "set_functions",
    )
    prefixes = tuple(f"discreet.{part}." for part in parts)
    users = {address for address in THINGS if not address.startswith(prefixes)} - ERRORS
    assert [address for address in users if not has_example(THINGS[address])] == []
    silent = [name for name in set(TOP) - SHELVES if ">>>" not in (getattr(discreet, name).__doc__ or "")]
    assert silent == []
