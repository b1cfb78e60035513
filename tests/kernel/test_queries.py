"""Queries: their bound holds for every input, and nothing is raised."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import families
from discreet.kernel import (
    ChainGradient,
    CostAndItems,
    CostOfSet,
    CostsOfSets,
    Discard,
    Exact,
    MagnifiedGradient,
    OnePoint,
    Ticket,
)
from discreet.kernel.queries import GRADIENT, largest_estimate
from discreet.learners import Learner
from discreet.policies import Fixed
from discreet.privacy.grid import Grid
from discreet.randomness import BitSource

#: Any double, with extreme ones often.
anything = st.one_of(
    st.floats(), st.sampled_from([0.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan")])
)
N = 4


def queries(low: float, high: float) -> list[Any]:
    return [
        CostOfSet(low, high),
        ChainGradient.of(low, high),
        MagnifiedGradient.of(ChainGradient.of(low, high)),
        OnePoint.of(low, high, N, 0.5),
        CostsOfSets.of(N, low, high),
        CostAndItems(low, high, 0.4 * (high - low)),
    ]


def reported(
    query: Any, costs: Any, size: int = 2, chance: float = 0.5, note: float = 1.0, centre: float = 0.0
) -> Any:
    """The units of a report, measured as sessions do it."""
    learner = Learner(N, Fixed(np.ones(N, dtype=np.bool_)), query, Exact())
    ticket = Ticket(1, 0, 0, size, chance, np.array([2, 0, 3, 1]), np.array([note, centre]))
    return learner.report(ticket, costs, learner.mechanism(), BitSource(1)).units._units


@given(
    hnp.arrays(np.float64, st.integers(0, 8) | st.just(1 << N), elements=anything),
    st.integers(0, N),
    st.sampled_from([1e-300, 1e-9, 0.1, 0.5, 1.0]),
    anything,
    anything,
    st.sampled_from([(0.0, 1.0), (-3.0, 5.0), (1e90, 2e90), (-1e-90, 1e-90)]),
)
def test_bounds_hold_for_every_input(
    costs: Any, size: int, chance: float, note: float, centre: float, ends: tuple[float, float]
) -> None:
    """Of any numbers, in any number: what is measured stays within the bound, and nothing is raised."""
    for query in queries(*ends):
        units = reported(query, costs, size, chance, note, centre)
        assert units.shape == (query.dimension(N),)
        if isinstance(query, CostsOfSets) and note == GRADIENT:
            query = query.gradient
        assert np.abs(units).max() <= query.bound.coordinate
        if not isinstance(query, CostsOfSets):
            assert np.abs(units).sum() <= query.bound.l1
        fits = len(costs) == (N + 1 if query.whole else 1) or len(units) == len(costs)
        fits |= len(costs) == N + 1 and isinstance(query, CostAndItems)
        if not fits or not np.isfinite(costs).any():
            assert not units.any()


@pytest.mark.parametrize("costs", [np.array([1]), np.zeros((1, 1)), np.array(["x"]), np.array([0.9, 0.1])])
def test_arrays_that_do_not_fit_count_as_the_middle(costs: Any) -> None:
    """Of another type or shape: compiled code never sees them."""
    assert reported(CostOfSet(0.0, 1.0), costs).tolist() == [0]


@given(st.floats(0, 1))
def test_a_cost_is_its_place_on_the_grid(cost: float) -> None:
    """The ends are -units and units, what is missing is 0."""
    query = CostOfSet(0.0, 1.0)
    assert reported(query, np.array([cost])) == Grid(0.0, 1.0).of(cost)
    assert [int(reported(query, np.array([c]))[0]) for c in (-9.0, np.nan, 9.0)] == [-(2**20), 0, 2**20]
    assert query.bound.l1_distance() == 2 * query.units


@given(hnp.arrays(np.float64, N + 1, elements=anything), st.integers(0, N))
def test_what_items_brought_is_bounded_together(costs: Any, size: int) -> None:
    """The cost by itself, the items of the set within their total, the others 0."""
    query = CostAndItems(-1.0, 2.0, 0.5)
    units, shown = reported(query, costs, size), np.isin(np.arange(N), [2, 0, 3, 1][:size])
    assert units[0] == Grid(-1.0, 2.0, query.units).of(costs[0])
    assert not units[1:][~shown].any()
    assert np.abs(units[1:]).sum() <= query.most
    clipped = np.clip(np.where(np.isfinite(costs[1:]) & shown, costs[1:], 0.0), -0.5, 0.5)
    if np.abs(clipped).sum() <= 0.5 - 1e-5:  # nothing is scaled down
        np.testing.assert_allclose(units[1:] * query.item_step, clipped, atol=query.item_step)
    assert query.bound.l1_distance() == 2 * (query.units + query.most)
    assert query.units * 10 <= query.units + query.most  # the cost has no more than a tenth of it


def test_items_that_brought_too_much_are_scaled_down_together() -> None:
    """Their proportions stay."""
    query = CostAndItems(0.0, 1.0, 0.5)
    units = reported(query, np.array([0.5, 0.3, 9.0, -0.2, 0.0]), 3)  # the items 2, 0 and 3 are shown
    assert units[[0, 2, 4]].tolist() == [0, 0, 0]
    assert units[1] * query.item_step == pytest.approx(0.3, abs=1e-5)
    assert units[3] * query.item_step == pytest.approx(-0.2, abs=1e-5)
    units = reported(query, np.array([0.5, 0.4, 0.0, -0.4, 0.0]), 3)
    assert units[[1, 3]].tolist() == [query.most // 2, -(query.most // 2)]


@given(st.sampled_from(sorted(families.FAMILIES)), st.integers(0, 10**6))
def test_the_gradient_of_submodular_costs_is_not_clipped(name: str, seed: int) -> None:
    """Differences of the costs on the grid along the order, exactly."""
    f = families.in_unit_range(families.FAMILIES[name](N, np.random.default_rng(seed))[0])
    order = [2, 0, 3, 1]
    costs = np.array([f(order[:k]) for k in range(N + 1)])
    grid = Grid(-1.0, 1.0, 1 << 24)
    units = reported(ChainGradient.of(-1.0, 1.0), costs)
    wanted = {order[k]: grid.of(costs[k + 1]) - grid.of(costs[k]) for k in range(N)}
    assert units.tolist() == [wanted[i] for i in range(N)]


def test_a_magnified_gradient_is_doubled_or_cut_and_says_so() -> None:
    """Up to half the bound exactly twice the gradient; beyond it, the excess takes room from the gradient."""
    plain = ChainGradient.of(-1.0, 1.0)
    query, one = MagnifiedGradient.of(plain), plain.units
    small, large = np.array([0.0, 0.5, -0.5, 0.0, 0.5]), np.array([-1.0, 1.0, 1.0, 1.0, -1.0])
    for costs in (small, large):
        assert reported(query, costs, note=-1.0).tolist() == [*reported(plain, costs).tolist(), 0]
    doubled = reported(query, 0.8 * small, note=1.0)
    assert doubled.tolist() == [*(2 * reported(plain, 0.8 * small)).tolist(), 0]
    # The gradient is 2 at item 2 and -2 at item 1, so |g|_1 = 4, which exceeds half the bound by 2.
    assert reported(query, large, note=1.0).tolist() == [0, -one, one, 0, 2 * one]
    # One person can move it as far as a plain gradient, and no further.
    assert query.bound.l1_distance() == plain.bound.l1_distance()


def test_the_largest_estimate_has_one_inner_prefix_less() -> None:
    """2M (n+1) / gamma, and half of it for one item, where no prefix is between two others."""
    assert largest_estimate(-1.0, 1.0, 4, 0.5) == 20.0
    assert largest_estimate(-1.0, 1.0, 1, 0.5) == 4.0
    for n in (1, 4):
        query = OnePoint.of(0.0, 1.0, n, 0.25)
        assert Fraction(query.bound.l1_distance()) == 2 * query.units


def test_discarded_reports_are_gone_on_arrival() -> None:
    """What promises that nothing is lost keeps nothing either."""
    learner = Learner(N, Fixed(np.ones(N, dtype=np.bool_)), CostOfSet(0.0, 1.0), Discard())
    ticket = Ticket(1, 0, 0, 1, 1.0, np.arange(N), np.zeros(0))
    report = learner.report(ticket, np.array([0.9]), learner.mechanism(), BitSource(1))
    assert report.units._units.tolist() == [0]
