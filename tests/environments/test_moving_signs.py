"""Moving signs: costs, total, and the law of signs as the best set moves on."""

import numpy as np
import pytest
from stream_checks import (
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
    fits,
    gap_of_the_best,
)

from discreet import DiscreetError, minimize
from discreet.checks import FloatArray
from discreet.environments import MovingSigns


def law(good: set[int], n: int, gap: float) -> FloatArray:
    """The probabilities of (item, -1) and (item, +1), one row per item."""
    favoured, other = (1 + gap) / (2 * n), (1 - gap) / (2 * n)
    return np.array([[favoured, other] if i in good else [other, favoured] for i in range(n)])


@pytest.mark.parametrize("n", [2, 5, 30])
def test_costs_and_total(n: int) -> None:
    """Compiled costs are the functions' values; the total is their sum; costs lie in [-1, 1]."""
    stream = MovingSigns(n, 40, 0.3, seed=1)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, (-1.0, 1.0))


def test_signs_follow_their_law_at_any_time() -> None:
    """Seed 3, 80000 rounds, n = 4, gap 0.3, half a turn, alpha 1e-6 by the chi-squared test of eight cells.

    The good items are 0 and 1 in the first half, 1 and 2 in the second. Rejected: each half with the law of
    the other, and the gaps 0.2 and 0.4.
    """
    stream = MovingSigns(4, 80_000, 0.3, turns=0.5, seed=3)
    cells = 2 * stream.compiled.items + (stream.compiled.signs > 0)
    for part, good, wrong in ((cells[:40_000], {0, 1}, {1, 2}), (cells[40_000:], {1, 2}, {0, 1})):
        counts = np.bincount(part, minlength=8).astype(float)
        assert fits(counts, law(good, 4, 0.3).ravel())
        assert not fits(counts, law(wrong, 4, 0.3).ravel())
        assert not fits(counts, law(good, 4, 0.2).ravel())
        assert not fits(counts, law(good, 4, 0.4).ravel())


def test_the_best_set_of_every_time_costs_least_then() -> None:
    """With the full gap it costs -1 in every round while the run stands there; whole turns come back."""
    stream = MovingSigns(6, 1200, 1.0, turns=2, seed=4)
    functions = list(stream)
    for step in range(12):
        good = [(step + k) % 6 for k in range(3)]
        assert all(f(good) == -1 for f in functions[100 * step : 100 * (step + 1)])


def test_the_best_fixed_set_lies_in_the_middle_of_the_way() -> None:
    """It is clearly better than the empty, the full and a random set, and worse than moving along."""
    stream = MovingSigns(8, 2**16, 0.5, turns=0.5, seed=5)
    best = minimize(stream.total)
    assert {3, 4} <= best.set <= {1, 2, 3, 4, 5}
    assert 0.2 < gap_of_the_best(stream) < 0.35
    still = MovingSigns(8, 2**16, 0.5, turns=0, seed=5)
    assert minimize(still.total).set == {0, 1, 2, 3}
    assert gap_of_the_best(still) > 0.45


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: MovingSigns(1, 10, 0.5), "The 'n' of MovingSigns must be a whole number of at least 2."),
        (lambda: MovingSigns(3, 0, 0.5), "The 'rounds' of MovingSigns"),
        (lambda: MovingSigns(3, 10, 1.5), "The 'gap' of MovingSigns"),
        (lambda: MovingSigns(3, 10, 0.5, turns=-1), "The 'turns' of MovingSigns must be a nonnegative"),
        (lambda: MovingSigns(3, 10, 0.5, seed=-1), "The 'seed' of MovingSigns"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
