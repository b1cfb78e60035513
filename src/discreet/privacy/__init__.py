"""What makes a release private: guarantees, sensitivities that are enforced, and exact noise.

Importing this package compiles nothing; the parts with kernels load on use.

Examples:
    >>> from discreet.privacy import Budget, VectorBound
    >>> Budget(epsilon=1.0, rounds_per_person=4).per_round, VectorBound.for_costs(0, 1).step
    (Fraction(1, 4), 4.76837158203125e-07)
    >>> grid = Grid(0.0, 1.0, units=100)
    >>> grid.of(0.75), grid.of(7.0), grid.of(float("nan")), grid.value(50)
    (50, 100, 0, 0.75)
    >>> print(Guarantee(epsilon=0.5).void("it has a seed"))
    NOT PRIVATE: it has a seed. The figures it would have otherwise: epsilon = 0.5, delta = 0,
    neighbours: replace one round.
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
