"""What items bring within a set: a linear model for each item, of which other items are there.

An item i of a set S brings ``a_i + sum of b_ij over the other items j of S`` on average. Together the items
of a set then bring a quadratic function of it. What is known of each item's coefficients is a normal law, as
is the noise, so the laws have closed forms; the sum is the mean that `gaussian_process` goes on from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.checks import FloatArray
from discreet.policies.climbing import climbed


class PartScales(NamedTuple):
    """The size of what items bring, of what others change in it, relatively, and the variance of a part."""

    own: float
    others: float
    variance: float


#: The first scales, and those that are tried.
FIRST_PARTS = PartScales(0.1, 0.1, 0.1)
PART_GRIDS = (
    np.geomspace(0.003, 0.6, 9),
    np.array([0.01, 0.03, 0.1, 0.3]),
    np.geomspace(0.003, 0.3, 5),
)


class PartMeans(NamedTuple):
    """Observed means of what items brought in some sets: a row per set, given by its members as 0 and 1."""

    members: FloatArray
    means: FloatArray
    per_part: FloatArray  # what multiplies the variance of a part in the variance of a mean
    noise: FloatArray  # the rest of that variance

    def _weighed(self, variance: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weight of each set, and the normal equations of each item."""
        weights = 1 / (self.per_part * variance + self.noise)
        members, n = self.members, self.members.shape[1]
        within = weights[:, None] * members  # item i is observed where it is in the set
        matrices = within.T @ (members[:, :, None] * members[:, None, :]).reshape(len(members), n * n)
        right = (within * self.means).T @ members
        return weights, matrices.reshape(n, n, n), right


class Parts:
    """What the observed means say about all items."""

    def __init__(self, observed: PartMeans, scales: PartScales) -> None:
        n = observed.members.shape[1]
        _, matrices, right = observed._weighed(scales.variance)
        matrices[:, np.arange(n), np.arange(n)] += _precisions(n, scales)
        roots = np.linalg.cholesky(matrices)
        #: The law of item i's coefficients has this mean, and the covariance ``roots[i] @ roots[i].T``.
        self._roots = np.linalg.inv(roots).transpose(0, 2, 1)
        #: The expected coefficients, a row per item.
        self.means = self._times(right[None])[0]

    def _times(self, vectors: FloatArray) -> FloatArray:
        """Each item's covariance times its vector, for many of them."""
        half = np.einsum("ikj,bik->bij", self._roots, vectors, optimize=True)
        return np.asarray(np.einsum("ijk,bik->bij", self._roots, half, optimize=True))

    def features(self, members: FloatArray) -> FloatArray:
        """A row per set, whose inner products are the covariances of what the items of sets bring."""
        inner = np.einsum("sj,ijk->sik", members, self._roots, optimize=True)
        return np.asarray((inner * members[:, :, None]).reshape(len(members), -1))

    def predicted(self, told: PartMeans, most: float) -> tuple[FloatArray, FloatArray]:
        """The expected means of what items bring in some sets, and their variances; a row per set.

        Items together bring at most so much in a round, which bounds the variance where costs prevail.
        """
        expected = told.members @ self.means.T
        spread = most * np.clip(np.abs(expected), 0.01 * most, most)
        features = self.features(told.members).reshape(*told.members.shape, -1)
        return expected, np.square(features).sum(axis=2) + told.per_part[:, None] * spread

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Coefficients drawn at random, so many times."""
        noise = rng.standard_normal((count, *self.means.shape))
        return np.asarray(self.means + np.einsum("ijk,bik->bij", self._roots, noise, optimize=True))

    def across(self, members: FloatArray, weights: FloatArray) -> FloatArray:
        """The coefficients of the covariance with a weighed sum of observed sets; a row of weights each."""
        within = np.einsum("bs,si,sj->bij", weights, members, members, optimize=True)
        return self._times(within)


def _precisions(n: int, scales: PartScales) -> FloatArray:
    """Of each item's coefficients, its own first among equals."""
    sizes = np.full((n, n), scales.own * scales.others)
    np.fill_diagonal(sizes, scales.own)
    return 1 / sizes**2


def fitted_parts(observed: PartMeans, scales: PartScales) -> PartScales:
    """The scales of largest evidence that steps along the grids lead to."""

    def evidence(tried: tuple[float, ...]) -> float:
        given = PartScales(*tried)
        n = observed.members.shape[1]
        precisions = _precisions(n, given)
        weights, matrices, right = observed._weighed(given.variance)
        matrices[:, np.arange(n), np.arange(n)] += precisions
        roots = np.linalg.cholesky(matrices)
        scaled = np.linalg.solve(roots, right[:, :, None])
        within = observed.members * weights[:, None]
        found = 0.5 * (scaled**2).sum() - 0.5 * (within * observed.means**2).sum()
        found += 0.5 * (observed.members * np.log(weights)[:, None]).sum() + 0.5 * np.log(precisions).sum()
        return float(found - np.log(np.einsum("ijj->ij", roots)).sum())

    return PartScales(*climbed(evidence, scales, PART_GRIDS))


def at_sets(coefficients: FloatArray, members: FloatArray) -> FloatArray:
    """What the items of each set bring together; a row per quadratic function."""
    return np.asarray(np.einsum("si,bij,sj->bs", members, coefficients, members, optimize=True))


def quadratic_in_signs(coefficients: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same quadratic functions of signs: constants, coefficients of items, and of pairs twice."""
    both = (coefficients + coefficients.transpose(0, 2, 1)) / 2
    own = np.einsum("bii->b", both)
    pairs = both / 2
    pairs[:, np.arange(pairs.shape[1]), np.arange(pairs.shape[1])] = 0.0
    return (both.sum(axis=(1, 2)) + own) / 4, both.sum(axis=2) / 2, pairs
