"""The Gaussian process on sets, against dense linear algebra over all of them."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.checks import FloatArray
from discreet.constraints import Constraints
from discreet.policies.gaussian_process import (
    CONSTANT,
    GRIDS,
    Covariance,
    Functions,
    Means,
    Posterior,
    Scales,
    _evidence,
    fitted,
)

N = 4
SCALES = Scales(0.3, 0.5, 1.5, 0.2)


def all_sets(n: int = N) -> FloatArray:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def dense(n: int, scales: Scales) -> FloatArray:
    """The covariance of all sets, from its parts: of single items, of pairs, and of random products."""
    sets, size = all_sets(n), scales.items**2
    pairs = np.array([[s[i] * s[j] for i in range(n) for j in range(i)] for s in sets]).reshape(len(sets), -1)
    share = min(0.25, 3 / n)
    products = np.zeros((len(sets), len(sets)))
    for members in itertools.product([0, 1], repeat=n):
        chance = np.prod([share if inside else 1 - share for inside in members])
        signs = np.prod(np.where(members, sets, 1.0), axis=1)
        products += chance * np.outer(signs, signs)
    parts = sets @ sets.T + scales.pairs**2 * pairs @ pairs.T + scales.orders**2 * products
    return np.asarray(CONSTANT + size * parts)


def observed(rng: np.random.Generator, count: int = 7, n: int = N) -> Means:
    signs = all_sets(n)[rng.choice(2**n, count, replace=False)]
    variances = rng.uniform(0, 0.2, count), rng.uniform(0.01, 0.1, count)
    return Means(signs, rng.normal(0, 0.5, count), *variances)


def by_hand(means: Means, scales: Scales, n: int = N) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of all sets, given the observed means."""
    every, sets = dense(n, scales), all_sets(n)
    at = [int((sets == row).all(axis=1).argmax()) for row in means.signs]
    inverse = np.linalg.inv(every[np.ix_(at, at)] + np.diag(means.per_cost * scales.variance + means.noise))
    across = every[:, at]
    return across @ inverse @ means.means, every - across @ inverse @ across.T


def some_functions(count: int, seed: int = 1, n: int = N) -> Functions:
    rng = np.random.default_rng(seed)
    return Posterior(Covariance(n), observed(rng, n=n), SCALES).drawn(np.linspace(0.2, 1.5, count), rng)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_covariance_is_that_of_its_parts(n: int) -> None:
    """By the number of items in which two sets differ; products have a quarter of all items, at most."""
    covariance, sets = Covariance(n), all_sets(n)
    found = covariance.by_distance(SCALES)[covariance.distances(sets, sets)]
    np.testing.assert_allclose(found, dense(n, SCALES), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_posterior_is_that_of_dense_matrices(seed: int) -> None:
    """Its mean and variance at every set, and its mean as a function."""
    means = observed(np.random.default_rng(seed))
    posterior = Posterior(Covariance(N), means, SCALES)
    mean, covariance = by_hand(means, SCALES)
    expected, variance = posterior.predicted(all_sets())
    np.testing.assert_allclose(expected, mean, atol=1e-10)
    np.testing.assert_allclose(variance, covariance.diagonal(), atol=1e-10)
    np.testing.assert_allclose(
        posterior.mean().rows(np.zeros(2**N, dtype=np.int64)).values(all_sets()), mean, atol=1e-10
    )


def test_drawn_functions_have_the_mean_and_covariance_of_the_posterior() -> None:
    """Seed 7, 2,000 functions, at all sets; false alarms 1e-6 each.

    A mean that is off by a fifth of a deviation is rejected, and so are deviations that are off by a tenth.
    Members of products are drawn for each call, so each has but one function here.
    """
    rng, count, factor = np.random.default_rng(7), 2000, 0.7
    means = observed(rng, 5, 3)
    posterior = Posterior(Covariance(3), means, SCALES)
    mean, covariance = by_hand(means, SCALES, 3)
    values = np.array(
        [
            posterior.drawn(np.array([factor]), rng).rows(np.zeros(8, dtype=np.int64)).values(all_sets(3))
            for _ in range(count)
        ]
    )
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (values - mean).T) / factor

    def passes(z: FloatArray) -> list[bool]:
        """Are the means of the whitened values zero, and their squares one?"""
        about, squares = (z.mean(axis=1) ** 2).sum() * count, (z**2).sum()
        return [
            bool(stats.chi2.sf(about, 8) > 1e-6),
            bool(1e-6 < stats.chi2.sf(squares, 8 * count) < 1 - 1e-6),
        ]

    assert passes(whitened) == [True, True]
    np.testing.assert_allclose(whitened @ whitened.T / count, np.eye(8), atol=0.15)
    assert passes(whitened + 0.2)[0] is False
    assert passes(1.1 * whitened)[1] is passes(whitened / 1.1)[1] is False


