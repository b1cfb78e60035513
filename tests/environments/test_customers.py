"""Customers and the made-up shop: functions from the definition, exact totals, and laws."""

import numpy as np
import pytest
from scipy import stats
from stream_checks import ALPHA, fits, gap_of_the_best

from discreet import DiscreetError, minimize
from discreet.checks import FloatArray
from discreet.environments import Customers, CustomerStream, check_stream, checkout, groups_of_four
from discreet.environments.groups import Shop
from discreet.environments.stream import part_costs
from discreet.set_functions import is_submodular


def random_customers(n: int, count: int, seed: int) -> Customers:
    """With groups of all sizes, and some who want nothing."""
    rng = np.random.default_rng(seed)
    groups = [rng.choice(n, rng.integers(1, n + 1), replace=False) for _ in range(8)]
    wishes = [{k: rng.random() for k in range(8) if rng.random() < 0.3} for _ in range(count - 1)]
    return Customers(rng.random(n), groups, [*wishes, {}])


def random_stream(n: int, rounds: int, seed: int) -> CustomerStream:
    people = random_customers(n, 10, seed)
    return CustomerStream(people, np.random.default_rng(seed + 1).integers(10, size=rounds))


@pytest.mark.parametrize("n", [1, 4, 30])
def test_costs_and_total(n: int) -> None:
    """Compiled costs are the functions' values; the total is their sum; no cost leaves the range."""
    stream = random_stream(n, 40, seed=n)
    check_stream(stream)


def test_each_function_is_prices_minus_fulfilled_wishes() -> None:
    """From the definition, up to rounding to 2^-30."""
    rng = np.random.default_rng(0)
    prices = rng.random(5)
    groups = [[0], [1, 2], [4, 3, 0]]
    wishes = [{0: 0.3, 1: 0.5}, {2: 0.7}, {}]
    people = Customers(prices, groups, wishes)
    for code in range(2**5):
        chosen = {i for i in range(5) if code >> i & 1}
        for k, wanted in enumerate(wishes):
            fulfilled = sum(value for g, value in wanted.items() if chosen.issuperset(groups[g]))
            expected = prices[sorted(chosen)].sum() - fulfilled
            assert people.function(k)(chosen) == pytest.approx(expected, abs=1e-8)
    assert is_submodular(people.function(0))


def test_totals_are_exact() -> None:
    """The sum of two million costs, one after the other, is the total to the last bit."""
    people = random_customers(6, 10, seed=3)
    choice = np.random.default_rng(4).integers(10, size=2_000_000)
    stream = CustomerStream(people, choice)
    chosen = [0, 2, 3, 5]
    costs = np.array([people.function(k)(chosen) for k in range(10)])
    assert stream.total(chosen) == np.cumsum(costs[choice])[-1]
    assert stream.total_until(777)(chosen) == costs[choice[:777]].sum()


def test_the_range_is_of_all_prices_and_the_greediest_customer() -> None:
    """Nobody can get more than everything they want, or pay more than all prices."""
    people = Customers([0.25, 0.5], [[0], [0, 1]], [{0: 0.5, 1: 0.75}, {0: 1.0}, {}])
    assert people.cost_range == (-1.25, 0.75)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Customers([], [], [{}]), "The 'number of items' of Customers"),
        (lambda: Customers([-0.1], [], [{}]), "The 'prices' of Customers must be nonnegative."),
        (lambda: Customers([0.1], [[1]], [{}]), "The 'groups' of Customers"),
        (lambda: Customers([0.1], [[]], [{}]), "must have items. Got an empty one"),
        (lambda: Customers([0.1], [[0]], []), "The 'wishes' of Customers"),
        (lambda: Customers([0.1], [[0]], [{1: 0.5}]), "The 'wishes' of Customers must hold"),
        (lambda: Customers([0.1], [[0]], [{0: -1.0}]), "The 'wishes' of Customers must be nonnegative"),
        (lambda: CustomerStream(Customers([0.1], [[0]], [{}]), [1]), "The 'choice' of CustomerStream"),
        (lambda: CustomerStream(Customers([0.1], [[0]], [{}]), []), "'number of rounds' of CustomerStream"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()


def test_the_best_set_is_what_is_popular() -> None:
    """With many customers, and in other streams from the same shop too."""
    shop = Shop(10, 0, 1.0, 0.9)
    flags = zip(shop.themes, shop.is_popular, strict=True)
    popular = {item for theme, flag in flags if flag for item in theme}
    for seed in range(3):
        assert minimize(checkout(10).stream(2**14, seed=seed).total).set == popular


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


@pytest.mark.parametrize("n", [4, 6, 8, 12, 20])
def test_only_groups_of_four_pay(n: int) -> None:
    """The best set is made of whole groups, without what is left over; up to three of four only cost."""
    for seed in range(3):
        stream = groups_of_four(n).stream(4000, seed)
        check_stream(groups_of_four(n).stream(30, seed))
        assert isinstance(stream, CustomerStream)
        best, groups = minimize(stream.total).set, stream.customers.groups
        assert [group.size for group in groups] == [4] * (n // 4)
        whole = [set(group.tolist()) for group in groups if best >= set(group.tolist())]
        assert best == set().union(*whole)
        assert len(whole) == max(1, n // 8)
        assert all(stream.total(sorted(group)[:3]) > 0 for group in whole)
        assert gap_of_the_best(stream) > (0.0 if n == 4 else 0.15) - 1e-9


def test_popular_groups_are_wanted_as_often_as_stated() -> None:
    """Seed 2, 4,000 customers, two of four groups: a share of 0.7, and not of 0.6 or 0.8 (alpha 1e-6)."""
    stream = groups_of_four(16, popular=0.7, customers=4000).stream(1, seed=2)
    kinds = stream.customers.kinds  # type: ignore[attr-defined]
    counts = np.bincount(kinds, minlength=4).astype(np.float64)
    assert fits(counts, np.array([0.35, 0.35, 0.15, 0.15]))
    assert not fits(counts, np.array([0.3, 0.3, 0.2, 0.2]))
    assert not fits(counts, np.array([0.4, 0.4, 0.1, 0.1]))


def test_what_items_brought_adds_up_to_the_cost() -> None:
    """Of any set, in any order: its prices, minus equal shares of fulfilled wishes; others bring nothing."""
    stream = random_stream(5, 60, seed=9)
    rng = np.random.default_rng(2)
    for t in range(stream.rounds):
        order, size = rng.permutation(5), int(rng.integers(0, 6))
        parts = np.zeros(5)
        part_costs(stream.compiled, t, np.zeros(5), order, size, parts)
        cost = stream.sum_of(slice(t, t + 1))(order[:size])
        assert parts.sum() == pytest.approx(cost, abs=1e-12)
        assert not parts[order[size:]].any()
    people = Customers([0.25, 0.25, 0.5], [[0, 1], [2]], [{0: 0.5, 1: 0.125}])
    parts = np.zeros(3)
    part_costs(CustomerStream(people, [0]).compiled, 0, np.zeros(3), np.array([1, 0, 2]), 2, parts)
    assert parts.tolist() == [0.0, 0.0, 0.0]  # what each cost is what its half of the wish was worth
    parts[:] = 0
    part_costs(CustomerStream(people, [0]).compiled, 0, np.zeros(3), np.array([2, 0, 1]), 2, parts)
    assert parts.tolist() == [0.25, 0.0, 0.375]
