"""Prefix sums by a binary tree: each is a sum of at most one node per level."""

from typing import Any, NamedTuple

import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import lean_kernel
from discreet.prefix_sums import steps
from discreet.prefix_sums.base import PrefixSum
from discreet.prefix_sums.steps import TreeState
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource


class BinarySteps(NamedTuple):
    """A binary tree with exact discrete noise, as compiled code sees it."""

    law: noise.Law
    state: TreeState


class BinaryTree(PrefixSum):
    """The classical tree: round t is the sum of the nodes named by the binary digits of t.

    Formal guarantees:
        Neighbours: histories that differ in one round, inputs adaptive. Sensitivity: one round enters at most
        ``levels`` nodes, each moved by D1 in L1 and D2 in L2, as `bound` enforces. Noise: discrete Laplace of
        scale levels * D1 / epsilon, or discrete Gaussian with sigma^2 = levels * D2^2 / (2 rho), on every
        node. Proof: `docs/guarantees.md#binary-tree`.
    """

    _proof = "binary-tree"
    _own: tuple[str, ...] = ("horizon",)
    horizon: int

    def __init__(
        self,
        dimension: int,
        horizon: int,
        bound: VectorBound,
        budget: Budget,
        *,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(dimension, horizon, bound, budget, source)
        self.levels = (self.horizon - 1).bit_length() + 1
        state = steps.new_state(self.dimension, levels=self.levels)
        self.steps: Any = BinarySteps(self.budget.law(bound, self.levels), state)

    @property
    def mean_variance(self) -> float:
        return mean_nodes(self.horizon) * noise.variance(self.steps.law) * self.bound.step**2


def mean_nodes(rounds: int) -> float:
    """The mean number of binary ones in 1..rounds: how many nodes make up a prefix."""
    ones = 0
    for level in range(rounds.bit_length()):
        full, rest = divmod(rounds + 1, 2 << level)
        ones += (full << level) + max(0, rest - (1 << level))
    return ones / rounds


@lean_kernel
def entering_level(state: TreeState) -> int:
    """The level of the node that the next round completes: the lowest digit that is zero."""
    level = 0
    while state.digits[level] == 1:
        level += 1
    return level


@steps.samples_needed.register(BinarySteps)
@lean_kernel
def one_node(mechanism: Any) -> int:
    """A round completes one node."""
    size: int = mechanism.state.noise.size
    return size


@steps.draw_noise.register(BinarySteps)
@lean_kernel
def _draw_node(mechanism: BinarySteps, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    state, n = mechanism.state, mechanism.state.noise.size
    start = entering_level(state) * n
    return noise.fill(mechanism.law, state.live[start : start + n], done, bits, cursor)


@steps.add_secret.register(BinarySteps)
@lean_kernel
def enter_vector(mechanism: Any, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Add a node, drop those that it contains; write the vector plus the change of the noise."""
    state, n = mechanism.state, mechanism.state.noise.size
    level = entering_level(state)
    for i in range(n):
        released[i] = vector[i] - state.noise[i]
    for lower in range(level):
        state.digits[lower] = 0
        for i in range(n):
            state.noise[i] -= state.live[lower * n + i]
    state.digits[level] = 1
    for i in range(n):
        state.noise[i] += state.live[level * n + i]
        released[i] += state.noise[i]
