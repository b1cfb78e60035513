"""Regret bounds: their figures, their tunings, and how they grow."""

import math

import pytest

from discreet import DiscreetError, bounds


def test_published_bounds_are_the_displays() -> None:
    """By hand for one set of parameters."""
    n, T, M, epsilon, H, gamma = 4, 1000, 2.0, 0.5, 0.3, 0.25
    log = math.log(T)
    assert bounds.ftal(T, 5.0, H, 2.0) == pytest.approx(2 * (5 + 0.6) ** 2 * log / 0.3)
    assert bounds.pftal(n, T, 5.0, H, 2.0, epsilon) == pytest.approx(
        8 * 4 * 5.6**2 * log**2.5 / (0.3 * 0.5) + 2 * 5.6**2 * log / 0.3
    )
    assert bounds.bandit_submod_pftal_published(n, T, M, epsilon, H, gamma) == pytest.approx(
        2 * (2 * 2 * 5 / 0.25 + 2 * 0.3 * 2) ** 2 * log / 0.3
        + 2 * 0.25 * 2 * 1000
        + 1000 * 0.3 * 4 / 2
        + 8 * 4 * (8 + 2 * 0.3 * 2) ** 2 * log**2.5 / (0.3 * 0.5)
        + 8 * 4 * 2 * 2 * math.sqrt(1000) / math.sqrt(0.25)
    )
    assert bounds.submod_pftal_stated_H(4, 100, 3.0) == pytest.approx(15.0)
    assert bounds.bandit_submod_pftal_stated_tuning(4, 10_000, 3.0) == pytest.approx((0.15, 0.4))
    assert bounds.submod_pftal_claimed(4, 100, 3.0, 0.5) == pytest.approx(480.0)


def test_published_full_information_h_makes_its_own_bound_linear() -> None:
    """Erratum E2: with the stated H the term T H n / 2 is M n^0.5 T^1.5 / 2, more than the trivial 2 M T."""
    n, M = 4, 1.0
    for T in (10**3, 10**6):
        H = bounds.submod_pftal_stated_H(n, T, M)
        assert bounds.submod_pftal_published(n, T, M, 1.0, H) > M * math.sqrt(n) * T**1.5 / 2 > 2 * M * T


@pytest.mark.parametrize("noise", ["laplace", "spherical"])
@pytest.mark.parametrize(("n", "T", "epsilon"), [(2, 2**12, 1.0), (8, 2**20, 0.3), (20, 2**16, 5.0)])
def test_tunings_are_minima(n: int, T: int, epsilon: float, noise: str) -> None:
    """No nearby parameter gives a smaller bound."""
    H = bounds.submod_pftal_tuning(n, T, 1.5, epsilon, noise)  # type: ignore[arg-type]
    best = bounds.submod_pftal(n, T, 1.5, epsilon, H, noise)  # type: ignore[arg-type]
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert bounds.submod_pftal(n, T, 1.5, epsilon, H * factor, noise) >= best  # type: ignore[arg-type]
    H, gamma = bounds.bandit_submod_pftal_tuning(n, T, 1.5, epsilon, noise)  # type: ignore[arg-type]
    best = bounds.bandit_submod_pftal(n, T, 1.5, epsilon, H, gamma, noise)  # type: ignore[arg-type]
    for a in (0.9, 1.0, 1.1):
        for b in (0.9, 1.0, 1.1):
            if gamma * b <= 1:
                tried = bounds.bandit_submod_pftal(n, T, 1.5, epsilon, H * a, gamma * b, noise)  # type: ignore[arg-type]
                assert tried >= best * (1 - 1e-4)


