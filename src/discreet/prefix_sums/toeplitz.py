"""Prefix sums with correlated Gaussian noise: the square-root factorisation, in constant memory.

The matrix A of ones on and below the diagonal is the square of the Toeplitz matrix
with generating function (1 - x)^(-1/2). Here that function is replaced by a rational
one of low degree,

    C(x) = product over j of (1 - zero_j x) / (1 - pole_j x),

so that the noise A C^(-1) z can be computed with one buffer per pole (a "buffered
linear Toeplitz" matrix). Any poles and zeros give a valid mechanism; they decide the variance.

References:
    S. Denisov, B. McMahan, K. Rush, A. Smith, A. G. Thakurta, "Improved differential
    privacy for SGD via optimal private linear operators on adaptive streams", 2022.
    K. Dvijotham, B. McMahan, K. Pillutla, T. Steinke, A. Thakurta, "Efficient and
    near-optimal noise generation for streaming differential privacy", 2024.
"""

import dataclasses
import functools
import math
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from discreet.checks import FloatArray, IntArray, integer
from discreet.compiled import lean_kernel
from discreet.errors import InvalidArgument
from discreet.prefix_sums.base import MOST_ROUNDS, CompiledPrefixSum, common_settings
from discreet.prefix_sums.steps import add_secret, check_round, draw_noise, samples_needed
from discreet.privacy.accounting import epsilon_of_gaussian
from discreet.privacy.budget import Budget
from discreet.privacy.float_noise import fill_gaussian
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.sensitivity import VectorBound
from discreet.randomness import WordArray, WordSource

_SLACK = 1e-9  # far more than the rounding error of the sums of squares below, for separated poles
_SEPARATION = 1.01  # each distance from 1 is at least so many times the one before


class Factor(NamedTuple):
    """The rational function C: its poles and zeros, 1 > pole_1 > zero_1 > pole_2 > ... > 0."""

    poles: FloatArray
    zeros: FloatArray

    @property
    def weights(self) -> FloatArray:
        """The w_j in C(x) = 1 + sum_j w_j x / (1 - pole_j x)."""
        return np.array(
            [
                pole * np.prod(1 - self.zeros / pole) / np.prod(1 - np.delete(self.poles, j) / pole)
                for j, pole in enumerate(self.poles)
            ]
        )

    def squared_sensitivity(self, rounds: int) -> float:
        """The squared L2 norm of the first column of C, the largest of all columns, rounded up."""
        gaps = _gaps(self.poles)
        sums = _one_minus_power(gaps, rounds - 1) / gaps
        return float(1 + self.weights @ sums @ self.weights) * (1 + _SLACK)

    def mean_variance(self, rounds: int) -> float:
        """Mean over rounds of the variance of A C^(-1) z for standard normal z."""
        rates = np.concatenate([[1.0], self.zeros])
        shares = np.array(
            [
                np.prod(1 - self.poles / rate) / np.prod(1 - np.delete(rates, j) / rate)
                for j, rate in enumerate(rates)
            ]
        )
        gaps = _gaps(rates)
        gaps[0, 0] = 0.5  # any number: the ratio is 1 there, and its sum is given below
        sums = (rounds * gaps - (1 - gaps) * _one_minus_power(gaps, rounds)) / (rounds * gaps**2)
        sums[0, 0] = (rounds + 1) / 2
        return float(shares @ sums @ shares)


def _require_separated(factor: Factor) -> None:
    """Refuse poles and zeros that do not alternate, or so close that sums over them cancel."""
    poles, zeros = np.asarray(factor.poles, dtype=float), np.asarray(factor.zeros, dtype=float)
    fits = poles.ndim == 1 and poles.shape == zeros.shape and poles.size > 0
    if fits:
        away = 1 - np.stack((poles, zeros), axis=1).ravel()
        fits = bool(away[0] > 0 and away[-1] < 1 and np.all(away[1:] >= _SEPARATION * away[:-1]))
    if not fits:
        raise InvalidArgument(
            "The poles and zeros of a 'factor' must alternate, 1 > pole_1 > zero_1 > pole_2 > ... > 0, each "
            f"at least {_SEPARATION} times as far from 1 as the one before."
        )


def _gaps(rates: FloatArray) -> FloatArray:
    """1 - r_i r_j for all pairs, without cancellation where both are close to 1."""
    gaps: FloatArray = (1 - rates)[:, None] + rates[:, None] * (1 - rates)[None, :]
    return gaps


