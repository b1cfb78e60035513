"""Bounds hold for every input whatever, and nothing is raised because of a value."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.errors import InvalidArgument, InvalidType
from discreet.privacy import Grid, Neighbours, VectorBound, grid, sensitivity

ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True, width=64)
ANY_VECTOR = st.integers(1, 12).flatmap(
    lambda n: st.one_of(
        arrays(np.float64, n, elements=ANY_FLOAT),
        arrays(np.int64, n, elements=st.integers(-(2**63), 2**63 - 1)),
        arrays(np.float32, n, elements=st.floats(width=32)),
    )
)
BOUNDS = st.builds(
    lambda coordinate, extra: VectorBound(coordinate, min(coordinate + extra, 2**30), step=0.01),
    st.integers(1, 2**29),
    st.integers(0, 2**30),
)


@given(BOUNDS, ANY_VECTOR)
def test_every_vector_ends_inside_its_bound(bound, vector):
    """Coordinates, L1 and L2, in exact integers, with warnings turned into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = vector.copy()
        units = [int(u) for u in bound.enforce(vector)]
    assert np.array_equal(vector, before, equal_nan=True)
    assert max(map(abs, units)) <= bound.coordinate
    assert sum(map(abs, units)) <= bound.l1
    assert sum(u * u for u in units) <= bound.squared_l2


@given(BOUNDS, st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=8))
def test_a_vector_inside_its_bound_is_kept(bound, values):
    """Integers unchanged; the direction of others is kept to within a unit."""
    vector = np.array(values, dtype=np.int64)
    units = bound.enforce(vector)
    clipped = np.clip(vector, -bound.coordinate, bound.coordinate)
    norm = int(np.abs(clipped).sum())
    if norm <= bound.l1:
        assert np.array_equal(units, clipped)
    else:
        assert np.abs(units - clipped * (bound.l1 / norm)).max() <= 1 + 1e-6


def test_the_l2_bound_is_attained():
    """By enumeration: the largest squared norm on a small grid is the stated one."""
    for coordinate, l1 in [(2, 4), (3, 4), (4, 4), (5, 4), (1, 3), (2, 5)]:
        bound = VectorBound(coordinate, l1)
        largest = max(
            sum(g * g for g in vector)
            for vector in itertools.product(range(-coordinate, coordinate + 1), repeat=3)
            if sum(map(abs, vector)) <= l1
        )
        assert bound.squared_l2 == largest
        assert bound.squared_l2_distance() == 4 * largest
        assert bound.squared_l2_distance(Neighbours.ZERO_OUT_ONE_ROUND) == largest
        assert bound.l1_distance() == 2 * l1
        assert bound.l1_distance(Neighbours.ZERO_OUT_ONE_ROUND) == l1


def test_the_bounds_for_costs_are_those_of_the_theory():
    """8 M in L1 and 4 sqrt(2) M in L2 for replaced rounds."""
    bound = VectorBound.for_costs(-3.0, 1.0, units=1000)
    assert bound.l1_distance() * bound.step == pytest.approx(8 * 2.0)
    assert math.sqrt(bound.squared_l2_distance()) * bound.step == pytest.approx(4 * math.sqrt(2) * 2.0)


@pytest.mark.parametrize(("n", "l1", "squared_l2"), [(1, 4, 16), (2, 6, 20), (3, 8, 24), (5, 8, 24)])
def test_distances_of_submodular_gradients_are_below_the_enforced_ones(n, l1, squared_l2):
    """Over the extreme points 2M(+-e_i) and 2M(e_i - e_j), i < j, with M = 1: the figures of the docs."""
    units = np.eye(n, dtype=int)
    corners = [sign * 2 * unit for unit in units for sign in (1, -1)]
    corners += [2 * (units[i] - units[j]) for i in range(n) for j in range(i + 1, n)]
    gaps = [g - other for g in corners for other in corners]
    assert max(int(np.abs(gap).sum()) for gap in gaps) == l1
    assert max(int((gap**2).sum()) for gap in gaps) == squared_l2
    bound = VectorBound.for_costs(-1.0, 1.0, units=1)
    assert l1 <= bound.l1_distance()
    assert squared_l2 <= bound.squared_l2_distance()


def test_chain_gradients_of_submodular_costs_need_no_shrinking():
    """A concave function of the size has |g|_1 <= 4 M, so the bound does not touch it."""
    order = np.array([2, 0, 1])
    out = np.empty(3, dtype=np.int64)
    sensitivity.chain_gradient(np.array([-1.0, 1.0, 0.5, -1.0]), order, -1.0, 1.0, 100, out)
    assert out.tolist() == [-50, -150, 200]
    kept = out.copy()
    sensitivity.bound_in_place(kept, 200, 400)
    assert np.array_equal(kept, out)
    wild = np.array([1.0, -1.0, np.nan, np.inf])  # neither submodular nor finite
    sensitivity.chain_gradient(wild, order, -1.0, 1.0, 100, out)
    assert out.tolist() == [100, 0, -200]


@given(ANY_FLOAT, st.floats(-1e300, 1e300), st.floats(1e-3, 1e300), st.integers(1, 2**28))
def test_the_grid_takes_every_float(value, low, width, units):
    """A whole number in range; compiled and interpreted agree."""
    try:
        cost_grid = Grid(low, low + width, units)
    except InvalidArgument:
        return
    point = cost_grid.of(value)
    assert isinstance(point, int)
    assert -units <= point <= units
    assert sensitivity.to_units(value, cost_grid.low, cost_grid.high, units) == point
    if not math.isfinite(value):
        assert point == 0


@pytest.mark.parametrize("thing", [None, "secret", [1, 2], {}, 10**400, 1j, np.array([1.0, 2.0]), object()])
def test_no_private_thing_raises(thing):
    """Whatever is not a finite number counts as the midpoint."""
    assert Grid(0.0, 1.0).of(thing) == 0


def test_the_grid_keeps_values_to_half_a_step():
    """Ends, midpoint, and the way back."""
    cost_grid = Grid(2.0, 4.0, units=1 << 20)
    assert [cost_grid.of(v) for v in (2.0, 3.0, 4.0, -9.0, 9.0)] == [
        -(1 << 20),
        0,
        1 << 20,
        -(1 << 20),
        1 << 20,
    ]
    for value in np.linspace(2, 4, 101):
        assert abs(cost_grid.value(cost_grid.of(value)) - value) <= cost_grid.step / 2 + 1e-12
    assert cost_grid.half_width == 1.0
    assert cost_grid.midpoint == 3.0


def test_public_arguments_are_checked():
    """Ranges, bounds, types and shapes are public."""
    for bad in [
        (1.0, 1.0),
        (2.0, 1.0),
        (0.0, float("inf")),
        (float("nan"), 1.0),
        (1.0, math.nextafter(1.0, 2.0)),
    ]:
        with pytest.raises(InvalidArgument):
            Grid(*bad)
    with pytest.raises(InvalidArgument, match="units"):
        Grid(0.0, 1.0, units=0)
    with pytest.raises(InvalidArgument, match="coordinate"):
        VectorBound(0, 1)
    for wrong in ([1.0, 2.0], np.zeros((2, 2)), np.array(["secret"]), np.array([None])):
        with pytest.raises(InvalidType) as caught:
            VectorBound(1, 1).enforce(wrong)
        assert "secret" not in str(caught.value)
    assert grid.DEFAULT_UNITS <= grid.MOST_UNITS
