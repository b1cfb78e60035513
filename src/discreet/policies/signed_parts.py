"""What items bring, from sums with random signs: all that local mode can release of many numbers in one bit.

In a slot each item has a public sign, and of a person's feedback the sum of what the items of the set
brought is measured, each times its sign. One bit of it tells something about all items at once, with as much
noise as a bit about a single one. The model is linear: noise is too large to see more.
"""

from __future__ import annotations

import numpy as np

from discreet.checks import FloatArray
from discreet.policies.climbing import climbed

#: The sizes that are tried of what an item brings, in halves of the range.
SIZES = (np.geomspace(0.003, 0.6, 9),)


class SignedParts:
    """What is known of the items, in the form of `Parts`: coefficients of pairs are zero.

    Args:
        sums: A row for each item: the sums of products of the items' signs in a slot, times its rounds. The
            last row: of the items' signs times what was released.
        variance: Of the noise of a round.
        size: Of what an item brings.
    """

    def __init__(self, sums: FloatArray, variance: float, size: float) -> None:
        matrix, right = sums[:-1] / variance, sums[-1] / variance
        root = np.linalg.cholesky(matrix + np.eye(right.size) / size**2)
        self._root = np.linalg.inv(root).T
        self.means = np.diag(self._root @ (self._root.T @ right))

    def features(self, members: FloatArray) -> FloatArray:
        """A row per set, whose inner products are the covariances of what the items of sets bring."""
        return np.asarray(members @ self._root)

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Coefficients drawn at random, so many times."""
        return self.means + _diagonals(rng.standard_normal((count, len(self._root))) @ self._root.T)

    def across(self, members: FloatArray, weights: FloatArray) -> FloatArray:
        """The coefficients of the covariance with a weighed sum of observed sets; a row of weights each."""
        return _diagonals(weights @ members @ self._root @ self._root.T)


def _diagonals(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[:, None, :] * np.eye(rows.shape[1]))


def fitted_size(sums: FloatArray, variance: float, size: float) -> float:
    """The size of largest evidence."""
    matrix, right = sums[:-1] / variance, sums[-1] / variance
    values, vectors = np.linalg.eigh(matrix)
    values, turned = np.maximum(values, 0.0), vectors.T @ right

    def evidence(tried: tuple[float, ...]) -> float:
        square = tried[0] ** 2
        grown = 1 + square * values
        return float(0.5 * (square * turned**2 / grown - np.log(grown)).sum())

    return climbed(evidence, (size,), SIZES)[0]
