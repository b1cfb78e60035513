"""What holds of every stream that can be iterated."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import stats

from discreet import minimize
from discreet.checks import FloatArray
from discreet.environments import chain_costs, prefix_cost
from discreet.set_functions import SetFunction

#: How often a test of a law may fail although the law is right.
ALPHA = 1e-6


def assert_costs(compiled: Any, t: int, x: FloatArray, f: SetFunction, rng: np.random.Generator) -> None:
    """Along a random order, the chain of round t and every single prefix cost what f says."""
    order, costs = rng.permutation(f.n), np.full(f.n + 1, np.nan)
    chain_costs(compiled, t, x, order, costs)
    np.testing.assert_allclose(costs, f.chain_values(order), atol=1e-12)
    for size in range(f.n + 1):
        cost = prefix_cost(compiled, t, x, order, size)
        np.testing.assert_allclose(cost, f(order[:size]), atol=1e-12)


def assert_compiled_costs_are_values(stream: Any) -> None:
    """In every round, whatever the learner's point."""
    rng = np.random.default_rng(0)
    rounds = 0
    for t, f in enumerate(stream):
        assert f.n == stream.n
        assert_costs(stream.compiled, t, rng.random(stream.n), f, rng)
        rounds += 1
    assert rounds == stream.rounds


def assert_total_is_the_sum(stream: Any, functions: Iterable[SetFunction] | None = None) -> None:
    """Of the given functions, by default of those that iterating gives, on random sets and both extremes."""
    rng = np.random.default_rng(1)
    played = list(stream if functions is None else functions)
    masks = [rng.random(stream.n) < 0.5 for _ in range(10)]
    for mask in [*masks, np.zeros(stream.n, dtype=bool), np.ones(stream.n, dtype=bool)]:
        np.testing.assert_allclose(stream.total(mask), sum(f(mask) for f in played), atol=1e-9)


def assert_costs_stay_in_range(stream: Any, cost_range: tuple[float, float]) -> None:
    """In every round along a random order, whatever the learner's point; to the last bit."""
    rng = np.random.default_rng(2)
    costs = np.empty(stream.n + 1)
    low, high = cost_range
    assert low <= stream.cost_range[0] < stream.cost_range[1] <= high
    for t in range(stream.rounds):
        chain_costs(stream.compiled, t, rng.random(stream.n), rng.permutation(stream.n), costs)
        assert stream.cost_range[0] <= costs.min()
        assert costs.max() <= stream.cost_range[1]


def gap_of_the_best(stream: Any) -> float:
    """How much less the best set costs a round than the empty, the full and a random one (of 200, seed 0)."""
    rng = np.random.default_rng(0)
    total = stream.total
    random = float(np.mean([total(rng.random(stream.n) < 0.5) for _ in range(200)]))
    others = min(total([]), total(range(stream.n)), random)
    return float(others - minimize(total).value) / stream.rounds


def fits(counts: FloatArray, law: FloatArray) -> bool:
    """Whether counts of draws pass the chi-squared test of a law at the rate ALPHA."""
    return bool(stats.chisquare(counts, law * counts.sum()).pvalue > ALPHA)
