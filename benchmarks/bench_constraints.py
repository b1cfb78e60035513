"""At most k of n items whose rewards have diminishing returns (`environments.substitutes`), epsilon = 1.

Regret is against the best allowed set. Means over the seeds 0 to 4, of streams and bits. The peers see whole
functions. Greedy knows the exact totals so far. The scripts are what one might write for privacy, over epochs
that double: "own sums" adds Laplace noise to the sum of what each item earns alone, and takes the k best;
"noisy greedy" builds the set step by step, each time with the best of noisy totals.
"""

from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np

from benchmarks.bench_regret import UNIT, power
from benchmarks.measure import Row
from discreet import BanditLearner, FullInformationLearner, baselines, environments
from discreet.environments import Environment, Stream
from discreet.set_functions import SetFunction
from discreet.simulation import regret
from discreet.simulation.loop import Run

SEEDS, EPSILON, FIRST = 5, 1.0, 100

#: Chooses k of n items by the total of an epoch.
Rule = Callable[[SetFunction, int, np.random.Generator], list[int]]


def own_sums(total: SetFunction, k: int, rng: np.random.Generator) -> list[int]:
    """One function moves n sums, by at most 1 each."""
    sums = np.array([total([i]) for i in range(total.n)]) + rng.laplace(scale=total.n / EPSILON, size=total.n)
    return [int(i) for i in np.argsort(sums)[:k]]


def noisy_greedy(total: SetFunction, k: int, rng: np.random.Generator) -> list[int]:
    """One function moves the total of each set by at most 1; each of k choices has its share of epsilon."""
    chosen: list[int] = []
    for _ in range(k):
        left = [i for i in range(total.n) if i not in chosen]
        noise = rng.laplace(scale=2 * k / EPSILON, size=len(left))
        totals = np.array([total([*chosen, i]) for i in left]) + noise
        chosen.append(left[int(totals.argmin())])
    return chosen


def regret_of_script(rule: Rule, stream: Stream, k: int, seed: int) -> float:
    """At first the first k items; then what the rule chooses from each epoch, for as long as all before."""
    rng, chosen = np.random.default_rng([seed, 1]), list(range(k))
    cost, start, length = 0.0, 0, FIRST
    while start < stream.rounds:
        end = min(start + length, stream.rounds)
        total = stream.sum_of(slice(start, end))
        cost += total(chosen)
        chosen, start, length = rule(total, k, rng), end, end
    return cost - best(stream, k)


def best(stream: Stream, k: int) -> float:
    return Run(baselines.GreedyLeader(stream.n, at_most=k), stream).best(stream.rounds).value


def over_seeds(environment: Environment, rounds: int, one: Callable[[Stream, int], float]) -> list[float]:
    """Regret per round of each seed."""

    def rate(seed: int) -> float:
        return one(environment.stream(rounds, seed), seed) / rounds

    return joblib.Parallel(n_jobs=-1)(joblib.delayed(rate)(seed) for seed in range(SEEDS))  # type: ignore[no-any-return]


def of_learner(make: Callable[..., Any], **given: Any) -> Callable[[Stream, int], float]:
    return lambda stream, seed: regret(make(stream.n, seed=seed, **given), stream)


def rows_of(n: int, k: int, size: int) -> Iterator[Row]:
    """Choose and the model beside what one would do instead, for groups of `size` substitutes."""
    environment, most = environments.substitutes(n, size=size), {"at_most": k}
    ours: list[tuple[str, int, float, Callable[..., Any], dict[str, float]]] = [
        ("choose", 2**14, 0.02, FullInformationLearner, {"own sums": 5.0}),
        ("bandit, central", 2**16, 0.03, BanditLearner, {"own sums": 2.0}),
    ]
    for label, rounds, limit, make, wanted in ours:
        given = {"epsilon": EPSILON, "cost_range": environment.cost_range}
        rates = over_seeds(environment, rounds, of_learner(make, **given, **most))
        mean, note = float(np.mean(rates)), f"worst seed {max(rates):.3g}"
        name = f"{label}, {k} of {n}, groups of {size}, T={power(rounds)}"
        peers = {
            "greedy, not private": lambda stream, seed: regret(
                baselines.GreedyLeader(stream.n, at_most=k), stream
            ),
            "own sums": lambda stream, seed: regret_of_script(own_sums, stream, k, seed),
            "noisy greedy": lambda stream, seed: regret_of_script(noisy_greedy, stream, k, seed),
        }
        for peer, one in peers.items():
            theirs = float(np.mean(over_seeds(environment, rounds, one)))
            yield Row(name, mean, limit, peer, theirs / mean, wanted.get(peer), note, UNIT)


def rows() -> Iterator[Row]:
    for n, k in ((12, 3), (20, 4)):
        for size in (3, 5):
            yield from rows_of(n, k, size)
