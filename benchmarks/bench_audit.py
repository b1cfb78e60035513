"""Audits: how long a million releases take, and those of a learner: its releases, and all that it shows."""

import functools
from collections.abc import Iterator
from typing import get_args

from benchmarks.measure import Row, median_seconds
from discreet import BanditLearner, audit
from discreet.auditing.auditor import View
from discreet.kernel import CostOfSet, Laplace
from discreet.learners import Learner
from discreet.policies import Uniform
from discreet.privacy import Budget
from discreet.randomizers import OneBit


def rows() -> Iterator[Row]:
    query = CostOfSet(0.0, 1.0)
    laplace = Learner(4, Uniform(4), query, Laplace(query.bound, Budget(epsilon=1.0)))
    for name, mechanism in {"OneBit": OneBit(1.0), "Laplace": laplace}.items():
        seconds = median_seconds(functools.partial(audit, mechanism, runs=1_000_000, power=False), 3)
        yield Row(f"audit of {name}, 1,000,000 releases", seconds, limit=5.0)
    learner, views = BanditLearner(4, 1.0, (0, 1)), get_args(View)
    for view in views:
        work = functools.partial(audit, learner, runs=200_000, view=view, power=False)
        seconds = median_seconds(work, 3)
        yield Row(f"audit of BanditLearner, n=4, 200,000 runs, {view}", seconds, limit=60.0)
