"""Audits: how long a million releases take, and transcripts of a learner by a trained score."""

import functools
from collections.abc import Iterator
from typing import get_args

from benchmarks.measure import Row, median_seconds
from discreet import BanditLearner, audit
from discreet.auditing.learner_runs import View
from discreet.randomizers import LaplaceOnGrid, OneBit


def rows() -> Iterator[Row]:
    for mechanism in (OneBit(1.0), LaplaceOnGrid(1.0)):
        seconds = median_seconds(functools.partial(audit, mechanism, runs=1_000_000), 3)
        yield Row(f"audit of {type(mechanism).__name__}, 1,000,000 releases", seconds, limit=5.0)
    learner, views = BanditLearner(4, 1.0, (0, 1)), get_args(View)
    for view in views:
        work = functools.partial(audit, learner, rounds=64, runs=200_000, view=view)
        seconds = median_seconds(work, 3)
        yield Row(f"audit of BanditLearner, n=4, 64 rounds, 200,000 runs, {view}", seconds, limit=60.0)
