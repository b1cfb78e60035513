"""Cuts with prices: the recipe, the range, and the law of edges and prices."""

import itertools

import numpy as np
import pytest
from scipy import stats
from stream_checks import ALPHA

from discreet import DiscreetError
from discreet.environments import Pool, cuts_with_prices
from discreet.set_functions import Cut, Modular, Sum, is_submodular


def test_the_recipe_gives_these_functions() -> None:
    """Against the definition, set by set, from the same draws: published numbers rest on it."""
    n, edge, bias, spread, seed = 4, 0.4, 0.7, 0.5, 3
    pool = cuts_with_prices(n, 20, functions=6, edge=edge, bias=bias, spread=spread, seed=seed)
    rng = np.random.default_rng(seed)
    subsets = [[i for i in range(n) if code >> i & 1] for code in range(2**n)]
    for f in pool.functions:
        uniform, present = rng.random((n, n)), rng.random((n, n)) < edge
        prices = [bias * (-1) ** (i + 1) + spread * normal for i, normal in enumerate(rng.normal(size=n))]
        slow = np.array(
            [
                sum(prices[i] for i in s)
                + sum(uniform[i, j] * present[i, j] for i, j in itertools.product(s, set(range(n)) - set(s)))
                for s in subsets
            ]
        )
        expected = 2 * (slow - slow.min()) / (slow.max() - slow.min()) - 1
        np.testing.assert_allclose([f(s) for s in subsets], expected, atol=1e-12)
    np.testing.assert_array_equal(pool.compiled.choice, Pool(pool.functions, 20, seed=1003).compiled.choice)


def test_functions_fill_the_range_and_are_submodular() -> None:
    """The defaults, for one item, two and five."""
    for n in (1, 2, 5):
        pool = cuts_with_prices(n, 10, seed=1)
        assert len(pool.functions) == 32
        for values in pool.compiled.values:
            assert values.min() == pytest.approx(-1, abs=1e-12)
            assert values.max() == pytest.approx(1, abs=1e-12)
        assert all(is_submodular(f).submodular for f in pool.functions[:3])


def parts_of(f: object) -> tuple[Cut, Modular]:
    """The cut and the prices inside, which are only scaled: edges and the prices' signs are as drawn."""
    assert isinstance(f, Sum)
    cut, prices = f.terms
    assert isinstance(cut, Cut)
    assert isinstance(prices, Modular)
    return cut, prices


def test_edges_and_prices_follow_their_law() -> None:
    """Seed 4, 300 functions of 5 items, alpha 1e-6 by exact binomial tests.

    Each of 6000 edges is present with probability 0.3; 0.25 and 0.35 are rejected. A price has
    the sign of its mean with probability Phi(bias / spread); twice and half the bias are rejected.
    """
    bias, spread = 0.5, 1.0
    pool = cuts_with_prices(5, 10, functions=300, edge=0.3, bias=bias, spread=spread, seed=4)
    parts = [parts_of(f) for f in pool.functions]
    edges = sum(cut.edges[0].size for cut, _ in parts)
    means = np.array([-1, 1, -1, 1, -1])
    agreeing = sum(int((prices.weights * means > 0).sum()) for _, prices in parts)

    def accepted(count: int, trials: int, probability: float) -> bool:
        return bool(stats.binomtest(count, trials, probability).pvalue > ALPHA)

    assert accepted(edges, 300 * 20, 0.3)
    assert not accepted(edges, 300 * 20, 0.25)
    assert not accepted(edges, 300 * 20, 0.35)
    assert accepted(agreeing, 300 * 5, stats.norm.cdf(bias / spread))
    assert not accepted(agreeing, 300 * 5, stats.norm.cdf(2 * bias / spread))
    assert not accepted(agreeing, 300 * 5, stats.norm.cdf(bias / 2 / spread))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: cuts_with_prices(17, 10),
            "The 'n' of cuts_with_prices must be a whole number from 1 to 16.",
        ),
        (lambda: cuts_with_prices(3, 0), "The 'rounds' of cuts_with_prices"),
        (lambda: cuts_with_prices(3, 10, functions=0), "The 'functions' of cuts_with_prices"),
        (
            lambda: cuts_with_prices(3, 10, edge=2),
            "The 'edge' of cuts_with_prices must be a number from 0 to 1.",
        ),
        (lambda: cuts_with_prices(3, 10, bias=float("inf")), "The 'bias' of cuts_with_prices"),
        (
            lambda: cuts_with_prices(3, 10, spread=-1),
            "The 'spread' of cuts_with_prices must be a nonnegative",
        ),
        (lambda: cuts_with_prices(3, 10, seed=-1), "The 'seed' of cuts_with_prices"),
        (lambda: cuts_with_prices(3, 10, edge=0, bias=0, spread=0), "must give functions that vary"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
