"""The paper's tree: the layout of `BinaryTree` with noise of density exp(-|z|_2 / scale).

It is here for `discreet.paper`, which reproduces the published algorithms and is its only intended user;
`KAryTree` has exact noise and far less of it.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np

from discreet.checks import positive_number
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.prefix_sums import binary
from discreet.prefix_sums.base import common_settings
from discreet.prefix_sums.steps import add_secret, check_round, draw_noise, samples_needed
from discreet.prefix_sums.tree import TreeState, new_state
from discreet.privacy.budget import Budget
from discreet.privacy.float_noise import MADE_OF_FLOATS, fill_spherical
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import BitArray, BitSource


class SphericalSteps(NamedTuple):
    """The tree with float noise, as compiled code sees it."""

    scale: float
    state: TreeState


class SphericalTree(binary.BinaryTree):
    """A binary tree whose nodes get spherical noise of scale levels * D2 / epsilon.

    Args:
        dimension: Length of the vectors.
        horizon: The number of rounds T.
        bound: What each vector is forced to satisfy.
        budget: What one person may lose, in epsilon.
        sensitivity: The distance D2 the noise is made for, as a value; by default the
            true one, which `bound` enforces.
        source: Random bits; cryptographic by default.

    Formal guarantees:
        None. Over the real numbers one round enters at most ``levels`` nodes, each moved by at
        most D2 in L2 (`docs/guarantees.md#binary-tree`); but this noise is made of floats.
    """

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
            reasons.append(
                f"its noise is made for a sensitivity of {self.sensitivity:g}, the true one is {enforced:g}"
            )
        self._not_private_because = "; ".join([*reasons, MADE_OF_FLOATS])
        self._scale = self.levels * self.sensitivity / bound.step / float(budget.per_round)
        self._state = new_state(self.dimension, levels=self.levels, rows=self.levels, dtype=np.float64)
        self._released = np.zeros(self.dimension)

    @property
    def mean_variance(self) -> float:
        """Mean over all rounds of the noise variance per coordinate: (n + 1) scale^2 a node."""
        node = (self.dimension + 1) * (self._scale * self.bound.step) ** 2
        return binary.mean_nodes(self._horizon) * node

    @property
    def steps(self) -> SphericalSteps:
        """The compiled mechanism."""
        return SphericalSteps(self._scale, self._state)

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"sensitivity": self.sensitivity}

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: BitSource) -> Self:
        own = {name: settings[name] for name in ("horizon", "sensitivity")}
        return cls(**common_settings(settings), **own, source=source)


# The layout is the binary tree's; only the noise is another.
samples_needed.register(SphericalSteps)(binary.one_node)
add_secret.register(SphericalSteps)(binary.enter_vector)
check_round.register(SphericalSteps)(binary.check_binary_digits)


@draw_noise.register(SphericalSteps)
@lean_kernel
def _draw_node(mechanism: SphericalSteps, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    n = mechanism.state.noise.size
    start = binary.entering_level(mechanism.state) * n
    return fill_spherical(mechanism.scale, mechanism.state.live[start : start + n], done, bits, cursor)
