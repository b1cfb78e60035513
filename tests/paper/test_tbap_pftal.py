"""TBAP and PFTAL: sums, noise, projections, and the leader as the paper writes it."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet import DiscreetError, bounds
from discreet.paper import PFTAL, TBAP, Ball, Box, ConvexSet, Simplex
from discreet.privacy.sensitivity import VectorBound

SETS: list[ConvexSet] = [Box([0, -1, 0], [1, 1, 2]), Ball([1, 0, 0], 1.5), Simplex(3)]
vectors = arrays(float, 3, elements=st.floats(-5, 5))
each_set = pytest.mark.parametrize("X", SETS, ids=lambda X: type(X).__name__)


def nearest_by_solver(X: ConvexSet, point: np.ndarray) -> np.ndarray:
    """The projection by a general solver, from the set's definition alone."""
    bounds_, constraints = None, []
    if isinstance(X, Box):
        bounds_ = list(zip(X.low, X.high, strict=True))
    elif isinstance(X, Ball):
        constraints = [{"type": "ineq", "fun": lambda x: X.radius**2 - ((x - X.centre) ** 2).sum()}]
    else:
        bounds_ = [(0, None)] * 3
        constraints = [{"type": "eq", "fun": lambda x: x.sum() - 1}]
    return scipy.optimize.minimize(
        lambda x: ((x - point) ** 2).sum(),
        X.start(),
        bounds=bounds_,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    ).x


@each_set
@settings(max_examples=40)
@given(point=vectors)
def test_projections_are_nearest_points(X: ConvexSet, point: np.ndarray) -> None:
    """Against a general solver; and projecting twice changes nothing."""
    projected = X.project(point)
    np.testing.assert_allclose(projected, nearest_by_solver(X, point), atol=1e-4)
    np.testing.assert_allclose(X.project(projected), projected, atol=1e-12)


@each_set
@given(first=vectors, second=vectors)
def test_projections_do_not_stretch(X: ConvexSet, first: np.ndarray, second: np.ndarray) -> None:
    """|P(a) - P(b)| <= |a - b|, and never beyond the diameter: what the regret proof uses."""
    moved = np.linalg.norm(X.project(first) - X.project(second))
    assert moved <= np.linalg.norm(first - second) + 1e-9
    assert moved <= X.diameter + 1e-9


@given(arrays(np.int64, 5, elements=st.integers(-(2**62), 2**62)), st.integers(1, 2**24))
def test_euclidean_bounds_hold_in_exact_integers(units: np.ndarray, l2: int) -> None:
    """Whatever comes in, the squared norm of what goes on is at most l2^2, in Python's integers."""
    bound = VectorBound(coordinate=2**26, l1=2**28, l2=l2)
    kept = bound.enforce(units)
    assert sum(int(u) ** 2 for u in kept) <= l2**2
    assert bound.squared_l2_distance() == 4 * l2**2


def test_a_vector_within_the_euclidean_bound_is_kept() -> None:
    """No shrinking where none is needed, even at the bound."""
    bound = VectorBound(coordinate=2**20, l1=2**22, l2=5)
    assert bound.enforce(np.array([3, -4])).tolist() == [3, -4]
    assert bound.enforce(np.array([6, -8])).tolist() == [3, -3]  # clipped to (5, -5) first


@pytest.mark.parametrize("calibration", ["corrected", "published"])
def test_tbap_sums_up_with_the_stated_noise(calibration: str) -> None:
    """Per-coordinate variance over a whole run within 15% of the formula: seed 1, 200 runs, 64 rounds.

    The standard error of the mean variance is about 4%; noise at 2/3 or 3/2 of the scale, which has 0.44
    or 2.25 times the variance, would be far outside.
    """
    d, T, mu, epsilon = 3, 64, 2.0, 1.0
    squares = []
    for run in range(200):
        tbap = TBAP(d, T, mu, epsilon, calibration=calibration, seed=[1, run])  # type: ignore[arg-type]
        truth = np.zeros(d)
        rng = np.random.default_rng(run)
        for _ in range(T):
            z = rng.uniform(-0.5, 0.5, d)
            truth += z
            squares.append((tbap.add(z) - truth) ** 2)
    expected = tbap._sums.prefix_sum.mean_variance
    assert np.mean(squares) == pytest.approx(expected, rel=0.15)
    scale = 7 * 2 * mu * math.sqrt(d) / epsilon if calibration == "corrected" else 7 * mu / epsilon
    node = 2 * scale**2 if calibration == "corrected" else (d + 1) * scale**2
    # Rounds 1 to 64 have 193 binary ones.
    assert expected == pytest.approx(node * 193 / 64, rel=1e-3)


