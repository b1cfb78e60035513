"""Bandits that are told what each shown item brought, on 9,835 real baskets and on shops, epsilon = 1.

Of what the best fixed set saves, how much is missed: means over ten seeds. The same learner is told only what
the set cost, or also what each item brought of it: its price, minus its share of the wishes fulfilled. The
declared total is 1.5: wishes are worth at most 1 together, and showing everything costs at most 1. Constants
were chosen on baskets without the four most frequent items, on invoices, and with other seeds.
"""

import math
import os
import pathlib
from collections.abc import Iterator

import joblib
import numpy as np

from benchmarks.bench_regret import MISSED, SEEDS, power
from benchmarks.measure import Row
from discreet import BanditLearner, environments, minimize
from discreet.environments import Environment
from discreet.simulation import play

TOTAL = 1.5


def missed(environment: Environment, rounds: int, total: float | None) -> float:
    def one(seed: int) -> float:
        stream = environment.stream(rounds, seed)
        learner = BanditLearner(environment.n, 1.0, environment.cost_range, item_total=total, seed=seed)
        return float(play(learner, stream).sum() / minimize(stream.total).value)

    return 1 - float(np.mean(joblib.Parallel(n_jobs=-1)(joblib.delayed(one)(k) for k in range(SEEDS))))


def beside(
    name: str, environment: Environment, rounds: int, most: float | None = None, times: float = 1
) -> Row:
    """At most so much missed; so many times as much saved as from costs alone."""
    ours, without = (missed(environment, rounds, total) for total in (TOTAL, None))
    limit = most if times == 1 else 1 - times * (1 - without)
    return Row(name, ours, limit, "costs alone", without / ours, 1.0, f"costs alone {without:.2f}", MISSED)


def rows() -> Iterator[Row]:
    path = pathlib.Path(os.environ.get("DISCREET_DATA", ""), "groceries.csv")
    if not path.is_file():
        yield Row("real baskets", math.nan, note="no groceries.csv in the folder DISCREET_DATA", unit=MISSED)
    else:
        for n, most, times in ((10, None, 1), (20, 0.25, 1), (50, None, 2)):
            shop = environments.baskets(path, n=n)
            rounds = shop.most_rounds or 0
            yield beside(f"central, groceries, n={n}", shop, rounds, most, times)
    for rounds in (2**14, 2**17):
        yield beside(f"central, shop, n=20, T={power(rounds)}", environments.checkout(20), rounds)
