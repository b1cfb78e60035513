"""The made-up shop: its best set, the law of its customers, and that a private learner learns there."""

import numpy as np
import pytest
from scipy import stats
from stream_checks import (
    ALPHA,
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
    fits,
    gap_of_the_best,
)

from discreet import BanditLearner, minimize
from discreet.checks import FloatArray
from discreet.environments import Customers, checkout
from discreet.environments.customers import Shop
from discreet.simulation import regret


@pytest.mark.parametrize("n", [2, 5, 10, 40, 200])
def test_costs_and_total(n: int) -> None:
    """Compiled costs are the functions' values; the total is their sum; costs lie in [-1, 1]."""
    stream = checkout(n, shop=1).stream(40, seed=2)
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, (-1.0, 1.0))


@pytest.mark.parametrize("n", [4, 7, 12, 20])
def test_the_best_set_is_neither_empty_nor_full_and_clearly_better(n: int) -> None:
    """By a quarter of the half range in the default shop, a fifth in two others."""
    for shop in range(3):
        stream = checkout(n, shop).stream(2**14, seed=shop)
        assert 0 < len(minimize(stream.total).set) < n
        assert gap_of_the_best(stream) > (0.25 if shop == 0 else 0.2)


def test_the_best_set_is_what_is_popular() -> None:
    """With many customers, and in other streams from the same shop too."""
    shop = Shop(10, 0, 1.0, 0.9)
    flags = zip(shop.themes, shop.is_popular, strict=True)
    popular = {item for theme, flag in flags if flag for item in theme}
    for seed in range(3):
        assert minimize(checkout(10).stream(2**14, seed=seed).total).set == popular


def test_names_are_groceries_and_then_numbers() -> None:
    """A theme of a small shop has fewer items; no name comes twice."""
    assert checkout(4).items == ("bread", "butter", "pasta", "sauce")
    assert checkout(10).items[:4] == ("bread", "butter", "jam", "pasta")
    assert checkout(200).items[29:32] == ("candles", "item 31", "item 32")
    for n in range(2, 60):
        assert len(set(checkout(n).items)) == n


def test_the_shop_and_the_customers_have_seeds_of_their_own() -> None:
    """Another shop has other prices; another stream has other customers at the same prices."""
    one, again, other = checkout(10), checkout(10), checkout(10, shop=1)
    first, same, second = one.stream(50, seed=0), again.stream(50, seed=0), one.stream(50, seed=1)
    assert not np.array_equal(first.compiled.prices, other.stream(50, seed=0).compiled.prices)
    np.testing.assert_array_equal(first.compiled.values, same.compiled.values)
    np.testing.assert_array_equal(first.compiled.choice, same.compiled.choice)
    np.testing.assert_array_equal(first.compiled.prices, second.compiled.prices)
    assert first.compiled.values.size != second.compiled.values.size
    assert not np.array_equal(first.compiled.choice, second.compiled.choice)


def test_prices_add_up_and_wishes_are_worth_one() -> None:
    """Up to rounding downwards, by less than 2^-30 a number."""
    shop = Shop(12, 3, 0.8, 0.9)
    assert shop.prices.sum() == pytest.approx(0.8)
    people = shop.customers(200, seed=1)
    worth = np.bincount(people.owners, people.values)
    assert np.all((worth > 1 - 1e-8) & (worth <= 1))
    assert -1 <= people.cost_range[0] < people.cost_range[1] <= 0.8


def main_themes(shop: Shop, people: Customers) -> FloatArray:
    """How many customers have most of their wishes in each theme."""
    theme_of = {item: k for k, theme in enumerate(shop.themes) for item in theme}
    worth = np.zeros((len(people), len(shop.themes)))
    themes = np.array([theme_of[int(group[0])] for group in people.groups])
    np.add.at(worth, (people.owners, themes[people.kinds]), people.values)
    return np.bincount(worth.argmax(axis=1), minlength=len(shop.themes)).astype(float)


def test_wishes_follow_their_law() -> None:
    """Seed 5, 6000 customers of 10 items, alpha 1e-6.

    The theme is popular with probability 0.7 (exact binomial; 0.66 and 0.74 are rejected). Among the
    popular ones the probability goes with the size (chi-squared; equal probabilities are rejected).
    """
    shop = Shop(10, 1, 1.0, 0.7)
    counts = main_themes(shop, shop.customers(6000, seed=5))
    popular = np.array(shop.is_popular)
    sizes = np.array([len(theme) for theme in shop.themes], dtype=float)

    def accepted(probability: float) -> bool:
        return bool(stats.binomtest(int(counts[popular].sum()), 6000, probability).pvalue > ALPHA)

    assert accepted(0.7)
    assert not accepted(0.66)
    assert not accepted(0.74)
    assert len(set(sizes[popular])) == 2
    law = sizes[popular] / sizes[popular].sum()
    assert fits(counts[popular], law)
    assert not fits(counts[popular], np.full(law.size, 1 / law.size))


@pytest.mark.parametrize("n", [8, 10])
@pytest.mark.slow
def test_a_private_learner_learns(n: int) -> None:
    """Epsilon 1, one bit a cost, 2^18 rounds, seeds 0 and 1.

    Its mean cost is below that of the empty, the full and a random set by more than half of what is possible;
    the best of those, which learns nothing, is not.
    """
    for seed in range(2):
        stream = checkout(n).stream(2**18, seed=seed)
        gap = gap_of_the_best(stream)
        learner = BanditLearner(checkout(n).items, 1.0, (-1.0, 1.0), seed=seed)
        assert regret(learner, stream) / stream.rounds < 0.5 * gap
