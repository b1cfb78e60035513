"""Signed items: costs and totals, the laws of items and signs, the lower bound, and the adversary."""

import numpy as np
import pytest
from scipy import stats
from stream_checks import ALPHA, fits

from discreet import BanditLearner, FullInformationLearner, minimize
from discreet.checks import FloatArray
from discreet.environments import (
    Stream,
    adaptive_adversary,
    chain_costs,
    drifting,
    lower_bound,
    modular,
    prefix_cost,
)
from discreet.set_functions import Modular
from discreet.simulation import play


def alternating_law(n: int, gap: float) -> FloatArray:
    """The probabilities of (item, -1) and (item, +1), one row per item."""
    favoured, other = (1 + gap) / (2 * n), (1 - gap) / (2 * n)
    return np.array([[favoured, other] if i % 2 == 0 else [other, favoured] for i in range(n)])


def test_each_function_is_a_signed_item() -> None:
    """f(S) = s (2 [i in S] - 1), from the definition."""
    stream = modular(5, 0.3).stream(50, 2)
    rng = np.random.default_rng(0)
    for item, sign, f in zip(*stream.compiled[:2], stream, strict=True):
        mask = rng.random(5) < 0.5
        assert f(mask) == sign * (2 * mask[item] - 1)


def test_items_and_signs_follow_their_law() -> None:
    """Seed 3, 40000 rounds, n = 5, gap 0.3, alpha 1e-6 by the chi-squared test of all ten cells.

    Rejected: the gaps 0.2 and 0.4, signs against the optimum, and 20% more for item 0.
    """
    stream = modular(5, 0.3).stream(40000, 3)
    cells = 2 * stream.compiled.items + (stream.compiled.signs > 0)
    counts = np.bincount(cells, minlength=10).astype(float)
    assert fits(counts, alternating_law(5, 0.3).ravel())
    assert not fits(counts, alternating_law(5, 0.2).ravel())
    assert not fits(counts, alternating_law(5, 0.4).ravel())
    assert not fits(counts, alternating_law(5, 0.3)[:, ::-1].ravel())
    uneven = np.array([1.2, 0.95, 0.95, 0.95, 0.95])
    assert not fits(counts, (uneven[:, None] * alternating_law(5, 0.3)).ravel())


def test_rounds_are_independent() -> None:
    """Seed 4, 40000 pairs of neighbouring rounds, n = 2, gap 0.3, alpha 1e-6 over the sixteen pairs of cells.

    Rejected: a neighbour that repeats the round with probability 0.05.
    """
    stream = modular(2, 0.3).stream(80000, 4)
    cells = 2 * stream.compiled.items + (stream.compiled.signs > 0)
    counts = np.bincount(4 * cells[::2] + cells[1::2], minlength=16).astype(float)
    one = alternating_law(2, 0.3).ravel()
    assert fits(counts, np.outer(one, one).ravel())
    assert not fits(counts, (0.95 * np.outer(one, one) + 0.05 * np.diag(one)).ravel())


def test_the_optimum_takes_every_other_item() -> None:
    """With the full gap it costs -1 in every round; with many rounds a small gap shows too."""
    assert modular(6, 1.0).stream(100, 0).total([0, 2, 4]) == -100
    assert minimize(modular(6, 0.1).stream(100_000, 0).total).set == {0, 2, 4}


def moving_law(good: set[int], n: int, gap: float) -> FloatArray:
    """The probabilities of (item, -1) and (item, +1), one row per item."""
    favoured, other = (1 + gap) / (2 * n), (1 - gap) / (2 * n)
    return np.array([[favoured, other] if i in good else [other, favoured] for i in range(n)])


def test_signs_follow_their_law_at_any_time() -> None:
    """Seed 3, 80000 rounds, n = 4, gap 0.3, half a turn, alpha 1e-6 by the chi-squared test of eight cells.

    The good items are 0 and 1 in the first half, 1 and 2 in the second. Rejected: each half with the law of
    the other, and the gaps 0.2 and 0.4.
    """
    stream = drifting(4, 0.3, 0.5).stream(80_000, 3)
    cells = 2 * stream.compiled.items + (stream.compiled.signs > 0)
    for part, good, wrong in ((cells[:40_000], {0, 1}, {1, 2}), (cells[40_000:], {1, 2}, {0, 1})):
        counts = np.bincount(part, minlength=8).astype(float)
        assert fits(counts, moving_law(good, 4, 0.3).ravel())
        assert not fits(counts, moving_law(wrong, 4, 0.3).ravel())
        assert not fits(counts, moving_law(good, 4, 0.2).ravel())
        assert not fits(counts, moving_law(good, 4, 0.4).ravel())


def test_the_best_set_of_every_time_costs_least_then() -> None:
    """With the full gap it costs -1 in every round while the run stands there; whole turns come back."""
    stream = drifting(6, 1.0, 2).stream(1200, 4)
    functions = list(stream)
    for step in range(12):
        good = [(step + k) % 6 for k in range(3)]
        assert all(f(good) == -1 for f in functions[100 * step : 100 * (step + 1)])


def test_the_gap_shrinks_with_the_rounds() -> None:
    """Like sqrt(n / rounds), and is never more than 1."""
    assert lower_bound(4).stream(100).gap == 0.5 * (4 / 100) ** 0.5
    assert lower_bound(4, 2.0).stream(100).gap == 2 * (4 / 100) ** 0.5
    assert lower_bound(9).stream(1).gap == 1.0


