"""How likely the sums that a mechanism released are, given the vectors that went in.

The neighbours differ from the first round on. A transcript of a tree is
made of noisy nodes, and the likelihood ratio of all nodes is that of those which hold the first round: the
others are equally likely for both neighbours. These are released alone, in the rounds 1, k, k^2, ... of a
k-ary tree.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.prefix_sums.binary import BinarySteps
from discreet.prefix_sums.kary import KArySteps
from discreet.prefix_sums.plain import RoundNoise
from discreet.prefix_sums.spherical import SphericalSteps
from discreet.privacy.noise import Law


@functools.singledispatch
def telling_rounds(steps: Any, rounds: int) -> IntArray | None:
    """The rounds (from 0) whose sums tell about the first vector, or None if likelihoods are unknown."""
    return None


@functools.singledispatch
def log_density(steps: Any, noise: FloatArray) -> FloatArray:
    """The log-likelihood of the noise on released sums, up to a constant.

    Args:
        steps: The mechanism.
        noise: What was released in the telling rounds minus the sums that are supposed, in units; of shape
            (runs, telling rounds, dimension).
    """
    raise AssertionError("only for mechanisms with telling rounds")


def _powers(base: int, levels: int, rounds: int) -> IntArray:
    return np.array([base**level - 1 for level in range(levels) if base**level <= rounds], dtype=np.int64)


def _log_noise(law: Law, values: FloatArray) -> FloatArray:
    """The log-probability of noise values, up to a constant, added up over all but the first axis."""
    scale = float(law.scale)
    costs = values**2 / (2 * scale**2) if law.is_gaussian else np.abs(values) / scale
    total: FloatArray = -costs.sum(axis=tuple(range(1, values.ndim)))
    return total


@telling_rounds.register
def _(steps: BinarySteps, rounds: int) -> IntArray:
    return _powers(2, steps.state.digits.size, rounds)


@telling_rounds.register
def _(steps: SphericalSteps, rounds: int) -> IntArray:
    return _powers(2, steps.state.digits.size, rounds)


@telling_rounds.register
def _(steps: KArySteps, rounds: int) -> IntArray:
    return _powers(steps.shape.arity, steps.shape.height, rounds)


@telling_rounds.register
def _(steps: RoundNoise, rounds: int) -> IntArray:
    return np.zeros(1, dtype=np.int64)


@log_density.register(BinarySteps)
@log_density.register(KArySteps)
@log_density.register(RoundNoise)
def _(steps: BinarySteps | KArySteps | RoundNoise, noise: FloatArray) -> FloatArray:
    return _log_noise(steps.law, noise)


@log_density.register
def _(steps: SphericalSteps, noise: FloatArray) -> FloatArray:
    lengths: FloatArray = np.linalg.norm(noise, axis=2)
    return np.asarray(-lengths.sum(axis=1) / steps.scale)
