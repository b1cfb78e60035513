"""The rational factor: its closed forms, how close it comes to the square root, and the streamed noise."""

import json

import numba
import numpy as np
import pytest

from discreet.compiled import rewind, snapshot
from discreet.errors import InvalidArgument
from discreet.prefix_sums import SquareRootToeplitz
from discreet.prefix_sums.steps import add_secret, draw_noise, samples_needed
from discreet.prefix_sums.toeplitz import Factor, best_factor, correlate, enough_buffers
from discreet.privacy import Budget, VectorBound
from discreet.randomness import WordSource

BOUND = VectorBound(coordinate=1000, l1=4000)


def column(factor, rounds):
    """The first column of C."""
    powers = factor.poles[None, :] ** np.arange(rounds - 1)[:, None]
    return np.concatenate([[1.0], powers @ factor.weights])


def toeplitz(first_column):
    """The lower triangular matrix with that first column."""
    rounds = first_column.size
    lags = np.subtract.outer(np.arange(rounds), np.arange(rounds))
    return np.where(lags >= 0, first_column[np.abs(lags)], 0.0)


def test_weights_are_those_of_the_rational_function():
    """The power series of product (1 - zero x)/(1 - pole x), by polynomial division."""
    factor = Factor(np.array([0.95, 0.6]), np.array([0.8, 0.2]))
    numerator, denominator = np.poly(factor.zeros), np.poly(factor.poles)
    series, rest = [], np.concatenate([numerator, np.zeros(20)])
    for k in range(20):
        series.append(rest[k])
        rest[k : k + 3] -= rest[k] * denominator
    assert column(factor, 20) == pytest.approx(np.array(series))


@pytest.mark.parametrize("rounds", [1, 2, 3, 10, 300])
def test_closed_forms_against_matrices(rounds):
    """Sensitivity and mean variance, from C and A C^(-1) written out; the sensitivity is rounded up."""
    factor = best_factor(rounds, 3)
    matrix = toeplitz(column(factor, rounds))
    sensitivity = (matrix**2).sum(axis=0)
    assert sensitivity.argmax() == 0
    assert sensitivity[0] <= factor.squared_sensitivity(rounds) <= sensitivity[0] * (1 + 1e-8)
    noise = np.tri(rounds) @ np.linalg.inv(matrix)
    assert factor.mean_variance(rounds) == pytest.approx((noise**2).sum() / rounds, rel=1e-6)


@pytest.mark.parametrize("rounds", [2**10, 2**14, 2**16, 2**20])
def test_it_is_about_as_good_as_the_square_root(rounds):
    """Squared sensitivity times mean variance at most 1% above the exact square root of A."""
    k = np.arange(1, rounds)
    root = np.concatenate([[1.0], np.cumprod((2 * k - 1) / (2 * k))]) ** 2
    exact = root.sum() * ((1 - np.arange(rounds) / rounds) * root).sum()
    factor = best_factor(rounds, enough_buffers(rounds))
    assert factor.squared_sensitivity(rounds) * factor.mean_variance(rounds) < 1.01 * exact


def test_the_streamed_noise_is_the_matrix_product():
    """Buffers against A C^(-1) z."""
    rounds, factor = 50, best_factor(50, 3)
    fresh = np.random.default_rng(1).normal(size=(rounds, 2))
    buffers, noise, streamed = np.zeros((3, 2)), np.zeros(2), []
    for z in fresh:
        correlate(z, buffers, factor.poles, factor.weights, noise)
        streamed.append(noise.copy())
    expected = np.tri(rounds) @ np.linalg.solve(toeplitz(column(factor, rounds)), fresh)
    assert np.array(streamed) == pytest.approx(expected)


def test_the_released_variance():
    """Seed 1, T = 300, 2000 coordinates: within 20%, six deviations; 2/3 and 3/2 would fail."""
    sums = SquareRootToeplitz(2000, 300, BOUND, Budget(rho=0.1), source=WordSource(seed=1))
    zero = np.zeros(2000, dtype=np.int64)
    squares = [float((sums.add(zero).values ** 2).mean()) for _ in range(300)]
    assert np.mean(squares) == pytest.approx(sums.mean_variance, rel=0.2)


