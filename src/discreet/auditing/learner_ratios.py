"""Exact likelihood ratios of what learners release.

An observer who sees all releases and all sets knows everything else too, because points are functions of
releases. The sets have the same law given the past releases, so only releases count: each bit or noisy sum,
given the sets it is about.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from discreet.auditing.densities import log_density, telling_rounds
from discreet.auditing.transcripts import Transcript
from discreet.checks import FloatArray, IntArray
from discreet.estimators import one_point_with_coin
from discreet.learners.bandit_core import BanditCore
from discreet.learners.batched_core import LENGTH, BatchedCore
from discreet.learners.core import Core
from discreet.learners.scalar_release import AsBit, WithLaplace
from discreet.learners.update_rules import PublishedLeader
from discreet.lovasz import sort_by_level
from discreet.prefix_sums.plain import RoundNoise
from discreet.privacy.sensitivity import bound_in_place, chain_gradient, to_units, values_to_units
from discreet.randomizers.one_bit import CENTRE
from discreet.set_functions import SetFunction

Functions = Sequence[SetFunction]
Ratio = Callable[[Transcript], FloatArray]


@functools.singledispatch
def log_ratio(core: Any, watched: IntArray, first: Functions, second: Functions) -> Ratio | None:
    """How to score transcripts of the watched rounds, or None where it is not known for these streams."""
    return None


def first_order(core: Any) -> IntArray:
    """The chain of the first round."""
    order = np.arange(core.x.size)
    sort_by_level(core.levels, order)
    return order


@log_ratio.register
def _(core: BanditCore, watched: IntArray, first: Functions, second: Functions) -> Ratio | None:
    if not isinstance(core.kind, AsBit | WithLaplace) or watched.size * core.length != len(first):
        return None

    def total_units(functions: Functions, sets: IntArray) -> IntArray:
        """The sums of costs of each block, in which one set is played."""
        totals = np.zeros(sets.shape, dtype=np.int64)
        known: dict[int, IntArray] = {}
        for t, function in enumerate(functions):
            if id(function) not in known:
                values = function.table().values
                units = [to_units(float(v), core.low, core.high, core.units) for v in values]
                known[id(function)] = np.array(units, dtype=np.int64)
            block = t // core.length
            totals[:, block] += known[id(function)][sets[:, block]]
        return totals

    def ratio(seen: Transcript) -> FloatArray:
        numbers = np.diff(seen.released[:, :, 0], axis=1, prepend=0.0)
        ours, theirs = (total_units(functions, seen.sets) for functions in (first, second))
        if isinstance(core.kind, AsBit):
            sign = np.where(numbers > 0, core.kind.slope, -core.kind.slope)
            terms = np.log((CENTRE + ours * sign) / (CENTRE + theirs * sign))
        else:
            scale = float(core.kind.law.scale)
            terms = (np.abs(numbers - theirs) - np.abs(numbers - ours)) / scale
        return np.asarray(terms.sum(axis=1))

    return ratio


@log_ratio.register
def _(core: BatchedCore, watched: IntArray, first: Functions, second: Functions) -> Ratio | None:
    length = int(core.counts[LENGTH])
    end = np.flatnonzero(watched == length - 1)
    if not isinstance(core.mechanism, RoundNoise) or not end.size or _differ_after(first, second, length):
        return None
    order = first_order(core)  # the point is held for the block, and so is its chain
    ours, theirs = (
        sum((gradient(core.limits, f, order) for f in functions[:length]), np.zeros(core.x.size))
        for functions in (first, second)
    )

    def ratio(seen: Transcript) -> FloatArray:
        sums = seen.released[:, end, :] / core.limits.step
        return log_density(core.mechanism, sums - ours) - log_density(core.mechanism, sums - theirs)

    return ratio


@log_ratio.register
def _(core: Core, watched: IntArray, first: Functions, second: Functions) -> Ratio | None:
    telling = telling_rounds(core.mechanism, len(first))
    middle = 0.5 * core.limits.low + 0.5 * core.limits.high
    neutral = all(_is_constant(f) for f in [*first[1:], *second[1:]])
    if core.gamma:
        neutral = neutral and all(f([]) == middle for f in [*first[1:], *second[1:]])
    if telling is None or watched.size != len(first) or not neutral:
        return None
    order = first_order(core)
    chances = prefix_chances(core, order)

    def candidates(function: SetFunction, sets: IntArray) -> list[FloatArray]:
        """The vectors that the first round can have entered: one, or two where a hidden coin decides."""
        if not core.gamma:
            vector = gradient(core.limits, function, order)
            return [np.broadcast_to(vector, (len(sets), vector.size))]
        sizes = np.bitwise_count(sets.astype(np.uint64)).astype(np.int64)
        by_size = [
            [_estimate(core, order, size, chances[size], function, heads) for size in range(order.size + 1)]
            for heads in (True, False)
        ]
        return [np.array(vectors)[sizes] for vectors in by_size]

    def ratio(seen: Transcript) -> FloatArray:
        sums = (seen.released - _public_part(core, seen))[:, telling] / core.limits.step
        ours, theirs = (
            logsumexp(
                [
                    log_density(core.mechanism, sums - v[:, None, :])
                    for v in candidates(functions[0], seen.sets[:, 0])
                ],
                axis=0,
            )
            for functions in (first, second)
        )
        return np.asarray(ours - theirs)

    return ratio


def gradient(limits: Any, function: SetFunction, order: IntArray) -> FloatArray:
    """The gradient of a function along a chain, as learners force it into its bound, in units."""
    vector = np.zeros(order.size, dtype=np.int64)
    chain_gradient(function.chain_values(order), order, limits.low, limits.high, limits.units, vector)
    bound_in_place(vector, limits.coordinate, limits.l1)
    return vector.astype(np.float64)


def prefix_chances(core: Core, order: IntArray) -> FloatArray:
    """The probability of each prefix of the first chain, from the shortest to the longest."""
    levels = np.concatenate(([1.0], core.x[order], [0.0]))
    chances: FloatArray = (1 - core.gamma) * -np.diff(levels) + core.gamma / (order.size + 1)
    return chances


def _estimate(
    core: Core, order: IntArray, size: int, probability: float, function: SetFunction, heads: bool
) -> FloatArray:
    """The one-point estimate of a prefix, in units."""
    limits = core.limits
    half = 0.5 * limits.high - 0.5 * limits.low
    cost = to_units(function(order[:size]), limits.low, limits.high, limits.units) * (half / limits.units)
    values, vector = np.zeros(order.size), np.zeros(order.size, dtype=np.int64)
    one_point_with_coin(order, size, probability, cost, heads, values)
    values_to_units(values, limits.step, limits.coordinate, vector)
    bound_in_place(vector, limits.coordinate, limits.l1)
    return vector.astype(np.float64)


def _public_part(core: Core, seen: Transcript) -> FloatArray:
    """What the published rule adds to sums by itself: H times the points, which everybody knows."""
    if not isinstance(core.rule, PublishedLeader):
        return np.zeros_like(seen.released)
    before = np.concatenate([np.broadcast_to(core.x, seen.points[:, :1].shape), seen.points[:, :-1]], axis=1)
    return core.rule.H * np.cumsum(before, axis=1)


def _differ_after(first: Functions, second: Functions, rounds: int) -> bool:
    return any(a is not b and a != b for a, b in zip(first[rounds:], second[rounds:], strict=True))


def _is_constant(function: SetFunction) -> bool:
    low, high = function.range()
    return bool(low == high)