def test_a_function_without_a_factor_is_the_expected_one() -> None:
    """What is drawn is moved from it in proportion."""
    rng = np.random.default_rng(3)
    posterior = Posterior(Covariance(N), observed(rng), SCALES)
    none = posterior.drawn(np.zeros(1), rng).rows(np.zeros(2**N, dtype=np.int64)).values(all_sets())
    np.testing.assert_allclose(none, posterior.predicted(all_sets())[0], atol=1e-10)
    half, whole = (
        posterior.drawn(np.array([factor]), np.random.default_rng(5))
        .rows(np.zeros(2**N, dtype=np.int64))
        .values(all_sets())
        for factor in (0.5, 1.0)
    )
    np.testing.assert_allclose(half - none, 0.5 * (whole - none), atol=1e-10)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_flips_are_differences_of_values(n: int) -> None:
    """Of drawn functions and of the expected one, from every function's own set."""
    rng = np.random.default_rng(n)
    posterior = Posterior(Covariance(n), observed(rng, min(7, 2**n), n), SCALES)
    for functions in (posterior.drawn(np.ones(6), rng), posterior.mean().rows(np.zeros(6, dtype=np.int64))):
        signs = np.where(rng.random((6, n)) < 0.5, 1.0, -1.0)
        flips, values = functions.flips(signs), functions.values(signs)
        for item in range(n):
            other = signs.copy()
            other[:, item] *= -1
            np.testing.assert_allclose(flips[:, item], functions.values(other) - values, atol=1e-10)


def test_descents_end_where_no_free_item_helps() -> None:
    """They end nowhere above their start, and leave the items alone that are not free."""
    functions, rng = some_functions(20, n=6), np.random.default_rng(2)
    starts = np.where(rng.random((20, 6)) < 0.5, 1.0, -1.0)
    kept = starts.copy()
    for free in (None, np.array([True, False, True, True, False, True])):
        among = None if free is None else Constraints(6, 6, forbidden=tuple(np.flatnonzero(~free).tolist()))
        ends = functions.descended(starts, among)
        movable = np.ones(6, dtype=np.bool_) if free is None else free
        assert (functions.flips(ends)[:, movable] >= -1e-9).all()
        assert (functions.values(ends) <= functions.values(starts) + 1e-9).all()
        assert (ends[:, ~movable] == starts[:, ~movable]).all()
        assert (ends != starts).any()
    assert (starts == kept).all()


CONSTRAINED = [
    Constraints(6, 3),
    Constraints(6, 2, 2),
    Constraints(6, 4, 1, required=(0,), forbidden=(5,)),
    Constraints(6, 6, groups=((0, 1, 2), (3, 4))),
    Constraints(6, 3, 2, required=(3,), groups=((0, 1), (2, 3))),
]


@pytest.mark.parametrize("among", CONSTRAINED)
def test_descents_keep_to_constraints(among: Constraints) -> None:
    """They end where no change of one item, and no exchange of two, makes an allowed set better.

    From all allowed sets as starts the least of all is found, by enumeration.
    """
    functions, every = some_functions(20, n=6), all_sets(6)
    allowed = every[among.allows(every > 0)]
    starts = allowed[np.random.default_rng(2).integers(len(allowed), size=20)]
    ends = functions.descended(starts, among)
    assert among.allows(ends > 0).all()
    values = functions.values(ends)
    assert (values <= functions.values(starts) + 1e-9).all()
    for other in allowed:
        others = functions.values(np.tile(other, (20, 1)))
        apart = (ends != other).sum(axis=1)
        exchanged = (apart == 2) & (ends.sum(axis=1) == other.sum())
        assert (values[(apart == 1) | exchanged] <= others[(apart == 1) | exchanged] + 1e-9).all()
    least = np.min([functions.values(np.tile(row, (20, 1))) for row in allowed], axis=0)
    np.testing.assert_allclose(functions.values(functions.least(allowed, among)), least, atol=1e-10)


@pytest.mark.parametrize("among", CONSTRAINED)
def test_walks_keep_to_constraints(among: Constraints) -> None:
    functions, start = some_functions(20, n=6), among.repaired(np.zeros((1, 6), dtype=np.bool_))[0]
    found, gain = functions.walked(np.where(start, 1.0, -1.0), np.ones((20, 6), dtype=np.bool_), 1, among)
    assert among.allows(found > 0).all()
    assert np.isfinite(gain).any() == among.may_flip(start[None]).any()