def test_signs_favour_the_hidden_set_by_the_gap() -> None:
    """Seed 3, 40000 rounds, n = 4, gap 0.05, alpha 1e-6, exact binomial test; 0 and 0.1 are rejected."""
    stream = lower_bound(4, 5.0).stream(40_000, 3)
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
    hidden = [lower_bound(10).stream(1, seed).hidden for seed in range(1000)]
    count = sum(len(subset) for subset in hidden)
    assert stats.binomtest(count, 10_000, 0.5).pvalue > ALPHA
    assert stats.binomtest(count, 10_000, 0.4).pvalue < ALPHA
    assert minimize(lower_bound(10, 10.0).stream(1000, 7).total).set == hidden[7]


def majority_regret(stream: Stream) -> float:
    """What it costs more than the hidden set to take an item when its signs so far ask for it."""
    sums, paid = np.zeros(stream.n), 0.0
    for item, sign in zip(*(part.tolist() for part in stream.compiled[:2]), strict=True):
        paid += sign if sums[item] < 0 else -sign
        sums[item] += sign
    return paid - stream.total(stream.hidden)


def test_nobody_is_below_the_bound() -> None:
    """The best there is without privacy, 400 seeds, n = 4, T = 400: 0.23 sqrt(n T) lies below by six errors.

    A gap ten times as wide can be learned, and the same learner is below by as much.
    """
    bound = 0.23 * (4 * 400) ** 0.5

    def distance(strength: float) -> float:
        rates = [majority_regret(lower_bound(4, strength).stream(400, seed)) for seed in range(400)]
        return float((np.mean(rates) - bound) / (np.std(rates) / 20))

    assert distance(0.5) > 6
    assert distance(5.0) < -6


def signed_item(n: int, item: int, x: np.ndarray) -> Modular:  # type: ignore[type-arg]
    """The function of a round at the point x, from the definition."""
    sign = 1 if x[item] > 0.5 else -1
    weights = np.zeros(n)
    weights[item] = 2 * sign
    return Modular(weights, constant=-sign)


@pytest.mark.parametrize("n", [1, 4, 30])
def test_costs_are_against_the_point_and_count_once(n: int) -> None:
    """In every round, though each is played many times (a chain, then all prefixes)."""
    rng = np.random.default_rng(0)
    stream, costs, added = adaptive_adversary(n).stream(40, 1), np.empty(n + 1), 0.0
    mask = rng.random(n) < 0.5
    for t in range(40):
        x, order = rng.choice([0.0, 0.3, 0.5, 0.7, 1.0], size=n), rng.permutation(n)
        function = signed_item(n, stream.compiled.items[t], x)
        chain_costs(stream.compiled, t, x, order, costs)
        np.testing.assert_array_equal(costs, function.chain_values(order))
        single = [prefix_cost(stream.compiled, t, x, order, size) for size in range(n + 1)]
        np.testing.assert_array_equal(single, costs)
        added += function(mask)
        assert stream.total(mask) == added


def test_one_half_is_leaning_away() -> None:
    """At x_i = 1/2 exactly the sign is -1."""
    stream = adaptive_adversary(1).stream(2)
    assert prefix_cost(stream.compiled, 0, np.array([0.5]), np.array([0]), 1) == -1
    assert prefix_cost(stream.compiled, 1, np.nextafter([0.5], 1), np.array([0]), 1) == 1


def test_a_replayed_round_may_meet_another_point() -> None:
    """The last play counts, and the first round forgets an earlier and longer run."""
    stream, order, costs = adaptive_adversary(1).stream(3), np.array([0]), np.empty(2)
    for x in (1.0, 1.0, 0.0):
        for t in range(3):
            chain_costs(stream.compiled, t, np.array([x]), order, costs)
    assert stream.compiled.signs.tolist() == [-1, -1, -1]
    chain_costs(stream.compiled, 0, np.array([1.0]), order, costs)
    chain_costs(stream.compiled, 1, np.array([1.0]), order, costs)
    assert stream.compiled.signs.tolist() == [1, 1, 0]
    assert (stream.total([0]), stream.total([])) == (2, -2)


@pytest.mark.parametrize("bandit", [False, True])
def test_in_a_run_the_total_is_what_was_played(bandit: bool) -> None:
    """Against ask and tell with the same seed; bits run out several times, so rounds are replayed."""
    n = 3
    build = BanditLearner if bandit else FullInformationLearner
    stepwise, compiled = build(n, 1.0, (-1, 1), seed=5), build(n, 1.0, (-1, 1), seed=5)
    stream = adaptive_adversary(n).stream(1000, 2)
    paid, functions = [], []
    for item in stream.compiled.items:
        decision = stepwise.ask()  # the point moves here
        f = signed_item(n, item, stepwise.point)
        stepwise.tell(decision, f(decision.subset) if bandit else f)
        functions.append(f)
        paid.append(f(decision.subset))
    np.testing.assert_array_equal(play(compiled, stream), paid)
    assert set(stream.compiled.signs.tolist()) == {-1, 1}
    np.testing.assert_array_equal(stream.total.table().values, sum(f.table().values for f in functions))


def test_items_are_uniform() -> None:
    """Seed 3, 40000 rounds, n = 5, alpha 1e-6 by the chi-squared test; 20% more for item 0 is rejected."""
    counts = np.bincount(adaptive_adversary(5).stream(40000, 3).compiled.items, minlength=5).astype(float)
    assert fits(counts, np.full(5, 0.2))
    assert not fits(counts, 0.2 * np.array([1.2, 0.95, 0.95, 0.95, 0.95]))


def test_it_cannot_be_iterated() -> None:
    """Its functions are not known in advance."""
    with pytest.raises(TypeError, match="depend on what the learner does"):
        list(adaptive_adversary(2).stream(3))
