"""Prefix sums by a binary tree: each is a sum of at most one node per level."""

from typing import Any, NamedTuple, Self

import numpy.typing as npt

from discreet.checks import IntArray, integer
from discreet.compiled import lean_kernel
from discreet.prefix_sums.base import MOST_ROUNDS, CompiledPrefixSum, common_settings
from discreet.prefix_sums.steps import add_secret, check_round, draw_noise, samples_needed
from discreet.prefix_sums.tree import TreeState, draw_rows, new_state, round_of
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource


class BinarySteps(NamedTuple):
    """A binary tree with exact discrete noise, as compiled code sees it."""

    law: noise.Law
    state: TreeState


class BinaryTree(CompiledPrefixSum):
    """The classical tree: round t is the sum of the nodes named by the binary digits of t.

    A round lies in one node per level, of which there are ceil(log2 T) + 1. Every node
    gets independent noise, Laplace for a budget in epsilon and Gaussian for one in rho.

    Args:
        dimension: Length of the vectors.
        horizon: The number of rounds T, fixed in advance.
        bound: What each vector is forced to satisfy.
        budget: What one person may lose.
        source: Random bits; cryptographic by default.

    Formal guarantees:
        Neighbours: histories that differ in one round, inputs adaptive. Sensitivity: one
        round enters at most ``levels`` nodes, each moved by at most ``bound.l1_distance()``
        (or ``bound.squared_l2_distance()``), in exact integers. Noise: discrete Laplace
        of scale levels * D1 / epsilon, or discrete Gaussian with sigma^2 = levels * D2^2 / (2 rho).
        Proof: `docs/guarantees.md#binary-tree`.

    Examples:
        >>> import numpy as np
        >>> bound = VectorBound(coordinate=10, l1=20)
        >>> tree = BinaryTree(3, 1000, bound, Budget(epsilon=1.0))
        >>> released = tree.add(np.array([4, -2, 0]))
        >>> released.values.shape, released.round, tree.guarantee.epsilon
        ((3,), 1, 1.0)
    """

    def __init__(
        self,
        dimension: int,
        horizon: int,
        bound: VectorBound,
        budget: Budget,
        *,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(dimension, bound, budget, source)
        self._horizon = integer("BinaryTree", "horizon", horizon, least=1, most=MOST_ROUNDS)
        self.levels = (self._horizon - 1).bit_length() + 1
        self._law = self._law_for(self.levels)
        self._state = new_state(self.dimension, levels=self.levels, rows=self.levels)

    @property
    def horizon(self) -> int:
        """The number of rounds it can take."""
        return self._horizon

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to one person."""
        promise = self.budget.guarantee(proof="binary-tree", horizon=self._horizon)
        return promise.void(self._not_private_because)

    @property
    def mean_variance(self) -> float:
        """Mean over all rounds of the noise variance per coordinate of a released sum."""
        return mean_nodes(self._horizon) * noise.variance(self._law) * self.bound.step**2

    @property
    def steps(self) -> Any:
        """The compiled mechanism."""
        return BinarySteps(self._law, self._state)

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"horizon": self._horizon}

    def _load(self, saved: Any) -> None:
        super()._load(saved)
        self.round = round_of(self._state.digits, 2, least=0, most=1, horizon=self._horizon)

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        return cls(**common_settings(settings), horizon=settings["horizon"], source=source)


def mean_nodes(rounds: int) -> float:
    """The mean number of binary ones in 1..rounds: how many nodes make up a prefix.

    Examples:
        >>> mean_nodes(4)  # 1, 10, 11, 100
        1.25
    """
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


@lean_kernel
def advance(state: TreeState, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Add a node, drop those that it contains; write the vector plus the change of the noise."""
    n = state.noise.size
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


@samples_needed.register(BinarySteps)
@lean_kernel
def one_node(mechanism: Any) -> int:
    """A round completes one node."""
    size: int = mechanism.state.noise.size
    return size


@draw_noise.register(BinarySteps)
@lean_kernel
def _draw_node(mechanism: BinarySteps, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    level = entering_level(mechanism.state)
    return draw_rows(mechanism.law, mechanism.state, level, level + 1, done, bits, cursor)


@add_secret.register(BinarySteps)
@lean_kernel
def enter_vector(mechanism: Any, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Advance the tree of any mechanism laid out like this one."""
    advance(mechanism.state, vector, released)


@check_round.register(BinarySteps)
def check_binary_digits(mechanism: Any) -> None:
    """The digits of any mechanism laid out like this one are those of a round."""
    round_of(mechanism.state.digits, 2, least=0, most=1)
