"""discreet.extending: one public place for what authors of parts need, and no second one."""

import ast
import importlib
import pathlib
import types

import pytest

import discreet
from discreet import extending

ROOT = pathlib.Path(__file__).parents[1]
PACKAGES = [
    name
    for name in discreet.__all__
    if isinstance(getattr(discreet, name), types.ModuleType) and name != "extending"
]
#: Whose parts are written in the gallery. Figures are drawn with `simulation`.
AUTHORS = ["broken_mechanism", "own_learner_part", "own_set_function", "own_stream"]


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_public_in_two_places(package: str) -> None:
    """Whoever reads a program finds each name under one address."""
    elsewhere = getattr(getattr(discreet, package), "__all__", ())
    assert not set(extending.__all__) & set(elsewhere)


@pytest.mark.parametrize("name", extending.__all__)
def test_everything_in_it_is_explained(name: str) -> None:
    """In its own words, or as a type in those of the page."""
    assert getattr(extending, name).__doc__
    assert name in (extending.__doc__ or "")


@pytest.mark.parametrize("example", AUTHORS)
def test_examples_of_own_parts_need_nothing_else(example: str) -> None:
    """Every name they import comes from a public package, which lists it."""
    tree = ast.parse((ROOT / "examples" / "gallery" / f"{example}.py").read_text())
    taken = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in taken:
        module = node.module or ""
        if module.startswith("discreet.") and not module.startswith("discreet.simulation"):
            assert module.removeprefix("discreet.") in discreet.__all__
            listed = getattr(importlib.import_module(module), "__all__", None)
            assert listed is None or {alias.name for alias in node.names} <= set(listed)
