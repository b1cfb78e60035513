"""A simple model of costs: a level per segment, one number per item and, with data enough, per pair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.checks import BoolArray, FloatArray, IntArray

FOLDS = 5
#: Pairs are used where there are so many rounds per number to be fitted, and no more numbers than these.
ROUNDS_PER_NUMBER, MOST_NUMBERS = 20, 1500
_AT_ONCE = 8192  # rows whose features are in memory


class CostModel:
    """Ridge regression. Fold k was fitted without the rounds k, k + FOLDS, ..., which are new to it."""

    def __init__(self, masks: BoolArray, segment: IntArray, costs: FloatArray) -> None:
        rounds, n = masks.shape
        self._segments = int(segment.max()) + 1
        numbers = self._segments + n + n * (n - 1) // 2
        fits = numbers <= min(MOST_NUMBERS, rounds // ROUNDS_PER_NUMBER)
        self._pairs = np.triu_indices(n if fits else 0, 1)
        size = self._segments + n + self._pairs[0].size
        fold = np.arange(rounds) % FOLDS
        products, sums = np.zeros((FOLDS, size, size)), np.zeros((FOLDS, size))
        for rows in _chunks(rounds):
            features = self.features(masks[rows], segment[rows])
            for k in range(FOLDS):
                mine = fold[rows] == k
                products[k] += features[mine].T @ features[mine]
                sums[k] += features[mine].T @ costs[rows][mine]
        others = products.sum(axis=0) - products + np.eye(size)
        self._fitted: FloatArray = np.linalg.solve(others, (sums.sum(axis=0) - sums)[..., None])[..., 0]

    def features(self, masks: BoolArray, segment: IntArray) -> FloatArray:
        """A row of numbers for each set; items count 1 if shown and -1 if not."""
        signs = np.where(masks, 1.0, -1.0)
        level = segment[:, None] == np.arange(self._segments)
        return np.hstack((level, signs, signs[:, self._pairs[0]] * signs[:, self._pairs[1]]))

    def predicted(self, masks: BoolArray, segment: IntArray) -> FloatArray:
        """A row for each set, a column for each fold."""
        return np.vstack([self.features(masks[r], segment[r]) @ self._fitted.T for r in _chunks(len(masks))])


def _chunks(rounds: int) -> Iterator[slice]:
    return (slice(first, first + _AT_ONCE) for first in range(0, rounds, _AT_ONCE))
