"""Docstrings: whatever `discreet` offers at its top is shown in use."""

import types

import pytest

import discreet

NAMES = [name for name in discreet.__all__ if not name.startswith("__")]
#: Packages of many separate things, each with an example of its own.
SHELVES = {"auditing", "environments", "paper", "report"}


@pytest.mark.parametrize("name", sorted(set(NAMES) - SHELVES))
def test_every_public_name_has_an_example(name: str) -> None:
    """One that is run, as all doctests are."""
    assert ">>>" in (getattr(discreet, name).__doc__ or "")


@pytest.mark.parametrize("name", sorted(SHELVES))
def test_a_shelf_says_what_stands_on_it(name: str) -> None:
    """In at least a sentence."""
    module = getattr(discreet, name)
    assert isinstance(module, types.ModuleType)
    assert (module.__doc__ or "").count(".") >= 1
