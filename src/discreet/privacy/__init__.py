"""What makes a release private: guarantees, sensitivities that are enforced, and exact noise.

Importing this package compiles nothing; the parts with kernels load on use.
"""

from typing import TYPE_CHECKING

from discreet.privacy.grid import Grid
from discreet.privacy.guarantee import Guarantee, Neighbours

if TYPE_CHECKING:
    from discreet.privacy import noise
    from discreet.privacy.sensitivity import VectorBound

__all__ = ["Grid", "Guarantee", "Neighbours", "VectorBound", "noise"]


def __getattr__(name: str) -> object:
    """Import what needs the compiler on first use (PEP 562)."""
    import importlib

    if name == "noise":
        return importlib.import_module("discreet.privacy.noise")
    if name == "VectorBound":
        return importlib.import_module("discreet.privacy.sensitivity").VectorBound
    raise AttributeError(f"module 'discreet.privacy' has no attribute {name!r}")
