"""Sums without a tree: exact vectors, and vectors that each get fresh noise."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import lean_kernel
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.privacy.noise import Law, fill
from discreet.randomness import BitArray


class NoNoise(NamedTuple):
    """Vectors as they are, for algorithms that are not private."""

    dimension: int


class FreshNoise(NamedTuple):
    """Fresh noise on every vector; `fresh` is zero between them."""

    law: Law
    fresh: IntArray


def fresh_noise(dimension: int, law: Law) -> FreshNoise:
    """Vectors of this length, each with fresh noise."""
    return FreshNoise(law, np.zeros(dimension, dtype=np.int64))


# Also for other mechanisms that add nothing to a sum.


@samples_needed.register(NoNoise)
@lean_kernel
def no_samples(mechanism: Any) -> int:
    """None."""
    return 0


@draw_noise.register(NoNoise)
@lean_kernel
def draw_nothing(mechanism: Any, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Nothing is drawn."""
    return done, cursor


@add_secret.register(NoNoise)
@lean_kernel
def add_as_it_is(mechanism: Any, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """The noisy sum grows by the vector."""
    for i in range(vector.size):
        released[i] = vector[i]


@samples_needed.register(FreshNoise)
@lean_kernel
def _one_sample_each(mechanism: FreshNoise) -> int:
    return mechanism.fresh.size


@draw_noise.register(FreshNoise)
@lean_kernel
def _draw_each(mechanism: FreshNoise, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    return fill(mechanism.law, mechanism.fresh, done, bits, cursor)


@add_secret.register(FreshNoise)
@lean_kernel
def _add_each(mechanism: FreshNoise, vector: IntArray, released: npt.NDArray[Any]) -> None:
    for i in range(vector.size):
        released[i] = vector[i] + mechanism.fresh[i]
        mechanism.fresh[i] = 0
