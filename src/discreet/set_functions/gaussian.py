"""Entropies of Gaussian vectors: log-determinants and mutual information."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument
from discreet.set_functions.base import SetFunction, frozen

#: A certified range computed in floats is widened by this part of its width.
ROUNDING = 1e-9


class _PositiveDefinite(SetFunction):
    """Shared by functions of the principal minors of one positive definite matrix."""

    def __init__(self, name: str, matrix: npt.ArrayLike) -> None:
        owner = self._name
        square = checks.finite_matrix(owner, name, matrix)
        if square.shape[0] != square.shape[1]:
            raise InvalidArgument(
                f"The '{name}' of {owner} must be a square matrix. Got shape {square.shape} instead."
            )
        if not np.allclose(square, square.T, rtol=1e-10, atol=1e-12):
            raise InvalidArgument(f"The '{name}' of {owner} must be symmetric.")
        self.matrix: FloatArray = frozen((square + square.T) / 2)
        self.n = square.shape[0]
        try:
            np.linalg.cholesky(self.matrix)
        except np.linalg.LinAlgError:
            raise InvalidArgument(f"The '{name}' of {owner} must be positive definite.") from None

    def _log_minors(self, order: IntArray) -> FloatArray:
        """log det of the leading minors along an order: one Cholesky factor holds them all.

        A matrix that is nearly singular may have a factor in one order and none in another, by rounding.
        Values are then NaN: they may be private, and an error would tell something about them.
        """
        try:
            pivots = np.diagonal(np.linalg.cholesky(self.matrix[np.ix_(order, order)]))
        except np.linalg.LinAlgError:
            return np.full(order.size + 1, np.nan)
        return np.concatenate(([0.0], np.cumsum(2.0 * np.log(pivots))))

    def _log_minor(self, mask: BoolArray) -> float:
        return float(self._log_minors(np.flatnonzero(mask))[-1])

    def _single_and_last(self) -> tuple[FloatArray, FloatArray]:
        """Each item's gain in log det when it comes first and when it comes last."""
        return np.log(np.diagonal(self.matrix)), -np.log(np.diagonal(np.linalg.inv(self.matrix)))


class LogDeterminant(_PositiveDefinite):
    """S -> log det of the principal submatrix on S (0 for the empty set).

    Args:
        kernel: A symmetric positive definite matrix.

    Examples:
        >>> LogDeterminant([[1, 0], [0, 1]])([0, 1])
        0.0
    """

    def __init__(self, kernel: npt.ArrayLike) -> None:
        super().__init__("kernel", kernel)

    def range(self) -> tuple[float, float]:
        """By submodularity, gains lie between those of the last and of the first item."""
        single, last = self._single_and_last()
        return _widened(float(last[last < 0].sum()), float(single[single > 0].sum()))

    def _value(self, mask: BoolArray) -> float:
        return self._log_minor(mask)

    def _chain(self, order: IntArray) -> FloatArray:
        return self._log_minors(order)

    def _fields(self) -> dict[str, Any]:
        return {"kernel": self.matrix.tolist()}


class GaussianMutualInformation(_PositiveDefinite):
    """S -> mutual information (in nats) between the variables of S and all others.

    Args:
        covariance: The symmetric positive definite covariance of a Gaussian vector.

    Examples:
        >>> round(GaussianMutualInformation([[1, 0.5], [0.5, 1]])([0]), 4)
        0.1438
    """

    def __init__(self, covariance: npt.ArrayLike) -> None:
        super().__init__("covariance", covariance)
        self._log_determinant = self._log_minor(np.ones(self.n, dtype=np.bool_))

    def range(self) -> tuple[float, float]:
        """At most the single informations of S, and by symmetry of its complement: half of all."""
        single, last = self._single_and_last()
        return _widened(0.0, float((single - last).sum()) / 4)

    def _value(self, mask: BoolArray) -> float:
        return (self._log_minor(mask) + self._log_minor(~mask) - self._log_determinant) / 2

    def _chain(self, order: IntArray) -> FloatArray:
        inside, outside = self._log_minors(order), self._log_minors(order[::-1])[::-1]
        return (inside + outside - self._log_determinant) / 2

    def _fields(self) -> dict[str, Any]:
        return {"covariance": self.matrix.tolist()}


def _widened(lo: float, hi: float) -> tuple[float, float]:
    slack = ROUNDING * (1.0 + hi - lo)
    return lo - slack, hi + slack
