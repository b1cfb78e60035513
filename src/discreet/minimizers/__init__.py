"""Exact minimisation of submodular set functions: the best fixed set in hindsight."""

from discreet.minimizers.dispatch import minimize
from discreet.minimizers.result import Minimum

__all__ = ["Minimum", "minimize"]
