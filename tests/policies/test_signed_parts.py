"""Items learned from signed sums, against dense linear algebra."""

import itertools

import numpy as np
import pytest
from scipy import stats

from discreet.checks import FloatArray
from discreet.policies.parts import at_sets
from discreet.policies.signed_parts import SIZES, SignedParts, fitted_size

N, VARIANCE = 3, 2.0
ALL = np.array(list(itertools.product([0.0, 1.0], repeat=N)))


def slots(seed: int, size: float = 0.3, count: int = 9) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Signs of the items shown in some slots, their rounds, and the mean of what was released."""
    rng = np.random.default_rng(seed)
    signs = rng.choice((-1.0, 1.0), (count, N)) * (rng.random((count, N)) < 0.7)
    rounds = rng.integers(20, 200, count).astype(np.float64)
    means = signs @ rng.normal(0, size, N) + rng.normal(0, 1, count) * np.sqrt(VARIANCE / rounds)
    return signs, rounds, means


def sums(signs: FloatArray, rounds: FloatArray, means: FloatArray) -> FloatArray:
    return np.vstack(((signs * rounds[:, None]).T @ signs, (rounds * means) @ signs))


@pytest.mark.parametrize("seed", range(4))
def test_the_law_is_that_of_dense_matrices(seed: int) -> None:
    """The mean and the covariance of items, of sums over sets, and with weighed sets."""
    signs, rounds, means = slots(seed)
    prior, noise = np.eye(N) * 0.2**2, np.diag(VARIANCE / rounds)
    gain = prior @ signs.T @ np.linalg.inv(signs @ prior @ signs.T + noise)
    mean, covariance = gain @ means, prior - gain @ signs @ prior
    parts = SignedParts(sums(signs, rounds, means), VARIANCE, 0.2)
    np.testing.assert_allclose(at_sets(parts.means[None], ALL)[0], ALL @ mean, atol=1e-10)
    features = parts.features(ALL)
    np.testing.assert_allclose(features @ features.T, ALL @ covariance @ ALL.T, atol=1e-10)
    weights = np.random.default_rng(seed).normal(size=(2, len(ALL)))
    across = at_sets(parts.across(ALL, weights), ALL)
    np.testing.assert_allclose(across, weights @ ALL @ covariance @ ALL.T, atol=1e-10)
    drawn = np.einsum("bii->bi", parts.drawn(4000, np.random.default_rng(seed)))
    white = np.linalg.solve(np.linalg.cholesky(covariance), (drawn - mean).T)
    for wrong, alike in ((1.0, True), (1.1, False), (1 / 1.1, False)):  # false alarms 1e-6
        chance = stats.chi2.sf(((wrong * white) ** 2).sum(), white.size)
        assert bool(1e-6 < chance < 1 - 1e-6) is alike


def test_the_size_of_items_has_the_largest_evidence() -> None:
    """Among all sizes of the grid, and more for items that bring more."""
    found = []
    for size in (0.02, 0.4):
        signs, rounds, means = slots(8, size, 200)

        def density(tried: float, signs=signs, rounds=rounds, means=means) -> float:
            covariance = tried**2 * signs @ signs.T + np.diag(VARIANCE / rounds)
            return float(stats.multivariate_normal(np.zeros(len(means)), covariance).logpdf(means))

        found.append(fitted_size(sums(signs, rounds, means), VARIANCE, float(SIZES[0][4])))
        assert density(found[-1]) == pytest.approx(max(map(density, SIZES[0].tolist())))
    assert found[0] < 0.1 < found[1]
