"""Pools of functions with prices: each function from its definition, scaling, laws and the best set."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from stream_checks import (
    ALPHA,
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
    gap_of_the_best,
)

from discreet import DiscreetError, minimize
from discreet.checks import FloatArray
from discreet.environments import Environment, Pool, concave, coverage, priced_cuts, switching
from discreet.set_functions import Cut, Modular, Sum, is_submodular

N, EDGE, TARGETS, COVERED, HEIGHT = 4, 0.4, 5, 0.4, 3.0
SETS = [[i for i in range(N) if code >> i & 1] for code in range(2**N)]


def slow_cut(rng: np.random.Generator) -> list[float]:
    uniform, present = rng.random((N, N)), rng.random((N, N)) < EDGE
    pairs = [itertools.product(s, set(range(N)) - set(s)) for s in SETS]
    return [sum(uniform[i, j] * present[i, j] for i, j in each) for each in pairs]


def slow_coverage(rng: np.random.Generator) -> list[float]:
    needs, costs = rng.random((N, TARGETS)) < COVERED, rng.random(TARGETS)
    reward = costs[needs.any(axis=0)].sum() / N
    return [costs[needs[s].any(axis=0)].sum() - reward * len(s) for s in SETS]


def slow_concave(rng: np.random.Generator) -> list[float]:
    h = HEIGHT / N**0.5 * rng.random()
    return [h * ((len(s) * N) ** 0.5 - len(s)) for s in SETS]


@pytest.mark.parametrize(
    ("environment", "slow"),
    [
        (priced_cuts(N, edge=EDGE, bias=0.7, spread=0.5, functions=6), slow_cut),
        (coverage(N, TARGETS, COVERED, bias=0.7, spread=0.5, functions=6), slow_coverage),
        (concave(N, HEIGHT, bias=0.7, spread=0.5, functions=6), slow_concave),
    ],
    ids=["cuts", "coverage", "concave"],
)
def test_functions_follow_the_definition(
    environment: Environment, slow: Callable[[np.random.Generator], list[float]]
) -> None:
    """Set by set, from the same draws: published numbers depend on it. No value leaves [-1, 1]."""
    pool, rng = environment.stream(20, seed=3), np.random.default_rng(3)
    assert isinstance(pool, Pool)
    assert len(pool.functions) == 6
    for values in pool.compiled.values:
        drawn = np.array(slow(rng))
        prices = np.array([-0.7, 0.7, -0.7, 0.7]) + 0.5 * rng.normal(size=N)
        raw = drawn + [prices[s].sum() for s in SETS]
        expected = 2 * (raw - raw.min()) / (raw.max() - raw.min()) - 1
        np.testing.assert_allclose(values, expected, atol=1e-12)
        assert -1 <= values.min() < values.max() <= 1
    np.testing.assert_array_equal(pool.compiled.choice, Pool(pool.functions, 20, seed=1003).compiled.choice)


@pytest.mark.parametrize("make", [concave, coverage, priced_cuts])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_costs_and_total(make: Callable[..., Environment], n: int) -> None:
    """Each is a pool of submodular functions."""
    pool = make(n, functions=5).stream(30, seed=2)
    assert_compiled_costs_are_values(pool)
    assert_total_is_the_sum(pool)
    assert all(is_submodular(f) for f in pool.functions)  # type: ignore[attr-defined]


@pytest.mark.parametrize("n", [4, 8, 10])
@pytest.mark.parametrize(("make", "gap"), [(concave, 0.4), (coverage, 0.15)])
def test_every_other_item_is_best(make: Callable[..., Environment], gap: float, n: int) -> None:
    """Clearly better than the empty, the full and a random set."""
    for seed in range(3):
        stream = make(n).stream(4096, seed=seed)
        assert minimize(stream.total).set == set(range(0, n, 2))
        assert gap_of_the_best(stream) > gap


def parts_of(f: object) -> tuple[Cut, FloatArray]:
    """The cut and the prices inside, which are only scaled: edges and the prices' signs are as drawn."""
    assert isinstance(f, Sum)
    cut, prices = f.terms
    assert isinstance(cut, Cut)
    assert isinstance(prices, Modular)
    return cut, prices.weights


def test_edges_and_prices_follow_their_law() -> None:
    """Seed 4, 300 functions of 5 items, alpha 1e-6 by exact binomial tests.

    Each of 6000 edges is present with probability 0.3; 0.25 and 0.35 are rejected. A price has
    the sign of its mean with probability Phi(bias / spread); twice and half the bias are rejected.
    """
    bias, spread = 0.5, 1.0
    pool = priced_cuts(5, edge=0.3, bias=bias, spread=spread, functions=300).stream(10, seed=4)
    parts = [parts_of(f) for f in pool.functions]  # type: ignore[attr-defined]
    edges = sum(cut.edges[0].size for cut, _ in parts)
    agreeing = sum(int((prices * [-1, 1, -1, 1, -1] > 0).sum()) for _, prices in parts)

    def accepted(count: int, trials: int, probability: float) -> bool:
        return bool(stats.binomtest(count, trials, probability).pvalue > ALPHA)

    assert accepted(edges, 300 * 20, 0.3)
    assert not accepted(edges, 300 * 20, 0.25)
    assert not accepted(edges, 300 * 20, 0.35)
    assert accepted(agreeing, 300 * 5, stats.norm.cdf(bias / spread))
    assert not accepted(agreeing, 300 * 5, stats.norm.cdf(2 * bias / spread))
    assert not accepted(agreeing, 300 * 5, stats.norm.cdf(bias / 2 / spread))


def test_constant_functions_are_refused() -> None:
    """They could not be scaled."""
    with pytest.raises(DiscreetError, match="The parameters of priced-cuts must give functions that vary"):
        priced_cuts(3, edge=0, bias=0, spread=0).stream(10)


def test_the_halves_of_a_switch_are_two_pools() -> None:
    """Published numbers depend on it. An odd round goes to the second half."""
    stream = switching(4).stream(21, seed=3)
    first, later = priced_cuts(4).stream(10, seed=3), priced_cuts(4, bias=-0.5).stream(11, seed=503)
    assert [f.to_dict() for f in stream] == [f.to_dict() for f in [*first, *later]]
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, (-1.0, 1.0))
    with pytest.raises(DiscreetError, match=r"The 'rounds' of switching must be .* at least 2"):
        switching(4).stream(1)


def test_the_best_set_switches_at_half_time() -> None:
    """From the even items to the odd ones, in the default size."""
    for seed in range(3):
        assert minimize(switching().stream(8192, seed).total_until(4096)).set == {0, 2, 4, 6}
        later = priced_cuts(8, bias=-0.5).stream(4096, seed + 500)
        best = minimize(later.total)
        assert {1, 3, 5, 7} <= best.set or best.set <= {1, 3, 5, 7}
        assert best.value < later.total([0, 2, 4, 6])