@numba.njit
def run(mechanism, vectors, words, released):
    """All rounds in compiled code, as a simulation does; the number of words used, or -1 if too few."""
    cursor = 0
    for t in range(vectors.shape[0]):
        done, cursor = draw_noise(mechanism, 0, words, cursor)
        if done < samples_needed(mechanism):
            return -1
        add_secret(mechanism, vectors[t], released[t])
    return cursor


def test_compiled_callers_get_the_same_sums():
    """The steps in a compiled loop release what the object does, and again after rewinding."""
    vectors = np.random.default_rng(2).integers(-1000, 1001, size=(20, 3))
    sums, parts = (
        SquareRootToeplitz(3, 20, BOUND, Budget(rho=0.5), source=WordSource(seed=7)) for _ in range(2)
    )
    expected = np.array([sums.add(vector).values for vector in vectors])
    words, start = np.random.PCG64DXSM(7).random_raw(80), snapshot(parts.steps)
    for _ in range(2):
        released = np.zeros((20, 3))
        assert run(parts.steps, vectors, words, released) == 80
        assert np.array_equal(released, expected)
        rewind(parts.steps, start)
        assert not any(array.any() for array in parts.steps.state)


def test_words_that_run_out_change_no_sum():
    """A draw that was cut short may begin again: only fresh noise was written, and it is overwritten."""
    cut, whole = (
        SquareRootToeplitz(3, 20, BOUND, Budget(rho=0.5), source=WordSource(seed=7)).steps for _ in range(2)
    )
    vectors = np.array([[5, -6, 7]])
    words = np.random.PCG64DXSM(7).random_raw(4)
    first, second = np.zeros((1, 3)), np.zeros((1, 3))
    assert run(cut, vectors, words[:3], first) == -1
    assert not any(array.any() for array in (cut.state.total, cut.state.noise, cut.state.buffers, first))
    assert run(cut, vectors, words, first) == run(whole, vectors, words, second) == 4
    assert np.array_equal(first, second)


def test_fresh_noise_is_neither_kept_nor_saved():
    """A round uses it up: it is zero between rounds, and the saved fields do not include it."""
    sums = SquareRootToeplitz(3, 20, BOUND, Budget(rho=0.5))
    sums.add(np.array([1, 2, 3]))
    assert not sums.steps.state.fresh.any()
    assert set(json.loads(sums.to_bytes())["arrays"]) == {"total", "noise", "buffers"}


def test_it_says_that_it_is_made_of_floats():
    """And takes a budget in rho only, which converts to (epsilon, delta)."""
    sums = SquareRootToeplitz(1, 1024, VectorBound.for_costs(-1.0, 1.0), Budget(rho=0.01747))
    assert not sums.guarantee.exact
    assert "floating-point" in str(sums.guarantee)
    assert sums.guarantee.at_delta(1e-6).epsilon == pytest.approx(0.84, abs=0.02)
    assert sums.mean_variance == pytest.approx(
        8858, rel=0.05
    )  # the square root's own, in squared half-widths
    exact = sums.guarantee_at(1e-6)
    assert 0.7 < exact.epsilon < sums.guarantee.at_delta(1e-6).epsilon
    twice = SquareRootToeplitz(1, 1024, BOUND, Budget(rho=0.01747, rounds_per_person=2))
    assert twice.guarantee_at(1e-6) == twice.guarantee.at_delta(1e-6)
    with pytest.raises(InvalidArgument, match="rho"):
        SquareRootToeplitz(1, 10, BOUND, Budget(epsilon=1.0))


@pytest.mark.parametrize(
    ("poles", "zeros"),
    [
        ([0.5 + 1e-9, 0.5], [0.3, 0.1]),
        ([0.9, 0.5], [0.7, 0.5]),
        ([1.0, 0.5], [0.7, 0.3]),
        ([0.9, 0.8], [0.7, 0.6]),
        ([0.9], [0.8, 0.7]),
        ([], []),
        ([float("nan")], [0.5]),
    ],
)
def test_factors_whose_sums_would_cancel_are_refused(poles, zeros):
    """Close or equal poles would make the computed sensitivity too small."""
    factor = Factor(np.array(poles), np.array(zeros))
    with pytest.raises(InvalidArgument, match="alternate"):
        SquareRootToeplitz(2, 50, BOUND, Budget(rho=0.5), factor=factor)
