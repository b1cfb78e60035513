"""What items bring, against dense linear algebra over all coefficients."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.checks import FloatArray
from discreet.policies.gaussian_process import Covariance, Means, Posterior, Scales
from discreet.policies.parts import (
    PART_GRIDS,
    PartMeans,
    Parts,
    PartScales,
    at_sets,
    fitted_parts,
    quadratic_in_signs,
)

N = 3
SCALES = PartScales(0.3, 0.5, 0.1)
ALL = np.array(list(itertools.product([0.0, 1.0], repeat=N)))


def some_means(seed: int, count: int = 6) -> PartMeans:
    rng = np.random.default_rng(seed)
    members = ALL[rng.choice(len(ALL), count, replace=False)]
    means = members * rng.normal(0, 0.3, members.shape)
    return PartMeans(members, means, rng.uniform(0, 0.2, count), rng.uniform(0.01, 0.1, count))


def dense(observed: PartMeans, scales: PartScales) -> tuple[FloatArray, FloatArray, float]:
    """The law of all n^2 coefficients given all that was observed, and the density of that."""
    sizes = np.full((N, N), scales.own * scales.others)
    np.fill_diagonal(sizes, scales.own)
    prior, rows, values, noise = np.diag(sizes.ravel() ** 2), [], [], []
    for s, members in enumerate(observed.members):
        for i in np.flatnonzero(members):
            row = np.zeros((N, N))
            row[i] = members
            rows.append(row.ravel())
            values.append(observed.means[s, i])
            noise.append(observed.per_part[s] * scales.variance + observed.noise[s])
    design, told = np.array(rows), np.array(values)
    covariance = design @ prior @ design.T + np.diag(noise)
    gain = prior @ design.T @ np.linalg.inv(covariance)
    density = stats.multivariate_normal(np.zeros(told.size), covariance).logpdf(told)
    return gain @ told, prior - gain @ design @ prior, float(density)


def features_of(members: FloatArray) -> FloatArray:
    """What multiplies the coefficients in what the items of sets bring together."""
    return np.array([np.outer(row, row).ravel() for row in members])


@pytest.mark.parametrize("seed", range(4))
def test_the_law_is_that_of_dense_matrices(seed: int) -> None:
    """The expected coefficients, the covariances of sums over sets, and of a sum with weighed others."""
    observed = some_means(seed)
    parts, (mean, covariance, _) = Parts(observed, SCALES), dense(observed, SCALES)
    np.testing.assert_allclose(parts.means.ravel(), mean, atol=1e-10)
    sets = features_of(ALL)
    found = parts.features(ALL)
    np.testing.assert_allclose(found @ found.T, sets @ covariance @ sets.T, atol=1e-10)
    weights = np.random.default_rng(seed).normal(size=(2, len(observed.members)))
    across = at_sets(parts.across(observed.members, weights), ALL)
    wanted = weights @ features_of(observed.members) @ covariance @ sets.T
    np.testing.assert_allclose(across, wanted, atol=1e-10)
    expected, variance = parts.predicted(observed._replace(per_part=np.zeros(len(observed.noise))), 1.0)
    for s, members in enumerate(observed.members):
        for i in range(N):
            row = np.zeros((N, N))
            row[i] = members
            assert expected[s, i] == pytest.approx(row.ravel() @ mean)
            if members[i]:
                assert variance[s, i] == pytest.approx(row.ravel() @ covariance @ row.ravel())


def test_drawn_coefficients_follow_the_law() -> None:
    """Seed 1, 4,000 draws, false alarms 1e-6; a deviation that is off by a tenth is rejected."""
    observed, count = some_means(1), 4000
    parts, (mean, covariance, _) = Parts(observed, SCALES), dense(observed, SCALES)
    drawn = parts.drawn(count, np.random.default_rng(1)).reshape(count, -1)
    white = np.linalg.solve(np.linalg.cholesky(covariance), (drawn - mean).T)

    def passes(z: FloatArray) -> bool:
        return bool(1e-6 < stats.chi2.sf((z**2).sum(), z.size) < 1 - 1e-6)

    assert passes(white)
    assert not passes(1.1 * white)
    assert not passes(white / 1.1)
    np.testing.assert_allclose(white @ white.T / count, np.eye(N * N), atol=0.1)


def test_sums_over_sets_as_functions_of_signs() -> None:
    """The same numbers, with a constant, items and pairs."""
    coefficients = np.random.default_rng(2).normal(size=(4, N, N))
    constant, items, pairs = quadratic_in_signs(coefficients)
    signs = 2 * ALL - 1
    values = constant[:, None] + items @ signs.T + 0.5 * np.einsum("si,bij,sj->bs", signs, pairs, signs)
    np.testing.assert_allclose(values, at_sets(coefficients, ALL), atol=1e-12)
    assert not np.einsum("bii->bi", pairs).any()


@pytest.mark.parametrize("seed", range(3))
def test_whole_sets_and_parts_are_learned_from_together(seed: int) -> None:
    """The posterior of set costs is that of one dense normal law of coefficients and of the rest."""
    rng, observed, scales = np.random.default_rng(seed), some_means(seed), Scales(0.2, 0.5, 1.0, 0.3)
    signs = 2 * ALL - 1
    of_sets = Means(signs[[1, 4, 6]], rng.normal(0, 0.3, 3), np.full(3, 0.05), np.full(3, 0.02))
    covariance, parts = Covariance(N), Parts(observed, SCALES)
    posterior = Posterior(covariance, of_sets, scales, parts)
    mean, law, _ = dense(observed, SCALES)
    sets = features_of(ALL)
    prior = sets @ law @ sets.T + covariance.by_distance(scales)[covariance.distances(signs, signs)]
    at = [1, 4, 6]
    gain = prior[:, at] @ np.linalg.inv(prior[np.ix_(at, at)] + np.eye(3) * (0.05 * 0.3 + 0.02))
    wanted = sets @ mean + gain @ (of_sets.means - (sets @ mean)[at])
    expected, variance = posterior.predicted(signs)
    np.testing.assert_allclose(expected, wanted, atol=1e-9)
    np.testing.assert_allclose(variance, (prior - gain @ prior[at]).diagonal(), atol=1e-9)
    every = np.zeros(len(signs), dtype=np.int64)
    np.testing.assert_allclose(posterior.mean().rows(every).values(signs), wanted, atol=1e-9)
    same = posterior.drawn(np.zeros(len(signs)), rng)
    np.testing.assert_allclose(same.values(signs), wanted, atol=1e-9)
    flips = posterior.mean().rows(every).flips(signs)
    for i in range(N):
        other = signs.copy()
        other[:, i] *= -1
        change = posterior.mean().rows(every).values(other) - wanted
        np.testing.assert_allclose(flips[:, i], change, atol=1e-9)


def test_drawn_functions_with_parts_have_the_covariance_of_the_posterior() -> None:
    """Seed 3, 3,000 functions at all sets; false alarms 1e-6; deviations off by a tenth are rejected."""
    rng, observed, scales = np.random.default_rng(3), some_means(3), Scales(0.2, 0.5, 1.0, 0.3)
    signs = 2 * ALL - 1
    of_sets = Means(signs[[0, 3, 5]], rng.normal(0, 0.3, 3), np.full(3, 0.05), np.full(3, 0.02))
    posterior = Posterior(Covariance(N), of_sets, scales, Parts(observed, SCALES))
    every, count = np.zeros(len(signs), dtype=np.int64), 3000
    drawn = [posterior.drawn(np.ones(1), rng).rows(every).values(signs) for _ in range(count)]
    expected, variance = posterior.predicted(signs)
    z = (np.array(drawn) - expected) / np.sqrt(variance)
    squares = (z**2).sum(axis=0)  # of one set independent; eight sets are looked at

    def passes(sums: FloatArray) -> bool:
        chances = stats.chi2.sf(sums, count)
        return bool((chances > 1e-7).all() and (chances < 1 - 1e-7).all())

    assert passes(squares)
    assert not passes(squares * 1.21)
    assert not passes(squares / 1.21)


def test_scales_of_parts_are_fitted_by_evidence() -> None:
    """The density of what was observed grows, and large and small parts are told apart."""
    found: dict[str, Any] = {}
    rng = np.random.default_rng(4)
    for name, size in {"small": 0.01, "large": 0.3}.items():
        members = ALL[rng.integers(1, len(ALL), 40)]
        truth = rng.normal(0, size, N)
        noisy = members * (truth + rng.normal(0, 0.02, members.shape))
        observed = PartMeans(members, noisy, np.full(40, 1e-4), np.full(40, 0.02**2))
        first = PartScales(0.1, 0.1, 0.1)
        found[name] = scales = fitted_parts(observed, first)
        assert dense(observed, scales)[2] >= dense(observed, first)[2]
        assert all(np.isclose(grid, value).any() for grid, value in zip(PART_GRIDS, scales, strict=True))
    assert found["small"].own < 0.1 < found["large"].own
