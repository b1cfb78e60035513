"""Budgets as exact numbers, rounded in the safe direction only."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidType
from discreet.kernel.releases import Laplace
from discreet.privacy import Budget, Grid, Neighbours, VectorBound
from discreet.privacy.rational import exponential_below, float_above, privacy_loss, square_root_above

POSITIVE = st.fractions(min_value=Fraction(1, 10**6), max_value=1000)


@given(POSITIVE)
def test_the_exponential_is_bounded_from_below_and_tightly(exponent):
    """Against 100 digits of mpmath."""
    with mpmath.workdps(600):
        true = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
        bound = exponential_below(exponent)
        approximation = mpmath.mpf(bound.numerator) / bound.denominator
        assert approximation <= true
        assert (true - approximation) / true < mpmath.mpf(2) ** -128


@given(st.fractions(min_value=0, max_value=2**80))
def test_the_square_root_is_bounded_from_above_and_tightly(number):
    """In exact arithmetic, and exactly for squares."""
    root = square_root_above(number)
    assert root**2 >= number
    assert number == 0 or max(0, root - Fraction(1, 2**39)) ** 2 < number or root**2 == number
    assert square_root_above(number**2) == number


@given(st.fractions(min_value=0, max_value=10**30))
def test_a_float_above_is_above(number):
    """And the float before it is not."""
    above = float_above(number)
    assert Fraction(above) >= number
    assert above == 0 or Fraction(math.nextafter(above, -math.inf)) < number


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True, 1001])
def test_bad_losses_are_refused(bad):
    """They are public arguments."""
    with pytest.raises(InvalidArgument, match="epsilon"):
        privacy_loss("test", "epsilon", bad)


def test_a_budget_is_one_kind_of_loss():
    """Neither none nor both."""
    with pytest.raises(InvalidArgument, match="neither"):
        Budget()
    with pytest.raises(InvalidArgument, match="both"):
        Budget(epsilon=1.0, rho=1.0)
    with pytest.raises(InvalidArgument, match="rounds_per_person"):
        Budget(epsilon=1.0, rounds_per_person=0)
    with pytest.raises(InvalidType, match="neighbours"):
        Budget(epsilon=1.0, neighbours="replace")


def test_a_budget_is_refused_in_the_name_of_its_owner():
    """Of whoever was given the two numbers; good ones give the same budget as ever."""
    for wrong in (None, -1.0, "1", 1e-70):
        with pytest.raises(InvalidArgument, match=r"^The 'epsilon' of Owner must"):
            Budget.of("Owner", wrong)
    with pytest.raises(InvalidArgument, match=r"^The 'rounds_per_person' of Owner must"):
        Budget.of("Owner", 1.0, 0)
    assert Budget.of("Owner", 1.0, 4) == Budget(epsilon=1.0, rounds_per_person=4)


@given(st.floats(1e-4, 100), st.integers(1, 50), st.integers(1, 30), st.integers(1, 2**30))
def test_a_budget_is_never_overspent(epsilon, k, nodes, length):
    """K rounds, each in `nodes` sums moved by twice the length, lose at most epsilon in exact arithmetic."""
    bound = VectorBound(coordinate=min(length, 2**29), l1=length)
    law = Budget(epsilon=epsilon, rounds_per_person=k).law(bound, nodes)
    assert k * nodes * 2 * length / law.scale <= Fraction(epsilon)
    law = Budget(rho=epsilon, rounds_per_person=k).law(bound, nodes)
    assert k**2 * nodes * 4 * bound.squared_l2 / (2 * law.scale**2) <= Fraction(epsilon)
    assert Budget(rho=2).law(VectorBound(coordinate=3, l1=3), nodes=4).scale == 6  # a square stays exact


def test_the_guarantee_of_a_budget():
    """It states what one person loses in all their rounds together, and survives saving."""
    budget = Budget(epsilon=0.1, rounds_per_person=3, neighbours=Neighbours.ZERO_OUT_ONE_ROUND)
    promise = budget.guarantee(proof="here", horizon=7)
    assert (promise.epsilon, promise.rounds_per_person, promise.horizon) == (0.1, 3, 7)
    assert promise.neighbours is Neighbours.ZERO_OUT_ONE_ROUND
    assert promise.private
    assert Budget.restored(budget.saved()).per_round == budget.per_round
    rho = Budget(rho=Fraction(1, 50), rounds_per_person=2)
    assert Budget.restored(rho.saved()) == rho
    assert rho.guarantee(proof="here").rho == 0.02


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int32, np.int64])
def test_numpy_integers_give_the_same_noise_as_python_ones(kind):
    """Sensitivities computed in narrow numpy types would wrap around and ask for too little noise."""
    number = min(int(np.iinfo(kind).max), 100_000)
    given, plain = VectorBound(kind(number), kind(number)), VectorBound(number, number)
    assert given == plain
    for relation in Neighbours:
        assert given.l1_distance(relation) == plain.l1_distance(relation)
        assert given.squared_l2_distance(relation) == plain.squared_l2_distance(relation)
    assert Grid(0, 1, kind(number)).units == number
    budget = Budget(epsilon=1.0)
    assert Laplace(given, budget).mechanism(1).law == Laplace(plain, budget).mechanism(1).law
    assert Budget(rho=1, rounds_per_person=kind(20)).per_round == Fraction(1, 400)
