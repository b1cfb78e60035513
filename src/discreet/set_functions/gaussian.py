"""Entropies of Gaussian vectors: log-determinants and mutual information."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet import checks
from discreet.checks import BoolArray, FloatArray, IntArray
from discreet.errors import InvalidArgument
from discreet.set_functions.base import SetFunction, frozen

ROUNDING = 1e-9  # a certified range computed in floats is widened by this fraction of its width


class LogDeterminant(SetFunction):
    """S -> log det of the part on S of a symmetric positive definite matrix (0 for the empty set)."""

    def __init__(self, kernel: npt.ArrayLike) -> None:
        self.kernel = _positive_definite("LogDeterminant", "kernel", kernel)
        self.n = self.kernel.shape[0]

    def range(self) -> tuple[float, float]:
        """By submodularity, gains lie between those of the last and of the first item."""
        first, last = _gains(self.kernel)
        return _widened(float(last[last < 0].sum()), float(first[first > 0].sum()))

    def _value(self, mask: BoolArray) -> float:
        return float(_log_minors(self.kernel, np.flatnonzero(mask))[-1])

    def _chain(self, order: IntArray) -> FloatArray:
        return _log_minors(self.kernel, order)


class GaussianMutualInformation(SetFunction):
    """S -> mutual information (in nats) between the variables of S, of a Gaussian vector, and all others."""

    def __init__(self, covariance: npt.ArrayLike) -> None:
        self.covariance = _positive_definite("GaussianMutualInformation", "covariance", covariance)
        self.n = self.covariance.shape[0]
        self._whole = float(_log_minors(self.covariance, np.arange(self.n))[-1])

    def range(self) -> tuple[float, float]:
        """At most the sum of what its items share with all others; for S or its complement, half of all."""
        first, last = _gains(self.covariance)
        return _widened(0.0, float((first - last).sum()) / 4)

    def _value(self, mask: BoolArray) -> float:
        inside, outside = (_log_minors(self.covariance, np.flatnonzero(part))[-1] for part in (mask, ~mask))
        return float(inside + outside - self._whole) / 2

    def _chain(self, order: IntArray) -> FloatArray:
        inside, outside = _log_minors(self.covariance, order), _log_minors(self.covariance, order[::-1])
        return (inside + outside[::-1] - self._whole) / 2


def _positive_definite(owner: str, name: str, values: npt.ArrayLike) -> FloatArray:
    given = checks.finite_matrix(owner, name, values)
    sentence = f"The '{name}' of {owner} must be"
    if given.shape[0] != given.shape[1]:
        raise InvalidArgument(f"{sentence} a square matrix. Got shape {given.shape} instead.")
    if not np.allclose(given, given.T, rtol=1e-10, atol=1e-12):
        raise InvalidArgument(f"{sentence} symmetric.")
    matrix = frozen((given + given.T) / 2)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InvalidArgument(f"{sentence} positive definite.") from None
    return matrix


def _log_minors(matrix: FloatArray, order: IntArray) -> FloatArray:
    """log det of the leading minors along an order. NaN, not an error, where rounding leaves no factor."""
    try:
        pivots = np.diagonal(np.linalg.cholesky(matrix[np.ix_(order, order)]))
    except np.linalg.LinAlgError:
        return np.full(order.size + 1, np.nan)
    return np.concatenate(([0.0], np.cumsum(2.0 * np.log(pivots))))


def _gains(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each item's gain in log det when it comes first and when it comes last."""
    return np.log(np.diagonal(matrix)), -np.log(np.diagonal(np.linalg.inv(matrix)))


def _widened(lo: float, hi: float) -> tuple[float, float]:
    slack = ROUNDING * (1.0 + hi - lo)
    return lo - slack, hi + slack