def test_tbap_forces_vectors_into_their_norm() -> None:
    """A vector of a thousand times the norm counts as one of norm mu, and rubbish as zero."""
    tbap = TBAP(2, 100, 1.0, 1000.0, seed=0)
    total = tbap.add([600.0, 800.0])
    np.testing.assert_allclose(total, [0.6, 0.8], atol=0.3)
    for rubbish in ([float("nan"), 0.0], [float("inf"), -float("inf")]):
        total = tbap.add(rubbish)
    np.testing.assert_allclose(total, [0.6, 0.8], atol=0.3)


def test_published_tbap_says_that_its_loss_is_doubled() -> None:
    """Erratum E3."""
    guarantee = TBAP(2, 10, 1.0, 0.7, calibration="published").guarantee
    assert not guarantee.private
    assert "bounded by 1.4" in guarantee.reason
    assert TBAP(2, 10, 1.0, 0.7).guarantee.private
    spherical = TBAP(2, 10, 1.0, 0.7, noise="spherical").guarantee
    assert not spherical.private
    assert "made of floating-point numbers" in spherical.reason


class Recording:
    """A TBAP that remembers what it released last."""

    def __init__(self, sums: TBAP) -> None:
        self.sums = sums

    def add(self, z: np.ndarray) -> np.ndarray:
        self.released = self.sums.add(z)
        return self.released


@each_set
def test_pftal_follows_the_literal_leader(X: ConvexSet) -> None:
    """Each point minimises v.x + H/2 sum |x - x_j|^2 over X, for the very v that was released."""
    H = 0.8
    learner = PFTAL(X, T=20, epsilon=50.0, H=H, L=3.0, seed=2)
    recording = Recording(learner._sums)
    learner._sums = recording  # type: ignore[assignment]
    rng = np.random.default_rng(0)
    points = []
    for t in range(1, 11):
        points.append(learner.point)
        learner.tell(rng.normal(size=3))
        centre = np.mean(points, axis=0) - recording.released / (H * t)
        np.testing.assert_allclose(learner.point, nearest_by_solver(X, centre), atol=1e-3)


def test_pftal_regret_on_quadratics_stays_below_its_bound() -> None:
    """f_t(x) = H/2 |x - c_t|^2 on the cube, centres drawn around (0.8, 0.2): 2000 rounds, epsilon 1."""
    T, H = 2000, 1.0
    box = Box([0, 0], [1, 1])
    centres = np.clip(np.random.default_rng(3).normal([0.8, 0.2], 0.1, size=(T, 2)), 0, 1)
    learner = PFTAL(box, T, 1.0, H, L=math.sqrt(2), seed=4)
    paid = 0.0
    for centre in centres:
        away = learner.point - centre
        paid += H / 2 * float(away @ away)
        learner.tell(H * away)
    best = H / 2 * float(((centres - centres.mean(axis=0)) ** 2).sum())
    assert paid - best <= bounds.pftal(2, T, math.sqrt(2), H, box.diameter, 1.0)
    assert np.linalg.norm(learner.point - [0.8, 0.2]) < 0.3


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: TBAP(0, 10, 1.0, 1.0), "'d' of TBAP"),
        (lambda: TBAP(2, 10, 0.0, 1.0), "'mu' of TBAP"),
        (lambda: TBAP(2, 10, 1.0, 1.0).add([1.0]), "'z' of TBAP"),
        (lambda: PFTAL(3, 10, 1.0, 1.0, 1.0), "'X' of PFTAL"),  # type: ignore[arg-type]
        (lambda: TBAP(2, 10, 1.0, 2000.0), "'epsilon' of TBAP"),
        (lambda: TBAP(2, 10, 1.0, 1.0, seed=-1), "'seed' of TBAP"),
        (lambda: PFTAL(Simplex(2), 0, 1.0, 1.0, 1.0), "'T' of PFTAL"),
        (lambda: PFTAL(Simplex(2), 10, 1.0, 1.0, 1.0, seed=-1), "'seed' of PFTAL"),
        (lambda: PFTAL(Simplex(2), 10, 1.0, 1.0, -1.0), "'L' of PFTAL"),
        (lambda: PFTAL(Simplex(2), 10, 1.0, 1.0, 1.0, x1=[1, 1]), "'x1' of PFTAL"),
        (lambda: Box([1], [0]), "'low' of Box"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()


def test_the_horizon_is_kept() -> None:
    """Round T + 1 is refused."""
    tbap = TBAP(1, 2, 1.0, 1.0)
    tbap.add([0.1])
    tbap.add([0.1])
    with pytest.raises(DiscreetError, match="all its 2 rounds"):
        tbap.add([0.1])
