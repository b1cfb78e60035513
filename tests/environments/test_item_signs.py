"""Item signs: costs, total, and the law of items and signs."""

import numpy as np
import pytest
from stream_checks import assert_compiled_costs_are_values, assert_total_is_the_sum, fits

from discreet import DiscreetError, minimize
from discreet.checks import FloatArray
from discreet.environments import ItemSigns


def law(n: int, gap: float) -> FloatArray:
    """The probabilities of (item, -1) and (item, +1), one row per item."""
    favoured, other = (1 + gap) / (2 * n), (1 - gap) / (2 * n)
    return np.array([[favoured, other] if i % 2 == 0 else [other, favoured] for i in range(n)])


@pytest.mark.parametrize("n", [1, 4, 30])
def test_costs_and_total(n: int) -> None:
    """Compiled costs are the functions' values; the total is their sum."""
    stream = ItemSigns(n, 40, 0.3, seed=1)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)


def test_each_function_is_a_signed_item() -> None:
    """f(S) = s (2 [i in S] - 1), from the definition."""
    stream = ItemSigns(5, 50, 0.3, seed=2)
    rng = np.random.default_rng(0)
    for item, sign, f in zip(*stream.compiled, stream, strict=True):
        mask = rng.random(5) < 0.5
        assert f(mask) == sign * (2 * mask[item] - 1)


def test_items_and_signs_follow_their_law() -> None:
    """Seed 3, 40000 rounds, n = 5, gap 0.3, alpha 1e-6 by the chi-squared test of all ten cells.

    Rejected: the gaps 0.2 and 0.4, signs against the optimum, and 20% more for item 0.
    """
    stream = ItemSigns(5, 40000, 0.3, seed=3)
    cells = 2 * stream.compiled.items + (stream.compiled.signs > 0)
    counts = np.bincount(cells, minlength=10).astype(float)
    assert fits(counts, law(5, 0.3).ravel())
    assert not fits(counts, law(5, 0.2).ravel())
    assert not fits(counts, law(5, 0.4).ravel())
    assert not fits(counts, law(5, 0.3)[:, ::-1].ravel())
    uneven = np.array([1.2, 0.95, 0.95, 0.95, 0.95])
    assert not fits(counts, (uneven[:, None] * law(5, 0.3)).ravel())


def test_rounds_are_independent() -> None:
    """Seed 4, 40000 pairs of neighbouring rounds, n = 2, gap 0.3, alpha 1e-6 over the sixteen pairs of cells.

    Rejected: a neighbour that repeats the round with probability 0.05.
    """
    stream = ItemSigns(2, 80000, 0.3, seed=4)
    cells = 2 * stream.compiled.items + (stream.compiled.signs > 0)
    counts = np.bincount(4 * cells[::2] + cells[1::2], minlength=16).astype(float)
    one = law(2, 0.3).ravel()
    assert fits(counts, np.outer(one, one).ravel())
    assert not fits(counts, (0.95 * np.outer(one, one) + 0.05 * np.diag(one)).ravel())


def test_the_optimum_takes_every_other_item() -> None:
    """With the full gap it costs -1 in every round; with many rounds a small gap shows too."""
    assert ItemSigns(6, 100, 1.0, seed=0).total([0, 2, 4]) == -100
    assert minimize(ItemSigns(6, 100_000, 0.1, seed=0).total).set == {0, 2, 4}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ItemSigns(0, 10, 0.5), "The 'n' of ItemSigns must be a whole number of at least 1. Got 0"),
        (lambda: ItemSigns(3, 0, 0.5), "The 'rounds' of ItemSigns"),
        (lambda: ItemSigns(3, 10, 1.5), "The 'gap' of ItemSigns must be a number from 0 to 1. Got 1.5"),
        (lambda: ItemSigns(3, 10, "wide"), "The 'gap' of ItemSigns must be a number from 0 to 1. Got 'wide'"),
        (lambda: ItemSigns(3, 10, 0.5, -1), "The 'seed' of ItemSigns"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
