"""The state of the model policy: a value, which plans, learning and files pass on."""

from typing import NamedTuple

import numpy as np

from discreet.checks import FloatArray
from discreet.policies.chain_bandit import ChainBanditState
from discreet.policies.memory import Seen

#: Places in `ModelState.counts`: rounds learned from, those before this episode, the rounds of this episode
#: when the scales were fitted, restarts, whether the model has failed, and the sum of released costs.
ROUNDS, BEFORE, FITTED, RESTARTS, FAILED, TOTAL = range(6)


class Segments(NamedTuple):
    """The weight of each segment in what is best, its own best set, and the first three of its counts."""

    weights: FloatArray
    x: FloatArray  # a row each
    counts: FloatArray  # a row each


class ModelState(NamedTuple):
    """The best set, what was released, the scales of the model, counts, and the worst case's own state."""

    x: FloatArray
    seen: Seen
    scales: FloatArray
    part_scales: FloatArray
    counts: FloatArray
    segments: Segments  # nothing where there are none
    worst: ChainBanditState


class Noise(NamedTuple):
    """What a release adds: variance to every cost and to every sum, in squared halves of the range."""

    cost: float
    sum: float


class ItemFeedback(NamedTuple):
    """That it is told what items brought: the variance of a sum's noise, a unit's worth, and the total.

    All in halves of the range.
    """

    noise: float
    unit: float
    total: float


def best_sets(state: ModelState) -> FloatArray:
    """A row for all together, and one for each segment."""
    return np.vstack((state.x, state.segments.x))


def seen_from(state: ModelState, segment: int) -> ModelState:
    """The state in which this segment is all there is to plan for."""
    counts, segments = state.counts.copy(), state.segments
    counts[: FITTED + 1] = segments.counts[segment]
    weights = np.zeros(len(segments.weights))
    weights[segment] = 1.0
    return state._replace(x=segments.x[segment], counts=counts, segments=segments._replace(weights=weights))


def seen_from_all(state: ModelState, segment: int, before: FloatArray) -> ModelState:
    """The state of all, from one seen from a segment that has learned; of all, these were the counts."""
    counts, of_each = state.counts.copy(), state.segments.counts.copy()
    of_each[segment], counts[: FITTED + 1] = counts[: FITTED + 1], before[: FITTED + 1]
    weights = of_each[:, ROUNDS] / of_each[:, ROUNDS].sum()
    return state._replace(counts=counts, segments=state.segments._replace(weights=weights, counts=of_each))
