"""Tables and pools; pools of functions with prices from their definition, scaling, laws and the best set."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from stream_checks import ALPHA

from discreet import DiscreetError, minimize
from discreet.checks import FloatArray
from discreet.environments import (
    Environment,
    Pool,
    TableStream,
    check_stream,
    coverage,
    flipping,
    priced_cuts,
    substitutes,
    switching,
)
from discreet.environments.pool import PricedPool
from discreet.set_functions import ConcaveOfCardinality, Coverage, Cut, Iwata, Modular, Sum, is_submodular

N, EDGE, TARGETS, COVERED = 4, 0.4, 5, 0.4
SETS = [[i for i in range(N) if code >> i & 1] for code in range(2**N)]


def test_total_is_the_sum_over_rounds() -> None:
    """With probabilities, some of them zero."""
    functions = [Modular([1.0, 0.0]), Modular([0.0, 1.0]), Modular([100.0, 100.0])]
    pool = Pool(functions, rounds=1000, probabilities=[0.25, 0.75, 0.0], seed=2)
    assert pool.total([0]) + pool.total([1]) == 1000
    assert 200 < pool.total([0]) < 300


def test_iterating_gives_the_functions_round_by_round() -> None:
    """The very objects, as often as they were drawn; and again from the start the second time."""
    functions = [Modular([1.0, 0.0]), Iwata(2)]
    pool = Pool(functions, rounds=20, seed=4)
    assert [functions.index(f) for f in pool] == pool.compiled.choice.tolist()
    assert len(list(pool)) == 20


def test_one_pool_then_another() -> None:
    """The rounds follow each other, functions in both pools are allowed, and the pools stay as they were."""
    first = Pool([Modular([1.0, 0.0, 0.0]), Iwata(3)], rounds=20, seed=5)
    second = Pool([Iwata(3), Cut(np.ones((3, 3))), first.functions[0]], rounds=30, seed=6)
    both = first.then(second)
    assert (both.n, both.rounds) == (3, 50)
    assert list(both) == [*first, *second]
    check_stream(both)
    assert (len(list(first)), len(list(second))) == (20, 30)


def test_two_pools_take_turns() -> None:
    """Period by period, each goes on where the other interrupted it; the last period may be cut off."""
    first = Pool([Modular([1.0, 0.0]), Modular([2.0, 0.0])], rounds=11, seed=5)
    other = Pool([Modular([0.0, 1.0]), Modular([0.0, 2.0])], rounds=11, seed=6)
    both = first.alternating(other, 3)
    pairs = zip(first, other, strict=True)
    assert list(both) == [mine if t // 3 % 2 == 0 else theirs for t, (mine, theirs) in enumerate(pairs)]
    check_stream(both)


def test_functions_of_more_items_are_evaluated() -> None:
    """Their sums of parts, round by round and joined; a function of no known parts is refused."""
    rng = np.random.default_rng(3)
    n = 18
    parts = [
        Cut(rng.random((n, n)) / 200, rng.normal(size=n) / 40),
        Coverage([rng.choice(7, 3, replace=False) for _ in range(n)], rng.random(7) / 20),
        ConcaveOfCardinality(np.sqrt(np.arange(n + 1.0)) / 20),
        Modular(rng.normal(size=n) / 40, constant=-0.1),
    ]
    pool = PricedPool([*parts, Sum(parts[:2]), Sum([parts[2], parts[3]])], rounds=60, seed=1)
    assert set(pool.compiled.choice.tolist()) == set(range(6))
    check_stream(pool)
    check_stream(pool.then(pool).alternating(pool.then(pool), 7))
    with pytest.raises(DiscreetError, match="more than 16 items cannot be Iwata"):
        PricedPool([Iwata(18)], rounds=10)


def test_a_table_is_a_stream() -> None:
    """Row t has the costs of round t, or of the rounds that choose it."""
    values = np.random.default_rng(7).normal(size=(10, 8))
    for stream in (TableStream(values), TableStream(values, np.array([3, 3, 0, 9, 3]))):
        check_stream(stream)
    assert [f([0, 2]) for f in stream] == values[[3, 3, 0, 9, 3], 0b101].tolist()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Pool([], 10), "'functions'"),
        (lambda: Pool([Iwata(3)], 0), "'rounds'"),
        (lambda: Pool([Iwata(17)], 10), "from 1 to 16"),
        (lambda: Pool([Iwata(3), Iwata(4)], 10), r"the same number of items. Got \[3, 4\]"),
        (lambda: Pool([Iwata(3)], 10, probabilities=[0.5]), "'probabilities'"),
        (lambda: Pool([Iwata(3), Iwata(3)], 10, probabilities=[1.5, -0.5]), "'probabilities'"),
        (lambda: TableStream([[1.0, 2.0, 3.0]]), r"2\^n columns. Got shape \(1, 3\)"),
        (lambda: TableStream(np.empty((0, 4))), r"one row per round"),
        (lambda: TableStream([[1.0, np.inf]]), "finite numbers"),
        (lambda: TableStream([[1.0, 2.0]], [0, 1]), "'choice' of TableStream"),
        (lambda: TableStream([[1.0, 2.0]], []), "'number of rounds' of TableStream"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()


def slow_cut(rng: np.random.Generator) -> list[float]:
    uniform, present = rng.random((N, N)), rng.random((N, N)) < EDGE
    pairs = [itertools.product(s, set(range(N)) - set(s)) for s in SETS]
    return [sum(uniform[i, j] * present[i, j] for i, j in each) for each in pairs]


def slow_coverage(rng: np.random.Generator) -> list[float]:
    needs, costs = rng.random((N, TARGETS)) < COVERED, rng.random(TARGETS)
    reward = costs[needs.any(axis=0)].sum() / N
    return [costs[needs[s].any(axis=0)].sum() - reward * len(s) for s in SETS]


@pytest.mark.parametrize(
    ("environment", "slow"),
    [
        (priced_cuts(N, edge=EDGE, bias=0.7, spread=0.5, functions=6), slow_cut),
        (coverage(N, TARGETS, COVERED, bias=0.7, spread=0.5, functions=6), slow_coverage),
    ],
    ids=["cuts", "coverage"],
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


@pytest.mark.parametrize("make", [coverage, priced_cuts])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_costs_and_total(make: Callable[..., Environment], n: int) -> None:
    """Each is a pool of submodular functions."""
    pool = make(n, functions=5).stream(30, seed=2)
    check_stream(pool)
    assert all(is_submodular(f) for f in pool.functions)  # type: ignore[attr-defined]


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
    check_stream(stream)
    with pytest.raises(DiscreetError, match=r"The 'rounds' of switching must be .* at least 2"):
        switching(4).stream(1)


def test_flipping_worlds_are_those_of_a_switch() -> None:
    """The even items are best in the first period, others in the next."""
    stream = flipping(4, period=5).stream(23, seed=3)
    first, other = priced_cuts(4).stream(23, seed=3), priced_cuts(4, bias=-0.5).stream(23, seed=503)
    pairs = enumerate(zip(first, other, strict=True))
    expected = [mine if t // 5 % 2 == 0 else theirs for t, (mine, theirs) in pairs]
    assert [f.to_dict() for f in stream] == [f.to_dict() for f in expected]
    check_stream(stream)
    assert minimize(flipping(period=2048).stream(4096).sum_of(slice(2048))).set == {0, 2, 4, 6}


def test_of_substitutes_one_is_enough() -> None:
    """A customer has one or two wishes, each of them fulfilled by any item that fits."""
    pool = substitutes(9, size=3).stream(200, seed=1)
    for function in pool.functions[:40]:
        worth = -function
        assert is_submodular(worth)
        values = worth.table().values
        assert np.isin(values.round(12), [0, 0.3, 0.7, 1]).all()
        assert worth(range(9)) == values.max() <= sum(worth([i]) for i in range(9))
    many = substitutes(30, size=4).stream(50, seed=1)
    check_stream(many)
    assert many.cost_range == (-1.0, 0.0)