def _one_minus_power(gaps: FloatArray, exponent: int) -> FloatArray:
    """1 - (1 - gap)^exponent, accurate for small gaps."""
    if exponent == 0:
        return np.zeros_like(gaps)
    with np.errstate(divide="ignore"):  # a gap of 1 has the logarithm -inf and the power 0, as it should
        lost: FloatArray = -np.expm1(exponent * np.log1p(-gaps))
    return lost


@functools.lru_cache(maxsize=32)
def best_factor(rounds: int, buffers: int) -> Factor:
    """Poles and zeros of least squared sensitivity times mean variance, found numerically.

    Examples:
        >>> factor = best_factor(1024, 3)
        >>> round(factor.squared_sensitivity(1024) * factor.mean_variance(1024), 3)
        9.355
    """
    from scipy.optimize import minimize

    def unpack(logs: FloatArray) -> Factor:
        # Distances from 1, increasing: each is the next one times a fraction, and well apart from it.
        steps = np.exp(logs) + 2 * math.log(_SEPARATION)
        gaps = np.exp(-np.cumsum(steps[::-1])[::-1])
        return Factor(1 - gaps[0::2], 1 - gaps[1::2])

    def objective(logs: FloatArray) -> float:
        factor = unpack(logs)
        if 1 - factor.poles[0] < 1e-3 / rounds:
            return 1e3  # a pole this close to 1 differs from 1 by rounding errors only
        value = factor.squared_sensitivity(rounds) * factor.mean_variance(rounds)
        return math.log(value) if value > 0 and math.isfinite(value) else 1e3

    spacing = max(0.3, math.log(rounds + 1) / (2 * buffers))
    start = np.log(np.full(2 * buffers, spacing))
    with np.errstate(all="ignore"):
        found = minimize(
            objective, start, method="Nelder-Mead", options={"maxfev": 6000, "fatol": 1e-9, "adaptive": True}
        )
    return unpack(found.x)


def enough_buffers(rounds: int) -> int:
    """Three buffers up to 2^16 rounds, four beyond: within 1% of the square root of A, or better than it."""
    return 3 if rounds <= 1 << 16 else 4


class ToeplitzState(NamedTuple):
    """The secrets of the mechanism over vectors of length n.

    Attributes:
        total: The exact sum of all vectors so far.
        noise: The noise now on that sum.
        fresh: Independent noise for the round to come; zero between rounds.
        buffers: Past noise, one row of length n per pole.
    """

    total: IntArray
    noise: FloatArray
    fresh: FloatArray
    buffers: FloatArray


class ToeplitzSteps(NamedTuple):
    """Correlated Gaussian noise, as compiled code sees it.

    The scale `sigma` is an array of one entry: a learner saves its arrays, and the scale must go along with
    the poles and weights it was made for, which another release of scipy may choose otherwise.
    """

    sigma: FloatArray
    poles: FloatArray
    weights: FloatArray
    state: ToeplitzState


