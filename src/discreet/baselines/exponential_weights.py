"""Exponential weights over all subsets with noised costs: the private bandit one would take off the shelf."""

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np

from discreet import checks
from discreet.checks import FloatArray, IntArray
from discreet.compiled import kernel, lean_kernel
from discreet.learners.arguments import keeps_arguments, named_items
from discreet.learners.core import choose, learn_cost, put_first
from discreet.learners.draw import PROBABILITY, SIZE, Draw
from discreet.learners.feedback import BanditFeedback
from discreet.privacy.noise import Law, fill
from discreet.privacy.rational import privacy_loss
from discreet.privacy.sensitivity import to_units
from discreet.privacy.uniform import NEED_MORE_BITS, uniform_float
from discreet.randomizers.laplace import LaplaceOnGrid
from discreet.randomness import BitArray, BitSource, Seed, as_source

#: All 2^n sets are arms.
MOST_ITEMS = 12


class ArmsCore(NamedTuple):
    """One estimated loss per subset, coded by its bits."""

    law: Law
    low: float
    high: float
    units: int
    eta: float
    gamma: float
    losses: FloatArray
    fresh: IntArray
    x: FloatArray
    rounds: IntArray


class ExponentialWeights(BanditFeedback):
    """Every subset is an arm of Exp3; each cost gets Laplace noise on arrival.

    Args:
        n: The number of items (at most 12), or their names.
        T: The number of rounds, for the default step.
        epsilon: Privacy loss.
        M: Costs lie in [-M, M]; others are clipped.
        eta: The step; sqrt(ln(K) / (T K (M^2 + 8 M^2 / epsilon^2))) by default, K = 2^n.
        gamma: Uniform exploration; K * eta * M, at most 1/2, by default.
        seed: Makes a run repeatable and not private.
        source: Random bits, instead of a seed.

    Formal guarantees:
        Neighbours: streams that differ in one function. A cost is clipped to [-M, M], put on an integer
        grid, and noised at once with discrete Laplace noise of scale 2M / epsilon; everything
        else is post-processing. Local. Proof: `docs/guarantees.md#bandit-loop`.

    Examples:
        >>> learner = ExponentialWeights(["tea", "milk"], T=1000, epsilon=1.0)
        >>> learner.point  # all four sets are as likely at first
        array([0.5, 0.5])
        >>> learner.tell(learner.ask(), 0.7)
    """

    _takes_available = False

    @keeps_arguments
    def __init__(
        self,
        n: int | Iterable[Hashable],
        T: int,
        epsilon: float,
        M: float = 1.0,
        *,
        eta: float | None = None,
        gamma: float | None = None,
        seed: Seed | None = None,
        source: BitSource | None = None,
    ) -> None:
        owner = "ExponentialWeights"
        items = named_items(owner, n)
        size = checks.integer(owner, "number of items", len(items), 1, MOST_ITEMS)
        T, M = checks.integer(owner, "T", T, 1), checks.positive_number(owner, "M", M)
        epsilon = float(privacy_loss(owner, "epsilon", epsilon))
        arms = 2**size
        bits = as_source(source, seed, owner=owner)
        randomizer = LaplaceOnGrid(epsilon, (-M, M), source=bits)
        default = math.sqrt(math.log(arms) / (T * arms * M**2 * (1 + 8 / epsilon**2)))
        self.eta = checks.positive_number(owner, "eta", default if eta is None else eta)
        self.gamma = checks.share(owner, "gamma", min(arms * self.eta * M, 0.5) if gamma is None else gamma)
        core = ArmsCore(
            law=randomizer.law,
            low=-M,
            high=M,
            units=randomizer.grid.units,
            eta=self.eta,
            gamma=self.gamma,
            losses=np.zeros(arms),
            fresh=np.zeros(1, dtype=np.int64),
            x=np.full(size, 0.5),
            rounds=np.zeros(1, dtype=np.int64),
        )
        super().__init__(items, core, bits, randomizer.guarantee)

    @property
    def point(self) -> FloatArray:
        """The probability with which each item is chosen next."""
        weights = np.exp(-self.eta * (self._core.losses - self._core.losses.min()))
        chances = (1 - self.gamma) * weights / weights.sum() + self.gamma / weights.size
        members = np.arange(weights.size)[:, None] >> np.arange(len(self.items)) & 1
        levels: FloatArray = chances @ members
        return levels


@choose.register(ArmsCore)
@kernel
def _choose_arm(core: ArmsCore, draw: Draw, bits: BitArray, cursor: int) -> int:
    if cursor >= bits.size:
        return NEED_MORE_BITS
    # Weights relative to the best arm cannot overflow.
    least = core.losses.min()
    weights = np.exp(-core.eta * (core.losses - least))
    total, arms = weights.sum(), core.losses.size
    uniform = uniform_float(bits[cursor])
    arm, probability = arms - 1, 0.0
    for candidate in range(arms):
        probability = (1.0 - core.gamma) * weights[candidate] / total + core.gamma / arms
        if uniform < probability:
            arm = candidate
            break
        uniform -= probability
    chosen = np.empty(core.x.size, dtype=np.bool_)
    for i in range(chosen.size):
        chosen[i] = (arm >> i) & 1 == 1
    put_first(chosen, draw)
    draw.chances[PROBABILITY] = probability
    return cursor + 1


@learn_cost.register(ArmsCore)
@lean_kernel
def _learn_arm(core: ArmsCore, draw: Draw, cost: float, bits: BitArray, cursor: int) -> int:
    done, cursor = fill(core.law, core.fresh, 0, bits, cursor)
    if done == 0:
        return NEED_MORE_BITS
    half = 0.5 * core.high - 0.5 * core.low
    noisy = (to_units(cost, core.low, core.high, core.units) + core.fresh[0]) * (half / core.units)
    core.fresh[0] = 0
    arm = 0
    for k in range(draw.numbers[SIZE]):
        arm |= 1 << draw.order[k]
    core.losses[arm] += noisy / draw.chances[PROBABILITY]
    core.rounds[0] += 1
    return cursor
