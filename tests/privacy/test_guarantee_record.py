"""Guarantees: what they say, and how they compose."""

import dataclasses
import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.errors import InvalidArgument, MissingExtra
from discreet.privacy import Guarantee, Neighbours, accounting


@given(st.floats(1e-6, 10), st.integers(1, 1000))
def test_epsilon_composes_linearly_and_never_rounds_down(epsilon, k):
    """K rounds lose k epsilon."""
    composed = Guarantee(epsilon=epsilon).composed(k)
    assert Fraction(composed.epsilon) >= k * Fraction(epsilon)
    assert composed.epsilon == pytest.approx(k * epsilon, rel=1e-15)
    assert composed.rounds_per_person == k


def test_delta_and_rho_compose_as_group_privacy_does():
    """Delta sums e^(j epsilon) delta; rho grows with the square."""
    composed = Guarantee(epsilon=0.5, delta=1e-6, rho=0.01).composed(3)
    assert composed.delta == pytest.approx(1e-6 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert composed.rho == pytest.approx(0.09)
    assert Guarantee(epsilon=300.0, delta=1e-6).composed(9).delta == 1.0
    assert Guarantee(rho=0.25).composed(2) == Guarantee(rho=1.0, rounds_per_person=2)


def test_only_one_round_guarantees_compose():
    """Composing twice would be wrong for rho and delta."""
    with pytest.raises(InvalidArgument, match="one round"):
        Guarantee(epsilon=1.0).composed(2).composed(2)
    with pytest.raises(InvalidArgument, match="rounds_per_person"):
        Guarantee(epsilon=1.0).composed(0)


def test_a_guarantee_is_frozen_and_complete():
    """Nobody changes it afterwards; it states a loss, and a reason exactly where it is void."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Guarantee(epsilon=1.0).epsilon = 0.1
    with pytest.raises(InvalidArgument, match="neither"):
        Guarantee()
    with pytest.raises(InvalidArgument, match="reason"):
        Guarantee(epsilon=1.0, private=False)
    with pytest.raises(InvalidArgument, match="reason"):
        Guarantee(epsilon=1.0, reason="because")


def test_the_text_for_a_privacy_officer():
    """It names the figures, the people, the trust, the limits."""
    text = str(Guarantee(epsilon=1.0, horizon=100, proof="docs/guarantees.md#one-bit"))
    for part in (
        "epsilon = 1",
        "one round",
        "2.72 times",
        "is trusted",
        "100 rounds",
        "took part",
        "#one-bit",
    ):
        assert part in text
    text = str(Guarantee(epsilon=0.5, delta=1e-6, local=True, exact=False, rounds_per_person=3))
    for part in ("delta = 1e-06", "up to 3 rounds", "no trust", "any number of rounds", "floating-point"):
        assert part in text
    text = str(Guarantee(rho=0.1, neighbours=Neighbours.ZERO_OUT_ONE_ROUND))
    assert "zero-concentrated" in text
    assert "neutral value" in text


def test_a_void_guarantee_says_so_first():
    """Nobody can read past it."""
    promise = Guarantee(epsilon=1.0)
    assert promise.void("") is promise
    void = promise.void("its random numbers come from a seed")
    assert not void.private
    assert str(void).startswith("NOT PRIVATE: its random numbers come from a seed.")


def test_rho_becomes_epsilon_and_delta():
    """Never better than the exact Gaussian, never worse than the textbook conversion."""
    rho, delta = 0.02, 1e-6
    converted = Guarantee(rho=rho).at_delta(delta)
    textbook = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    exact = accounting.epsilon_of_gaussian(1 / math.sqrt(2 * rho), 1.0, delta)
    assert exact <= converted.epsilon <= textbook
    assert converted.delta == delta
    with pytest.raises(InvalidArgument, match="rho"):
        Guarantee(epsilon=1.0).at_delta(delta)
    with pytest.raises(InvalidArgument, match="delta"):
        Guarantee(rho=1.0).at_delta(0.0)


def epsilon_of_gaussian_rho(rho, delta):
    """The exact epsilon of real Gaussian noise made for rho."""
    return accounting.epsilon_of_gaussian(1 / math.sqrt(2 * rho), 1.0, delta)


both_ways = pytest.mark.parametrize(
    ("inverse", "forward"),
    [
        (accounting.rho_of_epsilon, accounting.epsilon_of_rho),
        (accounting.gaussian_rho_of_epsilon, epsilon_of_gaussian_rho),
    ],
)


@both_ways
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01, 0.9])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 8.0, 200.0])
def test_the_largest_rho_for_an_epsilon(inverse, forward, epsilon, delta):
    """The accountant finds what was asked for or hardly less, never more, and a larger rho exceeds it."""
    rho = inverse(epsilon, delta)
    assert epsilon * (1 - 1e-9) < forward(rho, delta) <= epsilon
    assert forward(rho * (1 + 1e-8), delta) > epsilon


@both_ways
@pytest.mark.parametrize("rho", [1e-3, 0.02, 1.0, 30.0])
def test_rho_comes_back_from_its_epsilon(inverse, forward, rho):
    """From rho to epsilon and back: a little less at most."""
    assert rho * (1 - 1e-8) < inverse(forward(rho, 1e-6), 1e-6) < rho


@both_ways
def test_a_larger_epsilon_or_delta_allows_a_larger_rho(inverse, forward):
    """Strictly so over a grid of six by four, from tiny losses to the largest that a budget takes."""
    rhos = [[inverse(e, d) for d in (1e-9, 1e-6, 1e-3, 0.3)] for e in (0.01, 0.1, 1, 10.0, 100.0, 1000.0)]
    for i, row in enumerate(rhos):
        assert row == sorted(set(row))
        assert i == 0 or all(below < here for below, here in zip(rhos[i - 1], row, strict=True))


@both_ways
@pytest.mark.parametrize("epsilon", [1e-13, 1e-9, 1e-4, 0.001])
def test_tiny_epsilons_are_kept_too(inverse, forward, epsilon):
    """Below the accountant's tolerance only noise that hides everything up to delta will do."""
    rho = inverse(epsilon, 1e-6)
    assert rho > 1e-13
    assert forward(rho, 1e-6) <= epsilon


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-6), (20.0, 1e-3), (0.5, 0.1)])
def test_the_rho_of_a_real_gaussian_by_the_formula(epsilon, delta):
    """Balle and Wang's delta there is the one asked for, and the way through zCDP allows less."""
    rho = accounting.gaussian_rho_of_epsilon(epsilon, delta)
    sigma = 1 / math.sqrt(2 * rho)
    shift, cut = 1 / (2 * sigma), epsilon * sigma
    reached = norm.cdf(shift - cut) - math.exp(epsilon) * norm.cdf(-shift - cut)
    assert reached == pytest.approx(delta, rel=1e-6)
    assert accounting.rho_of_epsilon(epsilon, delta) < rho


