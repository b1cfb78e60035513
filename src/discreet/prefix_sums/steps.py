"""The steps of every prefix sum as compiled parts: what learners and simulators call in their loops.

A mechanism is a named tuple of its public constants and its secret state. One round is

1. `draw_noise`: draw what the round needs. Nothing that was released depends on it yet, so it may
   be called again with more words when they ran out;
2. `add_secret`: enter the vector, which cannot fail, and write the noisy sum.

The vector must already be within its bound (`discreet.privacy.sensitivity`).
"""

from typing import Any, NamedTuple

import numpy as np

from discreet.checks import FloatArray, IntArray
from discreet.compiled import generic, kernel
from discreet.prefix_sums import binary, kary
from discreet.prefix_sums.tree import TreeState, draw_rows
from discreet.privacy.float_noise import fill_spherical
from discreet.privacy.noise import Law, fill
from discreet.privacy.uniform import DRY
from discreet.randomness import WordArray


@generic
def draw_noise(mechanism: Any, words: WordArray, cursor: int) -> int:
    """Draw the noise of the next round; the new cursor, or DRY."""
    raise AssertionError("declares a generic function")


@generic
def add_secret(mechanism: Any, vector: IntArray, released: FloatArray) -> None:
    """Enter one vector (in units) and write the noisy sum (in units) into `released`."""


@generic
def forget(mechanism: Any) -> None:
    """Go back before the first round, with nothing kept: for repeated runs of one simulation."""


class NoNoise(NamedTuple):
    """Exact sums, for algorithms that are not private."""

    total: IntArray


class BinarySteps(NamedTuple):
    """A binary tree with exact discrete noise."""

    law: Law
    state: TreeState


class SphericalSteps(NamedTuple):
    """The paper's binary tree: float noise of density exp(-|z|_2 / scale)."""

    scale: float
    state: TreeState


class KArySteps(NamedTuple):
    """A k-ary tree with subtraction."""

    law: Law
    shape: kary.Shape
    state: TreeState


class RoundNoise(NamedTuple):
    """Fresh noise on every single vector: what local privacy of whole gradients costs."""

    law: Law
    total: IntArray
    fresh: IntArray


@draw_noise.register(NoNoise)
@kernel
def _draw_nothing(mechanism: NoNoise, words: WordArray, cursor: int) -> int:
    return cursor


@add_secret.register(NoNoise)
@kernel
def _add_exactly(mechanism: NoNoise, vector: IntArray, released: FloatArray) -> None:
    for i in range(vector.size):
        mechanism.total[i] += vector[i]
        released[i] = mechanism.total[i]


@draw_noise.register(BinarySteps)
@kernel
def _draw_binary(mechanism: BinarySteps, words: WordArray, cursor: int) -> int:
    level = binary.entering_level(mechanism.state)
    done, cursor = draw_rows(mechanism.law, mechanism.state, level, level + 1, 0, words, cursor)
    return cursor if done == mechanism.state.total.size else DRY


@add_secret.register(BinarySteps)
@kernel
def _add_binary(mechanism: BinarySteps, vector: IntArray, released: FloatArray) -> None:
    binary.advance(mechanism.state, vector, released)


@draw_noise.register(SphericalSteps)
@kernel
def _draw_spherical(mechanism: SphericalSteps, words: WordArray, cursor: int) -> int:
    n = mechanism.state.total.size
    start = binary.entering_level(mechanism.state) * n
    done, cursor = fill_spherical(mechanism.scale, mechanism.state.live[start : start + n], 0, words, cursor)
    return cursor if done == n else DRY


@add_secret.register(SphericalSteps)
@kernel
def _add_spherical(mechanism: SphericalSteps, vector: IntArray, released: FloatArray) -> None:
    binary.advance(mechanism.state, vector, released)


@draw_noise.register(KArySteps)
@kernel
def _draw_kary(mechanism: KArySteps, words: WordArray, cursor: int) -> int:
    first, last = kary.rows_to_draw(mechanism.shape, mechanism.state)
    done, cursor = draw_rows(mechanism.law, mechanism.state, first, last, 0, words, cursor)
    return cursor if done == (last - first) * mechanism.state.total.size else DRY


@add_secret.register(KArySteps)
@kernel
def _add_kary(mechanism: KArySteps, vector: IntArray, released: FloatArray) -> None:
    kary.advance(mechanism.shape, mechanism.state, vector, released)


@draw_noise.register(RoundNoise)
@kernel
def _draw_round(mechanism: RoundNoise, words: WordArray, cursor: int) -> int:
    done, cursor = fill(mechanism.law, mechanism.fresh, 0, words, cursor)
    return cursor if done == mechanism.fresh.size else DRY


@add_secret.register(RoundNoise)
@kernel
def _add_round(mechanism: RoundNoise, vector: IntArray, released: FloatArray) -> None:
    for i in range(vector.size):
        mechanism.total[i] += vector[i] + mechanism.fresh[i]
        released[i] = mechanism.total[i]


@kernel
def forget_tree(state: TreeState) -> None:
    """Clear every secret of a tree."""
    state.digits[:] = 0
    state.total[:] = 0
    state.noise[:] = 0
    state.live[:] = 0
    state.right[:] = 0


@forget.register(BinarySteps)
@forget.register(SphericalSteps)
@forget.register(KArySteps)
@kernel
def _forget_tree(mechanism: Any) -> None:
    forget_tree(mechanism.state)


@forget.register(NoNoise)
@forget.register(RoundNoise)
@kernel
def _forget_total(mechanism: Any) -> None:
    mechanism.total[:] = 0


def no_noise(dimension: int) -> NoNoise:
    """Exact sums of vectors of this length."""
    return NoNoise(np.zeros(dimension, dtype=np.int64))


Mechanism = NoNoise | BinarySteps | SphericalSteps | KArySteps | RoundNoise
