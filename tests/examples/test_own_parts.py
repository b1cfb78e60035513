"""Authors of parts of their own find what they need in public packages."""

import ast
import importlib
import pathlib

import pytest

import discreet

ROOT = pathlib.Path(__file__).parents[2]
#: Whose parts are written in the gallery. Figures are drawn with `plots`.
AUTHORS = ["broken_mechanism", "own_policy", "own_set_function", "own_stream"]


@pytest.mark.parametrize("example", AUTHORS)
def test_examples_of_own_parts_need_nothing_else(example: str) -> None:
    """Every name they import comes from a public package, which lists it."""
    tree = ast.parse((ROOT / "examples" / "gallery" / f"{example}.py").read_text())
    taken = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in taken:
        module = node.module or ""
        drawing = module.startswith(("discreet.simulation", "discreet.plots"))
        if module.startswith("discreet.") and not drawing:
            assert module.removeprefix("discreet.") in discreet.__all__
            listed = getattr(importlib.import_module(module), "__all__", None)
            assert listed is None or {alias.name for alias in node.names} <= set(listed)
