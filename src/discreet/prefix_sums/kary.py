"""Prefix sums by k-ary trees with subtraction: about seven times less variance than a binary tree.

Reference: Andersson, Pagh, Steiner, Torkamani, "Count on Your Elders: Laplace vs Gaussian Noise", 2024.
"""

import functools
from typing import Any, NamedTuple

import numpy.typing as npt

from discreet.checks import IntArray, integer, invalid_argument
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.prefix_sums import steps
from discreet.prefix_sums.base import CompiledPrefixSum
from discreet.prefix_sums.steps import TreeState
from discreet.privacy import noise
from discreet.privacy.budget import Budget
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource

_LARGEST_ARITY = 401


class Shape(NamedTuple):
    """An odd arity k and a height h; it can count (k^h - 1) / 2 rounds."""

    arity: int
    height: int

    @property
    def reach(self) -> int:
        """The largest digit; the number of nodes kept per level."""
        return (self.arity - 1) // 2


class KArySteps(NamedTuple):
    """A k-ary tree with subtraction, as compiled code sees it."""

    law: noise.Law
    shape: Shape
    state: TreeState

    @classmethod
    def of(cls, shape: Shape, law: noise.Law, n: int) -> "KArySteps":
        """Before the first round: row 0 for new noise, then the subtracted nodes of each level."""
        rows = 1 + max(0, shape.height - 1) * shape.reach
        return cls(law, shape, steps.new_state(n, levels=shape.height, rows=rows, right_rows=shape.height))


class KAryTree(CompiledPrefixSum):
    """A tree in which a prefix may also be a large node *minus* some small ones.

    Level l cuts time into nodes of k^l rounds, with an odd `arity` k: by default the one with the least mean
    variance. Write t in balanced base k. From the top level down, a digit d > 0 appends the next d nodes, a
    digit d < 0 takes the last abs(d) nodes off again; their noise may be needed before their data.

    Formal guarantees:
        Neighbours: histories that differ in one round, inputs adaptive. Sensitivity: one round lies in at
        most ``height`` nodes, each moved by at most D1 in L1, as `bound` enforces. Noise: discrete Laplace of
        scale height * D1 / epsilon. Proof: `docs/guarantees.md#tree-with-subtraction`.
    """

    _proof = "tree-with-subtraction"
    _own = ("horizon", "arity")
    horizon: int

    def __init__(
        self,
        dimension: int,
        horizon: int,
        bound: VectorBound,
        budget: Budget,
        *,
        arity: int | None = None,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(dimension, horizon, bound, budget, source)
        require_epsilon("KAryTree", budget)
        self.shape = best_shape(self.horizon) if arity is None else shape_for(arity, self.horizon)
        self.arity = self.shape.arity
        self.steps = KArySteps.of(self.shape, self._law_for(self.shape.height), self.dimension)

    @property
    def mean_variance(self) -> float:
        return mean_nodes(self.shape, self.horizon) * noise.variance(self.steps.law) * self.bound.step**2


def require_epsilon(owner: str, budget: Budget) -> None:
    """Refuse a budget in rho: subtracted nodes draw noise before their data (see the proof)."""
    if budget.epsilon is None:
        raise InvalidArgument(f"The budget of {owner} must be in 'epsilon'. For 'rho' use BinaryTree.")


def shape_for(arity: int, rounds: int) -> Shape:
    """The lowest tree of an odd arity that counts so many rounds."""
    k, height = integer("KAryTree", "arity", arity, least=3), 0
    if k % 2 == 0:
        raise invalid_argument("KAryTree", "arity", "odd", arity)
    while (k**height - 1) // 2 < rounds:
        height += 1
    return Shape(k, height)


@functools.lru_cache(maxsize=256)
def best_shape(rounds: int) -> Shape:
    """The shape of least mean variance."""
    shapes = (shape_for(k, rounds) for k in range(3, _LARGEST_ARITY + 1, 2))
    return min(shapes, key=lambda shape: mean_nodes(shape, rounds) * shape.height**2)


def mean_nodes(shape: Shape, rounds: int) -> float:
    """The mean over so many rounds of the number of nodes in a prefix: the sum of absolute digits."""
    k, reach = shape.arity, shape.reach
    sizes = [abs((q + reach) % k - reach) for q in range(k)]
    used = 0
    for level in range(shape.height):
        width = k**level  # the digit of t changes where t + (width-1)/2 passes a multiple of width
        blocks, rest = divmod(rounds + (width - 1) // 2 + 1, width)
        cycles, tail = divmod(blocks, k)
        used += width * (cycles * sum(sizes) + sum(sizes[:tail])) + rest * sizes[tail]
    return used / rounds


@lean_kernel
def wrapping_levels(mechanism: KArySteps) -> int:
    """How many of the lowest digits are at their largest, so that the next round carries."""
    reach = (mechanism.shape.arity - 1) // 2
    level = 0
    while mechanism.state.digits[level] == reach:
        level += 1
    return level


@steps.samples_needed.register(KArySteps)
@lean_kernel
def _samples_of_rows(mechanism: KArySteps) -> int:
    """The first rows of noise, as many as the next round needs new: row 0, as a rule.

    It becomes the noise of a node that is added now or, where the round drops a subtracted node, of the node
    that takes its place when the level wraps next. Only for the first wrap are more rows needed.
    """
    shape, state = mechanism.shape, mechanism.state
    level = wrapping_levels(mechanism)
    for upper in range(level, shape.height):
        if state.digits[upper] != 0:
            return state.noise.size
    return (1 + level * ((shape.arity - 1) // 2)) * state.noise.size


@steps.draw_noise.register(KArySteps)
@lean_kernel
def _draw_rows(mechanism: KArySteps, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    rows = mechanism.state.live[: _samples_of_rows(mechanism)]
    return noise.fill(mechanism.law, rows, done, bits, cursor)


@steps.add_secret.register(KArySteps)
@lean_kernel
def _enter_vector(mechanism: KArySteps, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Change the nodes in use to those of the next round; write the vector plus the change of the noise."""
    state, n = mechanism.state, mechanism.state.noise.size
    reach = (mechanism.shape.arity - 1) // 2
    level = wrapping_levels(mechanism)
    for i in range(n):
        released[i] = vector[i] - state.noise[i]
    for lower in range(level):
        state.digits[lower] = -reach
        for i in range(n):
            state.noise[i] -= state.right[lower * n + i]
            state.right[lower * n + i] = 0
        for row in range(1 + lower * reach, 1 + (lower + 1) * reach):
            for i in range(n):
                state.noise[i] -= state.live[row * n + i]
    digit = state.digits[level]
    if digit < 0:
        row = level * reach - digit  # 1 + level * reach + (abs(digit) - 1): the leftmost one goes
        for i in range(n):
            state.noise[i] += state.live[row * n + i]
            state.live[row * n + i] = state.live[i]
    else:
        for i in range(n):
            state.noise[i] += state.live[i]
            state.right[level * n + i] += state.live[i]
    state.digits[level] = digit + 1
    for i in range(n):
        released[i] += state.noise[i]
