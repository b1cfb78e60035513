"""The paper's tree: the layout of `BinaryTree` with noise of density exp(-|z|_2 / scale), made of floats.

For `discreet.paper`, and never private: the low bits of a sum of data and such noise give the data away
(Mironov 2012). `tests/prefix_sums/test_float_noise.py` carries out the attack.
"""

import math
from typing import NamedTuple

import numpy as np

from discreet.checks import FloatArray, positive_number
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.prefix_sums import binary, steps
from discreet.prefix_sums.steps import TreeState
from discreet.privacy.budget import Budget
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource

MADE_OF_FLOATS = "its noise is made of floating-point numbers, whose low bits give the data away"

_DROPPED_BITS = np.uint64(11)


class SphericalSteps(NamedTuple):
    """The tree with float noise, as compiled code sees it."""

    scale: float
    state: TreeState


class SphericalTree(binary.BinaryTree):
    """A binary tree whose nodes get spherical noise of scale levels * sensitivity / epsilon: never private.

    The `sensitivity` in L2 is a value, by default the true one, which `bound` enforces.
    """

    _own = ("horizon", "sensitivity")

    def __init__(
        self,
        dimension: int,
        horizon: int,
        bound: VectorBound,
        budget: Budget,
        *,
        sensitivity: float | None = None,
        source: BitSource | None = None,
    ) -> None:
        super().__init__(dimension, horizon, bound, budget, source=source)
        if budget.epsilon is None:
            raise InvalidArgument("The budget of SphericalTree must be in 'epsilon'. Got 'rho' instead.")
        enforced = math.sqrt(bound.squared_l2_distance(budget.neighbours)) * (1 + 1e-15) * bound.step
        self.sensitivity = enforced
        if sensitivity is not None:
            self.sensitivity = positive_number("SphericalTree", "sensitivity", sensitivity)
        reasons = [self._not_private_because] if self._not_private_because else []
        if self.sensitivity < enforced:
            reasons.append(f"its noise is for sensitivity {self.sensitivity:g}, the true one is {enforced:g}")
        self._not_private_because = "; ".join([*reasons, MADE_OF_FLOATS])
        scale = self.levels * self.sensitivity / bound.step / float(budget.per_round)
        state = steps.new_state(self.dimension, levels=self.levels, dtype=np.float64)
        self.steps = SphericalSteps(scale, state)
        self._released = np.zeros(self.dimension)

    @property
    def mean_variance(self) -> float:
        scale: float = self.steps.scale * self.bound.step
        return binary.mean_nodes(self.horizon) * (self.dimension + 1) * scale**2


# The layout is the binary tree's; only the noise is another.
steps.samples_needed.register(SphericalSteps)(binary.one_node)
steps.add_secret.register(SphericalSteps)(binary.enter_vector)


@steps.draw_noise.register(SphericalSteps)
@lean_kernel
def _draw_node(mechanism: SphericalSteps, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    n = mechanism.state.noise.size
    start = binary.entering_level(mechanism.state) * n
    return fill_spherical(mechanism.scale, mechanism.state.live[start : start + n], done, bits, cursor)


@lean_kernel
def fill_spherical(scale: float, out: FloatArray, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Fill `out` with one vector of density proportional to exp(-|z|_2 / scale), all or nothing.

    The direction is uniform, the length Gamma(n, scale): the sum of n exponentials.
    """
    n = out.size
    if done >= n or cursor + 2 * ((n + 1) // 2) + n > bits.size:
        return done, cursor
    _, cursor = fill_gaussian(1.0, out, 0, bits, cursor)
    square, length = 0.0, 0.0
    for i in range(n):
        square += out[i] * out[i]
        length -= scale * math.log(unit_float(bits[cursor + i]))
    for i in range(n):
        out[i] *= length / math.sqrt(square)
    return n, cursor + n


@lean_kernel
def fill_gaussian(sigma: float, out: FloatArray, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Fill ``out[done:]`` with normal deviates as far as the bits reach, two at a time (Box and Muller)."""
    while done < out.size and cursor + 2 <= bits.size:
        radius = sigma * math.sqrt(-2.0 * math.log(unit_float(bits[cursor])))
        angle = 2.0 * math.pi * unit_float(bits[cursor + 1])
        cursor += 2
        out[done] = radius * math.cos(angle)
        if done + 1 < out.size:
            out[done + 1] = radius * math.sin(angle)
        done += 2
    return min(done, out.size), cursor


@lean_kernel
def unit_float(drawn: np.uint64) -> float:
    """A float in (0, 1], from the upper 53 of 64 random bits."""
    return (np.float64(drawn >> _DROPPED_BITS) + 1.0) * 2.0**-53
