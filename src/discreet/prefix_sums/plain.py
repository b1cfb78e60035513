"""Sums without a tree: exact ones, and ones in which every vector has noise of its own."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import lean_kernel
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.privacy.bounded_sums import bounded_sum
from discreet.privacy.noise import Law, fill
from discreet.randomness import BitArray


class NoNoise(NamedTuple):
    """Exact sums, for algorithms that are not private."""

    total: IntArray


class RoundNoise(NamedTuple):
    """Fresh noise on every single vector: what local privacy of whole gradients costs.

    Each noisy vector is released, so that sums of them may be cut off at the end of 64 bits. Exact sums of
    bounded vectors do not come near it: 2^32 rounds of at most 2^29 units.
    """

    law: Law
    total: IntArray
    fresh: IntArray


def no_noise(dimension: int) -> NoNoise:
    """Exact sums of vectors of this length."""
    return NoNoise(np.zeros(dimension, dtype=np.int64))


def round_noise(dimension: int, law: Law) -> RoundNoise:
    """Sums of vectors of this length, each with its own noise."""
    return RoundNoise(law, np.zeros(dimension, dtype=np.int64), np.zeros(dimension, dtype=np.int64))


@samples_needed.register(NoNoise)
@lean_kernel
def _no_samples(mechanism: NoNoise) -> int:
    return 0


@draw_noise.register(NoNoise)
@lean_kernel
def _draw_nothing(mechanism: NoNoise, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    return done, cursor


@add_secret.register(NoNoise)
@lean_kernel
def _add_exactly(mechanism: NoNoise, vector: IntArray, released: npt.NDArray[Any]) -> None:
    for i in range(vector.size):
        mechanism.total[i] += vector[i]
        released[i] = mechanism.total[i]


@samples_needed.register(RoundNoise)
@lean_kernel
def _one_sample_each(mechanism: RoundNoise) -> int:
    return mechanism.fresh.size


@draw_noise.register(RoundNoise)
@lean_kernel
def _draw_each(mechanism: RoundNoise, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    return fill(mechanism.law, mechanism.fresh, done, bits, cursor)


@add_secret.register(RoundNoise)
@lean_kernel
def _add_each(mechanism: RoundNoise, vector: IntArray, released: npt.NDArray[Any]) -> None:
    for i in range(vector.size):
        mechanism.total[i] = bounded_sum(mechanism.total[i], vector[i] + mechanism.fresh[i])
        released[i] = mechanism.total[i]
        mechanism.fresh[i] = 0
