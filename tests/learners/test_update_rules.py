"""Update rules against what they abbreviate: the literal argmin, by a general solver."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.learners.update_rules import (
    ApproximateLeader,
    DualAveraging,
    ProjectedDescent,
    PublishedLeader,
    clip_to_cube,
    enter,
    next_point,
)

N = 3
seeds = st.integers(0, 10**6)


def literal_leader(v: np.ndarray, points: np.ndarray, H: float) -> np.ndarray:
    """argmin over the cube of v.x + H/2 sum |x - x_j|^2, solved numerically."""

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        away = x - points
        return v @ x + H / 2 * (away**2).sum(), v + H * away.sum(axis=0)

    solved = scipy.optimize.minimize(
        objective, np.full(N, 0.5), jac=True, bounds=[(0, 1)] * N, method="L-BFGS-B", tol=1e-14
    )
    return solved.x


@settings(max_examples=50)
@given(seeds, st.integers(1, 20), st.floats(0.05, 5))
def test_leader_is_the_literal_argmin(seed: int, rounds: int, H: float) -> None:
    """clip(-(sum g + Z) / (H t)) solves the paper's problem with v = sum (g_j + H x_j) + Z."""
    rng = np.random.default_rng(seed)
    points, gradients, noise = rng.random((rounds, N)), rng.normal(size=(rounds, N)), rng.normal(size=N)
    v = (gradients + H * points).sum(axis=0) + noise
    x = np.empty(N)
    next_point(ApproximateLeader(H), gradients.sum(axis=0) + noise, rounds, x, np.empty_like(x))
    np.testing.assert_allclose(x, literal_leader(v, points, H), atol=1e-5)


def test_published_leader_is_the_same_point() -> None:
    """Erratum E5: entering H x_j in the sum and taking it out again changes nothing but the noise needed."""
    rng = np.random.default_rng(0)
    H, step = 0.7, 1e-9
    plain, published = ApproximateLeader(H), PublishedLeader(H, np.zeros(N))
    x, y = np.full(N, 0.5), np.full(N, 0.5)
    total, printed = np.zeros(N), np.zeros(N)
    for t in range(1, 30):
        gradient = rng.normal(size=N)
        vector = np.rint(gradient / step).astype(np.int64)
        enter(published, y, step, vector)
        total, printed = total + gradient, printed + vector * step
        next_point(plain, total, t, x, np.empty_like(x))
        next_point(published, printed, t, y, np.empty_like(y))
        np.testing.assert_allclose(x, y, atol=1e-6)


def test_dual_averaging_and_descent() -> None:
    """Both agree until they reach a side of the cube; then only descent forgets what it was pushed beyond."""
    averaging = DualAveraging(0.1, np.full(1, 0.5))
    descent = ProjectedDescent(0.1, np.zeros(1))
    x, y = np.full(1, 0.5), np.full(1, 0.5)
    total = np.zeros(1)
    path = []
    for t, gradient in enumerate([1.0, 1.0, 10.0, -10.0, -1.0], start=1):
        total += gradient
        next_point(averaging, total, t, x, np.empty_like(x))
        next_point(descent, total, t, y, np.empty_like(y))
        path.append((round(float(x[0]), 6), round(float(y[0]), 6)))
    assert path == [(0.4, 0.4), (0.3, 0.3), (0.0, 0.0), (0.3, 1.0), (0.4, 1.0)]


def test_only_the_published_leader_enters_anything() -> None:
    """All other rules leave the gradient as it is."""
    for rule in (ApproximateLeader(1.0), DualAveraging(1.0, np.zeros(N)), ProjectedDescent(1.0, np.zeros(N))):
        vector = np.arange(N)
        enter(rule, np.ones(N), 0.1, vector)
        assert vector.tolist() == [0, 1, 2]
    vector = np.arange(N)
    enter(PublishedLeader(1.0, np.zeros(N)), np.ones(N), 0.1, vector)
    assert vector.tolist() == pytest.approx([10, 11, 12])


def test_levels_stay_in_the_cube_whatever_is_summed() -> None:
    """Numbers beyond it are clipped, and what is no number counts as 0."""
    numbers = [-np.inf, -1e300, -0.5, 0.0, 0.25, 1.0, 1.5, np.inf, np.nan]
    assert [clip_to_cube(number) for number in numbers] == [0, 0, 0, 0, 0.25, 1, 1, 1, 0]