@both_ways
def test_losses_that_make_no_sense_are_refused(inverse, forward):
    """By name, before the accountant is asked, and where no noise of a usable size would do."""
    for epsilon in (0.0, -1.0, math.nan, math.inf, 1001.0, "1", True, None):
        with pytest.raises(InvalidArgument, match=f"'epsilon' of {inverse.__name__}"):
            inverse(epsilon, 1e-6)
    for delta in (0.0, 1.0, -0.1, math.nan, 1, "0.1", None):
        with pytest.raises(InvalidArgument, match=f"'delta' of {inverse.__name__}"):
            inverse(1.0, delta)
    with pytest.raises(InvalidArgument, match="at least 1e-15"):
        inverse(1e-9, 1e-30)


def test_a_missing_accountant_names_the_extra(monkeypatch):
    """The package is optional."""
    accounting._dp_accounting.cache_clear()
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtra, match=r"discreet\[accounting\]"):
        accounting.epsilon_of_rho(0.1, 1e-6)
    with pytest.raises(MissingExtra, match=r"discreet\[accounting\]"):
        accounting.rho_of_epsilon(0.1, 1e-6)


@given(st.floats(1e-9, 600))
def test_words_never_understate_the_loss(epsilon):
    """The factor and the figures shown are at least the true ones."""
    text = str(Guarantee(epsilon=epsilon))
    shown = float(text.split("epsilon = ")[1].split(",")[0])
    assert shown >= epsilon * (1 - 1e-15)
    promise = text.split("anything released is at most ")[1]
    figure = float(promise.replace("%", " ").split()[0])
    factor = 1 + figure / 100 if "% more likely" in promise else figure
    assert math.log1p(figure / 100) >= epsilon * (1 - 1e-12) or math.log(factor) >= epsilon * (1 - 1e-12)


def test_a_small_loss_is_not_shown_as_none():
    """An epsilon of 0.001 is a tenth of a percent, not a factor of 1; only 0 is exact."""
    assert "at most 0.101% more likely" in str(Guarantee(epsilon=0.001))
    assert "at most 1.23 times as likely" in str(Guarantee(epsilon=0.2))
    assert "exactly as likely" in str(Guarantee(epsilon=0.0))
