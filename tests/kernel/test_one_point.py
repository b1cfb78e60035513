"""The paper's one-point estimate, by enumeration of all outcomes: no sampling, no tolerance for luck."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import families
from discreet import lovasz
from discreet.kernel.phase import EACH_ROUND, Ticket, chain_chances, draw_prefix, draw_size
from discreet.kernel.queries import OnePoint, measure
from discreet.privacy.uniform import uniform_float

N = 4
names = st.sampled_from(sorted(families.FAMILIES))
seeds = st.integers(0, 10**6)
points = arrays(float, N, elements=st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]))
gammas = st.sampled_from([0.05, 0.3, 1.0])


def chances(x: np.ndarray, gamma: float) -> np.ndarray:
    rho = np.empty(x.size + 1)
    chain_chances(x, lovasz.chain(x).order, gamma, rho)
    return rho


class Enumerated:
    """All outcomes of one round at a point: prefixes, coins, probabilities, costs and estimates."""

    def __init__(self, costs: np.ndarray, x: np.ndarray, gamma: float) -> None:
        self.order, self.rho, self.costs = lovasz.chain(x).order, chances(x, gamma), costs
        query, self.estimates = OnePoint.of(-1.0, 1.0, N, gamma), []
        for size, (chance, cost) in enumerate(zip(self.rho, costs, strict=True)):
            for coin in (1.0, -1.0):
                units = np.zeros(N, dtype=np.int64)
                ticket = Ticket(1, 0, 0, size, chance, self.order, np.array([coin]))
                measure(query, np.array([cost]), ticket, units)
                self.estimates.append((chance / 2, units * query.step))

    @property
    def mean(self) -> np.ndarray:
        return sum(chance * estimate for chance, estimate in self.estimates)

    @property
    def second_moment(self) -> float:
        return sum(chance * (estimate**2).sum() for chance, estimate in self.estimates)


@given(names, seeds, points, gammas)
def test_the_lemmas_about_one_round(name: str, seed: int, x: np.ndarray, gamma: float) -> None:
    """The estimate is unbiased, its second moment within 16 M^2 n^2 / gamma and less, exploring 2 gamma M."""
    f = families.in_unit_range(families.FAMILIES[name](N, np.random.default_rng(seed))[0])
    e = Enumerated(f.chain_values(lovasz.chain(x).order), x, gamma)
    np.testing.assert_allclose(e.mean, lovasz.subgradient(f, x), atol=1e-4)
    assert e.second_moment <= (4 * N - 2) * (N + 1) / gamma + 1e-4
    assert e.second_moment <= 16 * N**2 / gamma
    assert e.rho @ e.costs <= lovasz.value(f, x) + 2 * gamma + 1e-9


def test_the_second_moment_bound_is_attained() -> None:
    """At gamma = 1 and |f| = M everywhere it is an equality, so it cannot be lowered."""
    e = Enumerated(np.ones(N + 1), np.full(N, 0.5), 1.0)
    assert e.second_moment == pytest.approx((4 * N - 2) * (N + 1), rel=1e-5)


@given(points, st.sampled_from([0.0, 0.05, 1.0]))
def test_probabilities_add_up_and_are_drawn_as_stated(x: np.ndarray, gamma: float) -> None:
    """Over a fine grid of uniforms every prefix is drawn as often as its probability says."""
    rho = chances(x, gamma)
    assert rho.sum() == pytest.approx(1)
    assert rho.min() >= gamma / (N + 1) - 1e-15
    grid = (np.arange(2000, dtype=np.uint64) * 2 + 1) * np.uint64(2**64 // 4000)
    draws = [draw_size(rho, EACH_ROUND, grid, k)[0] for k in range(grid.size)]
    order = lovasz.chain(x).order
    for k, size in enumerate(draws):
        assert draw_prefix(x, order, gamma, uniform_float(grid[k])) == (size, rho[size])
    drawn = np.bincount(draws, minlength=N + 1) / grid.size
    np.testing.assert_allclose(drawn, rho, atol=1.1 / grid.size)
    assert not drawn[rho == 0].any()


def test_level_sets_are_the_case_without_exploration() -> None:
    """gamma = 0 draws the level set of the same threshold."""
    x = np.array([0.2, 0.9, 0.4, 0.4])
    for u in np.linspace(0, 0.999, 50):
        size, _ = draw_size(chances(x, 0.0), EACH_ROUND, np.array([int(u * 2**64)], dtype=np.uint64), 0)
        assert lovasz.chain(x).sets[size] == lovasz.draw_level_set(x, u)


def test_rounding_never_draws_an_impossible_prefix() -> None:
    """Where all probabilities are used up by rounding the last possible prefix is drawn, at its chance."""
    x, order = np.array([0.5, 0.0]), np.arange(2)
    assert draw_prefix(x, order, 0.0, 1.0 + 1e-9) == (1, 0.5)
