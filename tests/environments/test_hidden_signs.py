"""Hidden signs: costs, total, the law, and that even a learner that sees everything has regret."""

import numpy as np
import pytest
from scipy import stats
from stream_checks import (
    ALPHA,
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
)

from discreet import DiscreetError, FullInformationLearner, minimize
from discreet.environments import HiddenSigns
from discreet.simulation import regret


@pytest.mark.parametrize("n", [1, 4, 30])
def test_costs_and_total(n: int) -> None:
    """Compiled costs are the functions' values; the total is their sum; costs lie in [-1, 1]."""
    stream = HiddenSigns(n, 40, seed=1)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, (-1.0, 1.0))


def test_the_gap_shrinks_with_the_rounds() -> None:
    """Like sqrt(n / rounds), and is never more than 1."""
    assert HiddenSigns(4, 100).gap == 0.5 * (4 / 100) ** 0.5
    assert HiddenSigns(4, 100, strength=2.0).gap == 2 * (4 / 100) ** 0.5
    assert HiddenSigns(9, 1).gap == 1.0


def test_signs_favour_the_hidden_set_by_the_gap() -> None:
    """Seed 3, 40000 rounds, n = 4, gap 0.05, alpha 1e-6, exact binomial test; 0 and 0.1 are rejected."""
    stream = HiddenSigns(4, 40_000, strength=5.0, seed=3)
    assert stream.gap == pytest.approx(0.05)
    hidden = np.isin(stream.compiled.items, list(stream.hidden))
    favoured = int((np.where(hidden, -1, 1) == stream.compiled.signs).sum())

    def accepted(gap: float) -> bool:
        return bool(stats.binomtest(favoured, 40_000, (1 + gap) / 2).pvalue > ALPHA)

    assert accepted(0.05)
    assert not accepted(0.0)
    assert not accepted(0.1)


def test_the_hidden_set_depends_on_the_seed() -> None:
    """Seeds 0 to 999, n = 10: each item is in half of them (exact binomial, alpha 1e-6; 0.4 is rejected)."""
    hidden = [HiddenSigns(10, 1, seed=seed).hidden for seed in range(1000)]
    count = sum(len(subset) for subset in hidden)
    assert stats.binomtest(count, 10_000, 0.5).pvalue > ALPHA
    assert stats.binomtest(count, 10_000, 0.4).pvalue < ALPHA
    assert minimize(HiddenSigns(10, 1000, strength=10.0, seed=7).total).set == hidden[7]


def majority_regret(stream: HiddenSigns) -> float:
    """What it costs more than the hidden set to take an item when its signs so far ask for it."""
    sums, paid = np.zeros(stream.n), 0.0
    for item, sign in zip(*(part.tolist() for part in stream.compiled), strict=True):
        paid += sign if sums[item] < 0 else -sign
        sums[item] += sign
    return paid - stream.total(stream.hidden)


def test_nobody_is_below_the_bound() -> None:
    """The best there is without privacy, 400 seeds, n = 4, T = 400: 0.23 sqrt(n T) lies below by six errors.

    A gap ten times as wide can be learnt, and the same learner is below by as much.
    """
    bound = 0.23 * (4 * 400) ** 0.5

    def distance(strength: float) -> float:
        rates = [majority_regret(HiddenSigns(4, 400, strength=strength, seed=seed)) for seed in range(400)]
        return float((np.mean(rates) - bound) / (np.std(rates) / 20))

    assert distance(0.5) > 6
    assert distance(5.0) < -6


def test_a_private_learner_has_regret_too() -> None:
    """Epsilon 1, n = 4, T = 4096, seeds 0 to 9; the mean is over the bound of all learners."""
    rates = []
    for seed in range(10):
        learner = FullInformationLearner(4, 1.0, (-1.0, 1.0), seed=seed)
        rates.append(regret(learner, HiddenSigns(4, 4096, seed=seed)))
    assert np.mean(rates) > 0.23 * (4 * 4096) ** 0.5


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: HiddenSigns(0, 10), "The 'n' of HiddenSigns must be a whole number of at least 1."),
        (lambda: HiddenSigns(3, 0), "The 'rounds' of HiddenSigns"),
        (lambda: HiddenSigns(3, 10, strength=0), "The 'strength' of HiddenSigns must be a positive number"),
        (lambda: HiddenSigns(3, 10, seed=-1), "The 'seed' of HiddenSigns"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
