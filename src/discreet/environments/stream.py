"""Streams of cost functions: what a simulated learner meets, round by round."""

from typing import Any

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic


@generic
def chain_costs(stream: Any, t: int, x: FloatArray, order: IntArray, costs: FloatArray) -> None:
    """Write the n+1 costs of round t along `order` into `costs`; adaptive streams may look at x."""


@generic
def prefix_cost(stream: Any, t: int, x: FloatArray, order: IntArray, size: int) -> float:
    """The cost in round t of the first `size` items of `order`."""
    raise AssertionError("declares a generic function")
