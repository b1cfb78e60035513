"""The steps of a prefix sum as compiled parts: what learners and simulators call in their loops.

A mechanism is a named tuple of its public constants and its secret state. One round is

1. `draw_noise`: draw the `samples_needed` by the round, into rows that are not in use yet; if the bits run
   out, it is called again;
2. `add_secret`: enter the vector, which cannot fail, and write by how much the noisy sum grows.

The vector must already be within its bound (`discreet.privacy.sensitivity`), and the caller counts rounds: a
mechanism made for T rounds must not take more. A tree stores no sums, only the noise of the nodes that make
up the present prefix; a round releases the vector plus the change of that noise.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import generic, lean_kernel
from discreet.errors import InvalidArgument
from discreet.privacy.noise import Law, fill
from discreet.randomness import BitArray


@generic
def samples_needed(mechanism: Any) -> int:
    """How many samples the next round needs; a function of the round number alone."""
    raise AssertionError("declares a generic function")


@generic
def draw_noise(mechanism: Any, done: int, bits: BitArray, cursor: int) -> tuple[int, int]:
    """Draw the noise of the next round, of which `done` samples are there; the new (done, cursor)."""
    raise AssertionError("declares a generic function")


@generic
def add_secret(mechanism: Any, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Enter one vector (in units); write into `released` by how much the noisy sum grows."""
    raise AssertionError("declares a generic function")


class NoNoise(NamedTuple):
    """Vectors as they are, for algorithms that are not private."""

    dimension: int


@samples_needed.register(NoNoise)
@lean_kernel
def no_samples(mechanism: Any) -> int:
    """None: also for other mechanisms that add nothing to a sum."""
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


class FreshNoise(NamedTuple):
    """Fresh noise on every vector; `fresh` is zero between them."""

    law: Law
    fresh: IntArray


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


class TreeState(NamedTuple):
    """The secrets of a tree over vectors of length n. Its noise may be integers or floats."""

    digits: IntArray  # of the round number, lowest first
    noise: npt.NDArray[Any]  # now on the sum of all vectors
    live: npt.NDArray[Any]  # of single nodes, one row of length n after the other


def new_state(n: int, *, levels: int, dtype: Any = np.int64) -> TreeState:
    """A state before the first round."""
    noise, live = (np.zeros(count * n, dtype=dtype) for count in (1, levels))
    return TreeState(np.zeros(levels, dtype=np.int64), noise, live)


def check_round(mechanism: Any) -> int:
    """The number of rounds that a restored tree has taken, by its digits, which kernels index by."""
    if not isinstance(getattr(mechanism, "state", None), TreeState):
        return 0  # other mechanisms have nothing that depends on the round
    digits = mechanism.state.digits
    number: int = sum(int(digit) << level for level, digit in enumerate(digits))
    if digits.min(initial=0) < 0 or digits.max(initial=0) > 1 or number >= 1 << 62:
        raise InvalidArgument("The saved state is damaged: its digits are not those of a round.")
    return number
