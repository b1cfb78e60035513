"""The steps of a prefix sum as compiled parts: what learners and simulators call in their loops.

A mechanism is a named tuple of its public constants and its secret state. One round is

1. `draw_noise`: draw the `samples_needed` by the round. Nothing that was released depends on them
   yet, so drawing may go on, or begin again, when the words ran out;
2. `add_secret`: enter the vector, which cannot fail, and write the noisy sum.

The vector must already be within its bound (`discreet.privacy.sensitivity`), and the caller counts
rounds: a mechanism made for T rounds must not take more.
"""

import functools
from typing import Any

import numpy.typing as npt

from discreet.checks import IntArray
from discreet.compiled import generic
from discreet.randomness import WordArray


@generic
def samples_needed(mechanism: Any) -> int:
    """How many samples the next round needs; a function of the round number alone."""
    raise AssertionError("declares a generic function")


@generic
def draw_noise(mechanism: Any, done: int, words: WordArray, cursor: int) -> tuple[int, int]:
    """Draw the noise of the next round, of which `done` samples are there; the new (done, cursor)."""
    raise AssertionError("declares a generic function")


@generic
def add_secret(mechanism: Any, vector: IntArray, released: npt.NDArray[Any]) -> None:
    """Enter one vector (in units) and write the noisy sum (in units) into `released`."""


@functools.singledispatch
def check_round(mechanism: Any, rounds: int) -> None:
    """Refuse a restored mechanism whose state is not the one after so many rounds.

    Trees index by their digits; other mechanisms have nothing that depends on the round.
    """
