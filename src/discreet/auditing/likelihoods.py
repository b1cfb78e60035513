"""Exact likelihood ratios of what mechanisms release.

The nodes of a tree have independent noise, and the value of each is the difference of two released prefix
sums. So the likelihood of a transcript is that of the noise on its nodes. Which nodes there are is known for
the mechanisms listed here, by their exact type. That type also decides which compiled code runs, so none is
scored with the likelihoods of another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discreet.auditing.target import Score
from discreet.checks import FloatArray, IntArray
from discreet.kernel.releases import BitNoise
from discreet.prefix_sums.binary import BinarySteps
from discreet.prefix_sums.kary import KArySteps
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.prefix_sums.steps import FreshNoise
from discreet.privacy.noise import Law
from discreet.randomizers import CENTRE

#: Slots (from, to] whose sum is one noisy node.
Span = tuple[int, int]


def slots_of_all_levels(mechanism: Any) -> int:
    """After how many slots the first one lies in a complete node of every level; 1 if there are no levels."""
    kind = type(mechanism)
    if kind is KArySteps:
        return int(mechanism.shape.arity ** max(0, mechanism.shape.height - 1))
    if kind in (BinarySteps, SphericalSteps):
        return int(2 ** (mechanism.state.digits.size - 1))
    return 1


def watched_times(mechanism: Any, slots: int) -> IntArray:
    """After which slots prefix sums are looked at: all, or of many the first and the ends of nodes."""
    if slots <= 64:
        return np.arange(1, slots + 1)
    base = mechanism.shape.arity if type(mechanism) is KArySteps else 2
    powers = [base**level for level in range(slots.bit_length()) if base**level <= slots]
    return np.unique([*range(1, 17), *powers, slots])


def _each_slot(mechanism: Any, end: int) -> list[Span]:
    return [(end - 1, end)]


def _binary_nodes(mechanism: Any, end: int) -> list[Span]:
    return [(end - (end & -end), end)]


def _k_ary_nodes(mechanism: KArySteps, end: int) -> list[Span]:
    """With digits from -reach to reach, each digit that rises adds a node or stops subtracting one."""
    k, reach, spans = mechanism.shape.arity, mechanism.shape.reach, []
    for level in range(mechanism.shape.height):
        if end % k**level == 0 and (end // k**level + reach) % k != 0:
            spans.append((end - k**level, end))
    return spans


_NODES: dict[type, Callable[[Any, int], list[Span]]] = {
    FreshNoise: _each_slot,
    BinarySteps: _binary_nodes,
    SphericalSteps: _binary_nodes,
    KArySteps: _k_ary_nodes,
}


def spans_of(mechanism: Any, times: Sequence[int]) -> list[Span] | None:
    """The nodes that can be read off the prefix sums at these times; None if the mechanism is not known."""
    nodes = _NODES.get(type(mechanism))
    if nodes is None:
        return None
    known = {0, *times}
    return [span for end in times for span in nodes(mechanism, end) if span[0] in known]


def log_ratio(mechanism: Any, times: IntArray, first: IntArray, second: IntArray) -> Score | None:
    """How much more likely a row is for the first reports than for the second, as a logarithm.

    Args:
        mechanism: Of the kernel.
        times: Rows hold by how much the released sum grew from each of these times to the next.
        first: One report per slot, in units.
        second: Likewise.
    """
    if type(mechanism) is BitNoise:
        return _ratio_of_bits(mechanism, first, second) if len(times) == len(first) else None
    spans = spans_of(mechanism, times.tolist())
    if not spans:
        return None
    places = {0: 0, **{time: k + 1 for k, time in enumerate(times.tolist())}}
    starts, ends = (np.array([places[span[side]] for span in spans]) for side in (0, 1))
    sums = [
        np.array([data[start:end].sum(axis=0) for start, end in spans], dtype=np.float64)
        for data in (first, second)
    ]
    telling = np.flatnonzero(np.any(sums[0] != sums[1], axis=1))
    if not telling.size:
        return None
    starts, ends = starts[telling], ends[telling]
    ours, theirs = (total[telling] for total in sums)

    def score(seen: FloatArray) -> FloatArray:
        grown = seen.reshape(len(seen), len(times), -1)
        prefix = np.concatenate((np.zeros_like(grown[:, :1]), np.cumsum(grown, axis=1)), axis=1)
        nodes = prefix[:, ends] - prefix[:, starts]
        ratios = _log_density(mechanism, nodes - ours) - _log_density(mechanism, nodes - theirs)
        return np.round(
            ratios, 9
        )  # the largest ratio has a probability of its own: rounding must not split it

    return score


def _log_density(mechanism: Any, noise: FloatArray) -> FloatArray:
    """The log-likelihood of the noise of nodes, up to a constant; of shape (runs, nodes, numbers)."""
    if type(mechanism) is SphericalSteps:
        return np.asarray(-np.linalg.norm(noise, axis=2).sum(axis=1) / mechanism.scale)
    law: Law = mechanism.law
    scale = float(law.scale)
    sizes = noise**2 / (2 * scale**2) if law.is_gaussian else np.abs(noise) / scale
    return np.asarray(-sizes.sum(axis=(1, 2)))


def _ratio_of_bits(mechanism: BitNoise, first: IntArray, second: IntArray) -> Score:
    ours, theirs = (
        np.clip(CENTRE + data[:, 0].astype(np.float64) * mechanism.slope, 0, 2 * CENTRE) / (2 * CENTRE)
        for data in (first, second)
    )
    least = 1e-12  # a bit that is certain is evidence enough, and not infinite
    of_one, of_zero = (np.log((a + least) / (b + least)) for a, b in ((ours, theirs), (1 - ours, 1 - theirs)))
    return lambda seen: np.where(seen > 0, of_one, of_zero).sum(axis=1)
