"""What makes a release private: guarantees, sensitivities that are enforced, and exact noise.

Importing this package compiles nothing; the parts with kernels load on use.

Examples:
    >>> Guarantee(epsilon=0.5).composed(rounds_per_person=2).epsilon
    1.0
"""

import importlib
from typing import TYPE_CHECKING

from discreet.privacy.grid import Grid
from discreet.privacy.guarantee import Guarantee, Neighbours

if TYPE_CHECKING:
    from discreet.privacy import noise, sensitivity
    from discreet.privacy.budget import Budget
    from discreet.privacy.sensitivity import VectorBound

__all__ = ["Budget", "Grid", "Guarantee", "Neighbours", "VectorBound", "noise", "sensitivity"]

_HOME = {"Budget": "budget", "VectorBound": "sensitivity"}


def __getattr__(name: str) -> object:
    """Import what needs the compiler on first use (PEP 562)."""
    if name not in ("noise", "sensitivity", *_HOME):
        raise AttributeError(f"module 'discreet.privacy' has no attribute {name!r}")
    module = importlib.import_module(f"discreet.privacy.{_HOME.get(name, name)}")
    return getattr(module, name) if name in _HOME else module