class SquareRootToeplitz(CompiledPrefixSum):
    """Gaussian noise, correlated over time by a rational approximation of the square root of A.

    Args:
        dimension: Length of the vectors.
        horizon: The number of rounds T, fixed in advance.
        bound: What each vector is forced to satisfy.
        budget: What one person may lose, in rho.
        factor: Poles and zeros; by default the best for T.
        source: Random words; cryptographic by default.

    Formal guarantees:
        Neighbours: histories that differ in one round, inputs adaptive. Sensitivity: a
        column of C, times ``bound.squared_l2_distance()``. Noise: normal, sigma^2 =
        |C e_1|^2 D2^2 / (2 rho): rho-zCDP **over the real numbers**. The sums are exact
        integers, the noise is made of floats, and the proof does not cover their
        rounding: `docs/guarantees.md#gaussian-noise`.

    Examples:
        >>> sums = SquareRootToeplitz(2, 1000, VectorBound(coordinate=10, l1=20), Budget(rho=0.5))
        >>> sums.add(np.array([3, -4])).round, sums.guarantee.exact
        (1, False)
    """

    def __init__(
        self,
        dimension: int,
        horizon: int,
        bound: VectorBound,
        budget: Budget,
        *,
        factor: Factor | None = None,
        source: WordSource | None = None,
    ) -> None:
        super().__init__(dimension, bound, budget, source)
        if budget.rho is None:
            raise InvalidArgument("The budget of SquareRootToeplitz must be in 'rho'. Got 'epsilon' instead.")
        self._horizon = integer("SquareRootToeplitz", "horizon", horizon, least=1, most=MOST_ROUNDS)
        self.factor = (
            factor if factor is not None else best_factor(self._horizon, enough_buffers(self._horizon))
        )
        _require_separated(self.factor)
        squared_distance = bound.squared_l2_distance(budget.neighbours)
        squared = self.factor.squared_sensitivity(self._horizon) * squared_distance
        self.sigma = math.sqrt(squared / (2 * float(budget.per_round))) * (1 + _SLACK)
        self._poles = np.array(self.factor.poles, dtype=np.float64)
        self._weights = self.factor.weights
        self._state = ToeplitzState(
            total=np.zeros(self.dimension, dtype=np.int64),
            noise=np.zeros(self.dimension),
            fresh=np.zeros(self.dimension),
            buffers=np.zeros((self._poles.size, self.dimension)),
        )

    @property
    def horizon(self) -> int:
        """The number of rounds it can take."""
        return self._horizon

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to one person."""
        promise = self.budget.guarantee(
            self._source, proof="gaussian-noise", horizon=self._horizon, exact=False
        )
        return promise.void(self._not_private_because)

    def guarantee_at(self, delta: float) -> Guarantee:
        """The (epsilon, delta) guarantee, by the exact formula for real Gaussians where it applies.

        Needs the extra ``accounting``. For several rounds per person it goes through rho.
        """
        promise = self.guarantee
        if self.budget.rounds_per_person > 1:
            return promise.at_delta(delta)
        noise_to_distance = 1 / math.sqrt(2 * float(self.budget.per_round))
        epsilon = epsilon_of_gaussian(noise_to_distance, 1.0, delta)
        return dataclasses.replace(promise, epsilon=epsilon, delta=delta)

    @property
    def mean_variance(self) -> float:
        """Mean over all rounds of the noise variance per coordinate of a released sum."""
        return self.factor.mean_variance(self._horizon) * (self.sigma * self.bound.step) ** 2

    @property
    def steps(self) -> ToeplitzSteps:
        """The compiled mechanism."""
        return ToeplitzSteps(np.array([self.sigma]), self._poles, self._weights, self._state)

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {
            "horizon": self._horizon,
            "poles": self.factor.poles.tolist(),
            "zeros": self.factor.zeros.tolist(),
            "round": self.round,
        }

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        # There is no fresh noise between rounds; what an interrupted draw left is never used.
        return {name: array for name, array in super()._arrays().items() if name != "fresh"}

    @classmethod
    def _from_settings(cls, settings: dict[str, Any], source: WordSource) -> Self:
        factor = Factor(np.array(settings["poles"]), np.array(settings["zeros"]))
        restored = cls(**common_settings(settings), horizon=settings["horizon"], factor=factor, source=source)
        restored.round = integer(
            "SquareRootToeplitz", "saved round", settings["round"], least=0, most=restored._horizon
        )
        return restored


@lean_kernel
def correlate(
    fresh: FloatArray, buffers: FloatArray, poles: FloatArray, weights: FloatArray, noise: FloatArray
) -> None:
    """One step of noise += C^(-1) fresh, by a few buffers per coordinate."""
    for i in range(fresh.size):
        value = fresh[i]
        for j in range(poles.size):
            value -= weights[j] * buffers[j, i]
        for j in range(poles.size):
            buffers[j, i] = poles[j] * buffers[j, i] + value
        noise[i] += value


@samples_needed.register(ToeplitzSteps)
@lean_kernel
def _one_sample_each(mechanism: ToeplitzSteps) -> int:
    return mechanism.state.fresh.size


@draw_noise.register(ToeplitzSteps)
@lean_kernel
def _draw_fresh(mechanism: ToeplitzSteps, done: int, words: WordArray, cursor: int) -> tuple[int, int]:
    return fill_gaussian(mechanism.sigma[0], mechanism.state.fresh, done, words, cursor)


@add_secret.register(ToeplitzSteps)
@lean_kernel
def _add(mechanism: ToeplitzSteps, vector: IntArray, released: npt.NDArray[Any]) -> None:
    state = mechanism.state
    correlate(state.fresh, state.buffers, mechanism.poles, mechanism.weights, state.noise)
    for i in range(vector.size):
        state.fresh[i] = 0.0
        state.total[i] += vector[i]
        released[i] = state.total[i] + state.noise[i]


@check_round.register(ToeplitzSteps)
def _check_scale(mechanism: ToeplitzSteps, rounds: int) -> None:
    if not mechanism.sigma[0] > 0:
        raise InvalidArgument("The saved state is damaged: its noise has no scale.")