def test_the_least_set_is_the_best_end_of_all_descents() -> None:
    """From all sets as starts it is the least of all, by enumeration; from one, that descent's own end."""
    functions = some_functions(10)
    values = np.array([functions.values(np.tile(row, (10, 1))) for row in all_sets()])
    found = functions.least(all_sets())
    np.testing.assert_allclose(functions.values(found), values.min(axis=0), atol=1e-10)
    one = all_sets()[:1]
    assert (functions.least(one) == functions.descended(np.tile(one, (10, 1)))).all()


@pytest.mark.parametrize("shortest", [1, 2, 3])
def test_a_walk_in_plain_python(shortest: int) -> None:
    """Greedy steps over free items, each once; the best set met, at least so many steps away."""
    count, n = 12, 5
    functions, rng = some_functions(count, seed=4, n=n), np.random.default_rng(6)
    start = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    free = rng.random((count, n)) < 0.6
    free[0], free[1] = False, True
    found, gain = functions.walked(start, free, shortest)
    for k in range(count):
        at, left, best = start.copy(), set(np.flatnonzero(free[k]).tolist()), (np.inf, start)
        value = values_of(functions, k, at)
        for step in range(1, len(left) + 1):
            options = {}
            for item in left:
                other = at.copy()
                other[item] *= -1
                options[item] = values_of(functions, k, other)
            item = min(options, key=lambda i: options[i])
            at[item] *= -1
            left.remove(item)
            if step >= shortest and options[item] - value < best[0]:
                best = (options[item] - value, at.copy())
        assert gain[k] == (np.inf if np.isinf(best[0]) else pytest.approx(best[0], abs=1e-9))
        assert found[k].tolist() == best[1].tolist()
    assert np.isinf(gain[0])


def values_of(functions: Functions, k: int, signs: FloatArray) -> float:
    return float(functions.values(np.tile(signs, (len(functions), 1)))[k])


def test_the_evidence_is_a_normal_density() -> None:
    """Up to a constant."""
    rng = np.random.default_rng(8)
    means = observed(rng)
    covariance = Covariance(N)
    distance = covariance.distances(means.signs, means.signs)
    gaps = []
    for scales in (SCALES, Scales(0.1, 0.1, 1.0, 0.5), Scales(0.6, 1.0, 4.0, 0.03)):
        every, sets = dense(N, scales), all_sets()
        at = [int((sets == row).all(axis=1).argmax()) for row in means.signs]
        matrix = every[np.ix_(at, at)] + np.diag(means.per_cost * scales.variance + means.noise)
        density = stats.multivariate_normal(np.zeros(len(at)), matrix).logpdf(means.means)
        gaps.append(_evidence(covariance, means, distance, scales) - density)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)


def test_scales_are_fitted_to_what_was_observed() -> None:
    """Never to less evidence, on the grids; large items give a large scale, pairs one for pairs."""
    covariance, rng, found = Covariance(6), np.random.default_rng(9), {}
    sets = all_sets(6)
    made = {
        "small": 0.02 * sets @ rng.normal(size=6),
        "large": 0.4 * sets @ rng.normal(size=6),
        "pairs": 0.1 * sets.sum(axis=1) + 0.4 * sets[:, 0] * sets[:, 1] - 0.4 * sets[:, 2] * sets[:, 3],
    }
    for name, values in made.items():
        noisy = values + rng.normal(0, 0.05, len(sets))
        means = Means(sets, noisy, np.full(len(sets), 0.01), np.full(len(sets), 0.05**2))
        first = Scales(0.1, 0.25, 1.0, 0.25)
        found[name] = scales = fitted(covariance, means, first, variance=True)
        distance = covariance.distances(sets, sets)
        before, after = (_evidence(covariance, means, distance, each) for each in (first, scales))
        assert after > before
        assert all(
            any(value == grid) or value == start
            for value, grid, start in zip(scales, GRIDS, first, strict=True)
        )
        kept = fitted(covariance, means, first, variance=False)
        assert kept.variance == first.variance
    assert found["large"].items > 4 * found["small"].items
    assert found["pairs"].pairs > found["large"].pairs


def test_the_heaviest_means_are_those_of_least_noise() -> None:
    """As many as are wanted, or all."""
    means = Means(all_sets(), np.arange(16.0), np.zeros(16), np.arange(16.0)[::-1])
    assert sorted(means.heaviest(5).means.tolist()) == [11, 12, 13, 14, 15]
    some: Any = means.heaviest(16)
    assert some.means.size == 16
