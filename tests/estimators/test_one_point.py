"""The one-point estimates, by enumeration of all outcomes: no sampling, no tolerance for luck."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import families
from discreet import lovasz
from discreet.estimators import chain_probabilities, draw_prefix, one_point, one_point_with_coin

N = 4
names = st.sampled_from(sorted(families.FAMILIES))
seeds = st.integers(0, 10**6)
points = arrays(float, N, elements=st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]))
gammas = st.sampled_from([0.05, 0.3, 1.0])


class Enumerated:
    """All outcomes of one round at a point: prefixes, coins, probabilities, costs and estimates."""

    def __init__(self, name: str, seed: int, x: np.ndarray, gamma: float) -> None:
        f, _ = families.FAMILIES[name](N, np.random.default_rng(seed))
        self.f = families.in_unit_range(f)
        self.x, self.gamma = x, gamma
        self.chain = lovasz.chain(x)
        self.costs = self.f.chain_values(self.chain.order)
        self.rho = chain_probabilities(self.chain.weights, gamma)

    def mean(self, quantity):  # type: ignore[no-untyped-def]
        """The mean over prefixes of quantity(size, probability, cost)."""
        return sum(r * quantity(k, r, c) for k, (r, c) in enumerate(zip(self.rho, self.costs, strict=True)))

    def plain(self, size: int, probability: float, cost: float) -> np.ndarray:
        out = np.full(N, np.nan)
        one_point(self.chain.order, size, probability, cost, out)
        return out

    def coin(self, size: int, probability: float, cost: float, heads: bool) -> np.ndarray:
        out = np.full(N, np.nan)
        one_point_with_coin(self.chain.order, size, probability, cost, heads, out)
        return out


@given(names, seeds, points, gammas)
def test_both_estimates_are_unbiased(name: str, seed: int, x: np.ndarray, gamma: float) -> None:
    """Paper, unbiasedness lemma: the mean over all outcomes is the subgradient."""
    e = Enumerated(name, seed, x, gamma)
    g = lovasz.subgradient(e.f, x)
    np.testing.assert_allclose(e.mean(e.plain), g, atol=1e-8)
    with_coin = e.mean(lambda k, r, c: (e.coin(k, r, c, True) + e.coin(k, r, c, False)) / 2)
    np.testing.assert_allclose(with_coin, g, atol=1e-8)


@given(names, seeds, points, gammas, st.floats(-10, 10))
def test_a_baseline_does_not_change_the_mean(
    name: str, seed: int, x: np.ndarray, gamma: float, baseline: float
) -> None:
    """Subtracting a constant from the cost leaves the gradient unbiased."""
    e = Enumerated(name, seed, x, gamma)
    shifted = e.mean(lambda k, r, c: e.plain(k, r, c - baseline))
    np.testing.assert_allclose(shifted, lovasz.subgradient(e.f, x), atol=1e-7)


@given(names, seeds, points, gammas)
def test_second_moments_stay_below_their_bounds(name: str, seed: int, x: np.ndarray, gamma: float) -> None:
    """Paper, second-moment lemma: 16 M^2 n^2 / gamma; and the tighter bounds of the module."""
    e = Enumerated(name, seed, x, gamma)
    plain = e.mean(lambda k, r, c: (e.plain(k, r, c) ** 2).sum())
    coin = e.mean(
        lambda k, r, c: ((e.coin(k, r, c, True) ** 2).sum() + (e.coin(k, r, c, False) ** 2).sum()) / 2
    )
    assert plain <= 2 * N * (N + 1) / gamma + 1e-9
    assert coin <= (4 * N - 2) * (N + 1) / gamma + 1e-9
    assert coin <= 16 * N**2 / gamma + 1e-9


def test_second_moment_bounds_are_attained() -> None:
    """At gamma = 1 and |f| = M everywhere both tighter bounds are equalities, so they cannot be lowered."""
    order, rho = np.arange(N), 1 / (N + 1)
    out = np.empty(N)
    plain = coin = 0.0
    for size in range(N + 1):
        one_point(order, size, rho, 1.0, out)
        plain += rho * (out**2).sum()
        for heads in (True, False):
            one_point_with_coin(order, size, rho, 1.0, heads, out)
            coin += rho * (out**2).sum() / 2
    assert plain == pytest.approx(2 * N * (N + 1))
    assert coin == pytest.approx((4 * N - 2) * (N + 1))


@given(names, seeds, points, gammas)
def test_exploring_costs_at_most_two_gamma_m(name: str, seed: int, x: np.ndarray, gamma: float) -> None:
    """Paper, set-to-point lemma: E f(S) <= f^(x) + 2 gamma M."""
    e = Enumerated(name, seed, x, gamma)
    assert e.mean(lambda k, r, c: c) <= lovasz.value(e.f, x) + 2 * gamma + 1e-9


@given(points, st.sampled_from([0.0, 0.05, 1.0]))
def test_probabilities_add_up_and_are_drawn_as_stated(x: np.ndarray, gamma: float) -> None:
    """Over a fine grid of uniforms every prefix is drawn as often as its probability says."""
    chain = lovasz.chain(x)
    rho = chain_probabilities(chain.weights, gamma)
    assert rho.sum() == pytest.approx(1)
    assert rho.min() >= gamma / (N + 1) - 1e-15
    grid = (np.arange(2000) + 0.5) / 2000
    draws = [draw_prefix(x, chain.order, gamma, u) for u in grid]
    assert all(probability == rho[size] for size, probability in draws)
    drawn = np.bincount([size for size, _ in draws], minlength=N + 1) / grid.size
    np.testing.assert_allclose(drawn, rho, atol=1.1 / grid.size)
    assert not drawn[rho == 0].any()


def test_rounding_never_draws_an_impossible_prefix() -> None:
    """Where all probabilities are used up by rounding the last possible prefix is drawn, at its chance."""
    x, order = np.array([0.5, 0.0]), np.arange(2)
    assert draw_prefix(x, order, 0.0, 1.0) == (1, 0.5)
    assert draw_prefix(x, order, 0.0, 1.0 + 1e-9) == (1, 0.5)


def test_level_sets_are_the_case_without_exploration() -> None:
    """gamma = 0 draws the level set of the same threshold."""
    x = np.array([0.2, 0.9, 0.4, 0.4])
    c = lovasz.chain(x)
    for u in np.linspace(0, 0.999, 50):
        size, _ = draw_prefix(x, c.order, 0.0, u)
        assert c.sets[size] == lovasz.draw_level_set(x, u)