@pytest.mark.parametrize(("n", "T", "epsilon"), [(2, 2**12, 1.0), (8, 2**20, 0.3)])
def test_tunings_of_the_published_bounds_are_minima(n: int, T: int, epsilon: float) -> None:
    """No nearby parameter gives a smaller value, and the stated ones are no better."""
    H = bounds.ftal_tuning(3.0, 2.0)
    assert all(bounds.ftal(T, 3.0, H * a, 2.0) >= bounds.ftal(T, 3.0, H, 2.0) for a in (0.9, 1.1))
    assert all(
        bounds.pftal(n, T, 3.0, H * a, 2.0, epsilon) >= bounds.pftal(n, T, 3.0, H, 2.0, epsilon)
        for a in (0.9, 1.1)
    )
    H = bounds.submod_pftal_published_tuning(n, T, 1.5, epsilon)
    best = bounds.submod_pftal_published(n, T, 1.5, epsilon, H)
    others = [H * 0.9, H * 1.1, bounds.submod_pftal_stated_H(n, T, 1.5)]
    assert all(bounds.submod_pftal_published(n, T, 1.5, epsilon, other) >= best for other in others)
    H, gamma = bounds.bandit_submod_pftal_published_tuning(n, T, 1.5, epsilon)
    best = bounds.bandit_submod_pftal_published(n, T, 1.5, epsilon, H, gamma)
    near = [(H * a, gamma * b) for a in (0.9, 1.0, 1.1) for b in (0.9, 1.0, 1.1)]
    near.append(bounds.bandit_submod_pftal_stated_tuning(n, T, 1.5))
    for other, share in near:
        if share <= 1:
            tried = bounds.bandit_submod_pftal_published(n, T, 1.5, epsilon, other, share)
            assert tried >= best * (1 - 1e-4)


def test_hazan_kale_tuning_balances() -> None:
    """6 M n T^(2/3) once T >= n^3; gamma is capped at 1 before."""
    assert bounds.hazan_kale_bandit(4, 10**6, 2.0) == pytest.approx(6 * 2 * 4 * 10**4)
    assert bounds.hazan_kale_bandit_tuning(10, 100, 1.0)[1] == 1.0
    assert bounds.hazan_kale(4, 100, 1.0) == pytest.approx(80.0)
    assert bounds.hazan_kale_step(4, 100, 1.0) == pytest.approx(0.05)


def test_corrected_rates() -> None:
    """Up to logarithms: full information like n^(3/4) sqrt(T / epsilon); bandit a little above T^(2/3)."""

    def exponent(f, a: float, b: float) -> float:  # type: ignore[no-untyped-def]
        return math.log(f(b) / f(a)) / math.log(b / a)

    def full(n: int, T: int, epsilon: float) -> float:
        H = bounds.submod_pftal_tuning(n, T, 1.0, epsilon)
        return bounds.submod_pftal(n, T, 1.0, epsilon, H)

    def bandit(T: int) -> float:
        H, gamma = bounds.bandit_submod_pftal_tuning(4, T, 1.0, 1.0)
        return bounds.bandit_submod_pftal(4, T, 1.0, 1.0, H, gamma)

    assert exponent(lambda T: full(4, int(T), 1.0), 2**40, 2**60) == pytest.approx(0.5, abs=0.06)
    assert exponent(lambda n: full(int(n), 2**40, 1.0), 2**6, 2**12) == pytest.approx(0.75, abs=0.03)
    assert exponent(lambda e: full(4, 2**40, e), 2**-9, 2**-6) == pytest.approx(-0.5, abs=0.03)
    assert 2 / 3 < exponent(lambda T: bandit(int(T)), 2**40, 2**60) < 0.76


def test_laplace_noise_is_smaller_for_more_than_a_few_items() -> None:
    """The spherical norm grows like n, the Laplace norm like sqrt(2 n): they cross between 3 and 4 items."""
    norms = {
        (n, noise): bounds.mean_noise_norm(n, 1000, 8.0, 4 * math.sqrt(2), 1.0, noise)  # type: ignore[arg-type]
        for n in (2, 8)
        for noise in ("laplace", "spherical")
    }
    assert norms[2, "laplace"] > norms[2, "spherical"]
    assert norms[8, "laplace"] < norms[8, "spherical"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.bandit_submod_pftal(3, 10, 1, 1, 1, 1.5), "'gamma' of bandit_submod_pftal"),
        (lambda: bounds.mean_noise_norm(3, 10, 1, 1, 1, "pink"), "'noise'"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_named(call, message: str) -> None:  # type: ignore[no-untyped-def]
    """A probability above 1, an unknown kind of noise."""
    with pytest.raises(DiscreetError, match=message):
        call()
