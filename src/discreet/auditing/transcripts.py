"""The compiled loop of audits: a learner plays the same rounds again and again, and what it shows is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.baselines.exponential_weights import ArmsCore
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.compiled import generic, kernel, lean_kernel, rewind, snapshot
from discreet.environments.pool import PoolStream
from discreet.learners.bandit_core import RELEASED, BanditCore
from discreet.learners.batched_core import BatchedCore
from discreet.learners.core import Core
from discreet.learners.draw import SIZE, Draw, new_draw
from discreet.privacy.uniform import NEED_MORE_BITS
from discreet.randomness import BitArray, BitSource, Seed
from discreet.set_functions import SetFunction
from discreet.simulation.loop import OneNumber, WholeFunction, play_round


class Transcript(NamedTuple):
    """What was shown in the watched rounds; the first axis is the run.

    Attributes:
        sets: The chosen sets, coded by their bits.
        points: The points after these rounds.
        released: The sums released up to then (in values; of bandit learners in units), or nothing.
    """

    sets: IntArray
    points: FloatArray
    released: FloatArray


@generic
def copy_release(core: Any, out: FloatArray) -> None:
    """Write down what a core has released so far, as far as `out` has room."""


@copy_release.register(Core)
@copy_release.register(BatchedCore)
@lean_kernel
def _copy_sum(core: Any, out: FloatArray) -> None:
    for i in range(min(out.size, core.released.size)):
        out[i] = core.released[i]


@copy_release.register(BanditCore)
@lean_kernel
def _copy_number(core: BanditCore, out: FloatArray) -> None:
    if out.size:
        out[0] = core.rounds[RELEASED]


@copy_release.register(ArmsCore)
@lean_kernel
def _copy_nothing(core: ArmsCore, out: FloatArray) -> None:
    pass


def release_size(core: Any) -> int:
    """How many numbers :func:`copy_release` writes; 0 for cores that keep only what follows from them."""
    if isinstance(core, BanditCore):
        return 1
    return int(core.x.size) if isinstance(core, Core | BatchedCore) else 0


def can_play(core: Any) -> bool:
    """Whether the compiled loop knows this kind of core; others are asked and told in Python."""
    return isinstance(core, Core | BatchedCore | BanditCore | ArmsCore)


def stream_of(functions: Sequence[SetFunction]) -> PoolStream:
    """Functions, one a round, for the compiled loop; each is tabulated once."""
    places: dict[int, int] = {}
    choice = np.array([places.setdefault(id(f), len(places)) for f in functions], dtype=np.int64)
    by_place = {places[id(f)]: f for f in functions}
    return PoolStream(np.array([by_place[k].table().values for k in range(len(places))]), choice)


def play_many(
    core: Any, functions: Sequence[SetFunction], bandit: bool, watched: IntArray, runs: int, seed: Seed | None
) -> Transcript:
    """The transcripts of many runs of a copy of `core` on the same functions."""
    n = core.x.size
    start, mine = snapshot(core), snapshot(core)  # other threads have copies of their own
    draw, first_draw = new_draw(np.arange(n)), new_draw(np.arange(n))
    seen = Transcript(
        np.empty((runs, watched.size), dtype=np.int64),
        np.empty((runs, watched.size, n)),
        np.empty((runs, watched.size, release_size(core))),
    )
    told = (OneNumber if bandit else WholeFunction)(stream_of(functions), 1.0)
    watch = np.zeros(len(functions), dtype=np.bool_)
    watch[watched] = True
    BitSource(seed).feed(
        lambda done, bits, cursor: _play_again_and_again(
            told, mine, start, draw, first_draw, watch, seen, done, bits, cursor
        ),
        runs,
    )
    return seen


@kernel
def _play_again_and_again(
    told: Any,
    core: Any,
    start: Any,
    draw: Draw,
    first_draw: Draw,
    watch: BoolArray,
    seen: Transcript,
    done: int,
    bits: BitArray,
    cursor: int,
) -> tuple[int, int]:
    costs = np.empty(core.x.size + 1)
    while done < seen.sets.shape[0]:
        rewind(core, start)
        rewind(draw, first_draw)
        after, kept = cursor, 0
        for t in range(watch.size):
            after = play_round(told, core, draw, t, costs, bits, after)
            if after == NEED_MORE_BITS:
                break
            if watch[t]:
                _write_down(core, draw, seen, done, kept)
                kept += 1
        if after == NEED_MORE_BITS:
            break
        cursor = after
        done += 1
    return done, cursor


@lean_kernel
def _write_down(core: Any, draw: Draw, seen: Transcript, run: int, kept: int) -> None:
    code = 0
    for k in range(draw.numbers[SIZE]):
        code |= 1 << draw.order[k]
    seen.sets[run, kept] = code
    for i in range(core.x.size):
        seen.points[run, kept, i] = core.x[i]
    copy_release(core, seen.released[run, kept])
