"""Four segments of people: one learner with `segments`, beside one learner for all, and one for each.

Regret is against the best set of each segment. The mean cost of a set is a random quadratic function: the
same in all segments (alike), of each segment alone (different), or a sum of both, of equal size (mixed). A
round is in a random segment, and its cost is -1 or 1, so costs vary as much as they can. 8 items, epsilon =
1; means over the seeds 0 to 2, of worlds and bits.
"""

from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np

from benchmarks.bench_regret import UNIT, power
from benchmarks.measure import Row
from discreet import BanditLearner
from discreet.checks import FloatArray

N, MANY, ROUNDS, SEEDS = 8, 4, 2**16, 3
#: The share of a function's variance that is a segment's own.
OWN = {"alike": 0.0, "different": 1.0, "mixed": 0.5}
ONE, EACH, OURS = "one for all", "one per segment", "segments"
#: How many times our regret theirs should be.
WANTED = {
    "alike": {ONE: 0.5, EACH: 1.5},
    "different": {ONE: 2.0, EACH: 0.833},
    "mixed": {ONE: 2.0, EACH: 0.833},
}


def world(seed: int, kind: str) -> FloatArray:
    """The mean cost of each set, coded by its bits, in each segment."""
    rng, sets = np.random.default_rng([seed, 2]), np.arange(1 << N)[:, None] >> np.arange(N) & 1
    items, pairs = rng.normal(0, 0.15, (1 + MANY, N)), np.triu(rng.normal(0, 0.1, (1 + MANY, N, N)), 1)
    values = items @ sets.T + np.einsum("si,zij,sj->zs", sets, pairs, sets)
    means = np.sqrt(1 - OWN[kind]) * values[:1] + np.sqrt(OWN[kind]) * values[1:]
    means -= means.mean(axis=1, keepdims=True)
    return np.asarray(means / np.maximum(1, np.abs(means).max(axis=1, keepdims=True) / 0.9))


def regret(mode: str, kind: str, how: str, seed: int) -> float:
    """Per round."""
    means, rng = world(seed, kind), np.random.default_rng([seed, 3])
    of_round, uniform = rng.integers(MANY, size=ROUNDS).tolist(), rng.random(ROUNDS)
    made: dict[str, Any] = {"epsilon": 1.0, "cost_range": (-1, 1), "mode": mode}
    if how == OURS:
        made["segments"] = range(MANY)
    learners = [BanditLearner(N, seed=[seed, k], **made) for k in range(MANY if how == EACH else 1)]
    paid = 0.0
    for segment, drawn in zip(of_round, uniform, strict=True):
        learner = learners[segment if how == EACH else 0]
        decision = learner.ask(segment=segment if how == OURS else None)
        mean = means[segment, sum(1 << item for item in decision.subset)]
        paid += mean - means[segment].min()
        learner.tell(decision, 1.0 if drawn < (1 + mean) / 2 else -1.0)
    return float(paid / ROUNDS)


def rows() -> Iterator[Row]:
    for mode in ("central", "local"):
        for kind, wanted in WANTED.items():
            every = [(how, seed) for how in (OURS, ONE, EACH) for seed in range(SEEDS)]
            found = joblib.Parallel(n_jobs=-1)(
                joblib.delayed(regret)(mode, kind, how, seed) for how, seed in every
            )
            rates = {how: found[k * SEEDS : (k + 1) * SEEDS] for k, how in enumerate((OURS, ONE, EACH))}
            ours, note = float(np.mean(rates[OURS])), f"worst seed {max(rates[OURS]):.3g}"
            for peer, ratio in wanted.items():
                name = f"bandit, {mode}, {kind}, {MANY} segments, T={power(ROUNDS)}"
                yield Row(name, ours, None, peer, float(np.mean(rates[peer])) / ours, ratio, note, UNIT)
