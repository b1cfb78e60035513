"""Exact likelihood ratios of what mechanisms release.

The nodes of a tree have independent noise, and each is the difference of two released prefix sums. Which
nodes there are is known by the exact type of a mechanism, which also decides what compiled code runs: so none
is scored with the likelihoods of another.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.auditing.scores import Score
from discreet.checks import FloatArray, IntArray
from discreet.kernel.releases import BitNoise
from discreet.prefix_sums.binary import BinarySteps
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.prefix_sums.steps import FreshNoise
from discreet.randomizers import CENTRE

#: Slots (from, to] whose sum is one noisy node.
Span = tuple[int, int]


def slots_of_all_levels(mechanism: Any) -> int:
    """After how many slots the first one lies in a complete node of every level; 1 if there are no levels."""
    if type(mechanism) in (BinarySteps, SphericalSteps):
        return int(2 ** (mechanism.state.digits.size - 1))
    return 1


def watched_times(mechanism: Any, slots: int) -> IntArray:
    """After which slots prefix sums are looked at: all, or of many the first and the ends of nodes."""
    if slots <= 64:
        return np.arange(1, slots + 1)
    powers = [1 << level for level in range(slots.bit_length()) if 1 << level <= slots]
    return np.unique([*range(1, 17), *powers, slots])


def _nodes_that_end(mechanism: Any, end: int) -> list[Span] | None:
    """The nodes whose last slot is this; None if the mechanism is not known."""
    kind = type(mechanism)
    if kind is FreshNoise:
        return [(end - 1, end)]
    if kind in (BinarySteps, SphericalSteps):
        return [(end - (end & -end), end)]
    return None


def spans_of(mechanism: Any, times: Sequence[int]) -> list[Span]:
    """The nodes that can be read off the prefix sums at these times; none if the mechanism is not known."""
    known = {0, *times}
    return [span for end in times for span in _nodes_that_end(mechanism, end) or () if span[0] in known]


def log_ratio(mechanism: Any, times: IntArray, first: IntArray, second: IntArray) -> Score | None:
    """How much more likely a row is for the first reports (one per slot) than for the second, as a logarithm.

    Rows hold by how much the released sum grew from each of the `times` to the next.
    """
    if type(mechanism) is BitNoise:
        return _ratio_of_bits(mechanism, first, second) if len(times) == len(first) else None
    spans = [
        (start, end)
        for start, end in spans_of(mechanism, times.tolist())
        if np.any(first[start:end].sum(axis=0) != second[start:end].sum(axis=0))
    ]
    if not spans:
        return None
    ours, theirs = (
        np.array([data[start:end].sum(axis=0) for start, end in spans], dtype=np.float64)
        for data in (first, second)
    )
    starts, ends = np.searchsorted([0, *times], np.transpose(spans))

    def score(seen: FloatArray) -> FloatArray:
        grown = seen.reshape(len(seen), len(times), -1)
        prefix = np.concatenate((np.zeros_like(grown[:, :1]), np.cumsum(grown, axis=1)), axis=1)
        nodes = prefix[:, ends] - prefix[:, starts]
        ratios = _log_density(mechanism, nodes - ours) - _log_density(mechanism, nodes - theirs)
        return np.round(ratios, 9)  # the largest has a probability of its own: rounding must not split it

    return score


def _log_density(mechanism: Any, noise: FloatArray) -> FloatArray:
    """The log-likelihood of the noise of nodes, up to a constant; of shape (runs, nodes, numbers)."""
    if type(mechanism) is SphericalSteps:
        return np.asarray(-np.linalg.norm(noise, axis=2).sum(axis=1) / mechanism.scale)
    scale = float(mechanism.law.scale)
    sizes = noise**2 / (2 * scale**2) if mechanism.law.is_gaussian else np.abs(noise) / scale
    return np.asarray(-sizes.sum(axis=(1, 2)))


def _ratio_of_bits(mechanism: BitNoise, first: IntArray, second: IntArray) -> Score:
    ours, theirs = (
        np.clip(CENTRE + data[:, 0].astype(np.float64) * mechanism.slope, 0, 2 * CENTRE) / (2 * CENTRE)
        for data in (first, second)
    )
    least = 1e-12  # a bit that is certain is evidence enough, and not infinite
    of_one, of_zero = (np.log((a + least) / (b + least)) for a, b in ((ours, theirs), (1 - ours, 1 - theirs)))
    return lambda seen: np.where(seen > 0, of_one, of_zero).sum(axis=1)
