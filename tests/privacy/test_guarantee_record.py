"""Guarantees: what they say, and how they compose."""

import dataclasses
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.errors import InvalidArgument, MissingExtra
from discreet.privacy import Guarantee, Neighbours


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
    text = str(Guarantee(epsilon=0.5, delta=1e-6, local=True, rounds_per_person=3))
    for part in ("delta = 1e-06", "up to 3 rounds", "no trust", "any number of rounds"):
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
    sigma, epsilon = 1 / math.sqrt(2 * rho), converted.epsilon  # Balle and Wang 2018, for real Gaussians
    reached = norm.cdf(0.5 / sigma - epsilon * sigma)
    reached -= math.exp(epsilon) * norm.cdf(-0.5 / sigma - epsilon * sigma)
    assert 0 < reached <= delta
    assert epsilon <= textbook
    assert converted.delta == delta
    with pytest.raises(InvalidArgument, match="rho"):
        Guarantee(epsilon=1.0).at_delta(delta)
    with pytest.raises(InvalidArgument, match="delta"):
        Guarantee(rho=1.0).at_delta(0.0)


def test_a_missing_accountant_names_the_extra(monkeypatch):
    """The package is optional."""
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtra, match=r"discreet\[accounting\]"):
        Guarantee(rho=0.1).at_delta(1e-6)


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
