"""The regret bounds of our own learners: recomputed from their proofs, and least where they should be."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import DiscreetError, bounds
from discreet.learners.bandit import EXPLORATION, STEP

ns = st.integers(1, 30)
rounds = st.integers(1, 10**6)
moments = st.floats(1.0, 1e4)
positive = st.floats(1e-3, 1e3)


def leading(n: int, s: float, a: float, b: float) -> float:
    """What multiplies M T^(2/3) in the bandit bound."""
    return 3 * a + n / (8 * b) + 1.5 * n * (n + 1) * s * b / a


@settings(max_examples=50)
@given(ns, moments)
def test_bandit_tuning_is_the_minimum(n: int, s: float) -> None:
    """A general solver finds no better pair, and the least value has the constant 1.5 * 4.5^(1/3)."""
    a, b = bounds.bandit_tuning(n, s)
    least = leading(n, s, a, b)
    solved = scipy.optimize.minimize(
        lambda logs: math.log(leading(n, s, *np.exp(logs))),
        np.log([1.6 * a, 0.5 * b]),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-12},
    )
    assert least <= math.exp(solved.fun) * (1 + 1e-9)
    assert least == pytest.approx(math.exp(solved.fun), rel=1e-6)
    assert least == pytest.approx(1.5 * 4.5 ** (1 / 3) * (n * n * (n + 1) * s) ** (1 / 3))


@settings(max_examples=20)
@given(ns, moments)
def test_the_default_tuning_has_2_7_times_the_least_bound(n: int, s: float) -> None:
    """To first order: 0.4 and 3 times the best constants, as the docs say."""
    a, b = bounds.bandit_tuning(n, s)
    assert leading(n, s, EXPLORATION * a, STEP * b) / leading(n, s, a, b) == pytest.approx(2.744, abs=1e-3)


def test_the_bandit_constant() -> None:
    """2.476 n^(2/3) (n+1)^(1/3) s^(1/3) M T^(2/3) for many rounds."""
    n, s, M, T = 8, 4.68, 2.0, 10**18
    bound = bounds.bandit_dual_averaging(n, T, M, s, *bounds.bandit_tuning(n, s))
    assert bound / (n ** (2 / 3) * (n + 1) ** (1 / 3) * s ** (1 / 3) * M * T ** (2 / 3)) == pytest.approx(
        2.4764, abs=2e-4
    )


@settings(max_examples=50)
@given(ns, st.integers(1, 2000), moments, positive, positive, st.integers(1, 9))
def test_the_bandit_bound_covers_the_sums_of_its_proof(
    n: int, T: int, s: float, a: float, b: float, block: int
) -> None:
    """Lemma 1 summed round by round with the schedules themselves is at most the closed form, and not far."""
    t = np.arange(1, T // block + 1)
    gamma, eta = np.minimum(1, a * t ** (-1 / 3)), b * t ** (-2 / 3)
    summed = 2 * gamma.sum() + (eta / 2 * 2 * n * (n + 1) * s / gamma).sum()
    summed += n / 8 / eta[-1] if t.size else 0
    exact = 3.0 * (block * summed + 2 * block)
    bound = bounds.bandit_dual_averaging(n, T, 3.0, s, a, b, block=block)
    assert exact <= bound * (1 + 1e-12)
    late = bounds.bandit_dual_averaging(n, T, 3.0, s, a, b, block=block, outstanding=5.0)
    root8 = 2 * math.sqrt(2)
    drift = root8 * (eta * (root8 * 5 + np.sqrt(2 * n * (n + 1) * s * 5 / gamma))).sum()
    assert exact + 3.0 * block * drift <= late * (1 + 1e-12)
    assert late >= bound


@settings(max_examples=50)
@given(ns, rounds, positive, st.floats(0, 1e4), st.integers(1, 100), st.integers(1, 20))
def test_the_batched_bound_is_the_display(
    n: int, T: int, M: float, v: float, shortest: int, more: int
) -> None:
    """Recomputed from Theorem 12, with its defaults and with what else can be given."""
    longest = shortest * more

    def display(alpha: float, G: float, F: float) -> float:
        energy = math.sqrt(alpha * n / 8 * T * (G * longest + n * v / shortest))
        largest = 4 * M * longest + math.sqrt(2 * v) * (math.log(max(1, T / shortest)) + 0.75 * n)
        return (1 + 1 / alpha) * (energy + F + largest) + 2 * M * longest

    bound = bounds.batched(n, T, M, v, shortest, longest)
    assert bound == pytest.approx(display(0.5, 8 * M**2, 0))
    given = {"alpha": 0.3, "squared_gradient": 2.0, "first_spent": 9.0}
    assert bounds.batched(n, T, M, v, shortest, longest, **given) == pytest.approx(display(0.3, 2, 9))
    # From the middle of the cube an adapting adversary adds the sum over items of 1/2 sqrt(v T / shortest).
    added = n / 2 * math.sqrt(v * max(1, T / shortest))
    assert bounds.batched(n, T, M, v, shortest, longest, adaptive=True) == pytest.approx(bound + added)


def test_the_batched_constant() -> None:
    """6 n^(3/4) M sqrt(T / epsilon) with blocks of 4 sqrt(n) / epsilon; 2.9 times that for up to 16 times."""
    n, M, T, epsilon = 9, 2.0, 10**16, 0.5
    v, length = 2 * (8 * M / epsilon) ** 2, 4 * math.sqrt(n) / epsilon
    rate = n**0.75 * M * math.sqrt(T / epsilon)
    fixed = bounds.batched(n, T, M, v, length, length) / rate
    assert fixed == pytest.approx(6.0, abs=1e-4)
    longer = bounds.batched(n, T, M, v, length, 16 * length) / rate
    assert longer / fixed == pytest.approx(math.sqrt(17 / 2), abs=1e-3)


BATCHED = {"n": 3, "T": 10, "M": 1.0, "noise_variance": 2.0, "shortest": 2, "longest": 4}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("n", 0),
        ("T", 1.5),
        ("M", 0),
        ("M", None),
        ("noise_variance", -1),
        ("first_spent", math.nan),
        ("longest", math.inf),
        ("longest", 1),
    ],
)
def test_bad_arguments_are_refused(name: str, bad: object) -> None:
    """One of each kind; the error says which argument of which bound. None is allowed only as a default."""
    assert bounds.batched(**BATCHED, squared_gradient=None) == bounds.batched(**BATCHED)
    with pytest.raises(DiscreetError, match=f"'{name}' of batched"):
        bounds.batched(**(BATCHED | {name: bad}))
