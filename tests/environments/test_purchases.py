"""Customers made from baskets: items, pairs, rewards and the price; and what real data give."""

import pathlib

import numpy as np
import pytest
from stream_checks import (
    assert_compiled_costs_are_values,
    assert_costs_stay_in_range,
    assert_total_is_the_sum,
)

from discreet import DiscreetError, minimize
from discreet.environments import CustomerStream, baskets, customers_from_baskets, invoices
from real_data import data_file

BOUGHT = [["tea", "milk", "jam"], ["tea", "milk"], ["bread"], ["tea", "jam", "nuts"], ["bread", "milk"]]


def test_items_are_the_most_frequent_ones() -> None:
    """In the order of the alphabet where they are equally frequent."""
    names, people = customers_from_baskets(BOUGHT, 4)
    assert names == ("milk", "tea", "bread", "jam")
    assert len(people) == 5


def test_rewards_are_the_part_of_wishes_that_is_fulfilled() -> None:
    """Tea and milk, and jam and tea, were bought together most; a pair counts 2, an item 1."""
    names, people = customers_from_baskets(BOUGHT, 4, price=0.25, bonus=2.0, pairs=2)
    at = {name: k for k, name in enumerate(names)}

    def cost(customer: int, *shown: str) -> float:
        return people.function(customer)([at[name] for name in shown])

    assert cost(0, "tea", "milk", "jam") == pytest.approx(0.75 - 1, abs=1e-8)
    assert cost(0, "tea", "milk") == pytest.approx(0.5 - 4 / 7, abs=1e-8)
    assert cost(0, "milk", "jam") == pytest.approx(0.5 - 2 / 7, abs=1e-8)
    assert cost(3, "tea", "jam", "bread") == pytest.approx(0.75 - 1, abs=1e-8)
    assert cost(2, "tea") == 0.25
    assert cost(4, "bread") == pytest.approx(0.25 - 1 / 2, abs=1e-8)


def test_the_price_makes_all_and_nothing_cost_the_same() -> None:
    """On average, up to rounding; customers who want none of the items pay only."""
    _, people = customers_from_baskets(BOUGHT, 2)
    assert people.prices[0] == pytest.approx(4 / 5 / 2, abs=1e-8)
    assert people.cost_range == (-1.0, pytest.approx(0.8, abs=1e-8))
    total = CustomerStream(people, range(5)).total
    assert total([]) == 0
    assert total([0, 1]) == pytest.approx(0, abs=1e-7)
    assert people.function(2)([0, 1]) == people.cost_range[1]


def test_costs_and_total() -> None:
    """Compiled costs are the functions' values; the total is their sum; no cost leaves the range."""
    _, people = customers_from_baskets(BOUGHT * 8, 3)
    stream = CustomerStream(people, np.arange(40))
    assert_compiled_costs_are_values(stream)
    assert_total_is_the_sum(stream)
    assert_costs_stay_in_range(stream, people.cost_range)


def test_the_environment_keeps_the_order_of_time(tmp_path: pathlib.Path) -> None:
    """Whatever the seed; more rounds than baskets are refused."""
    file = tmp_path / "day.csv"
    file.write_text("".join(",".join(basket) + "\n" for basket in BOUGHT))
    environment = baskets(file, n=3)
    assert environment.items == ("milk", "tea", "bread")
    assert environment.fixed
    assert environment.most_rounds == 5
    assert environment.parameters["price"] == pytest.approx(1 / 3, abs=1e-8)
    _, people = customers_from_baskets(BOUGHT, 3)
    for seed in range(2):
        stream = environment.stream(4, seed=seed)
        for k, f in enumerate(stream):
            assert f.to_dict() == people.function(k).to_dict()
    with pytest.raises(DiscreetError, match=r"The 'rounds' of baskets must be .* from 1 to 5. Got 6"):
        environment.stream(6)


def test_the_environment_of_invoices(tmp_path: pathlib.Path) -> None:
    """The same from a file of lines."""
    file = tmp_path / "lines.csv"
    lines = [f"{k},{item},1" for k, basket in enumerate(BOUGHT) for item in basket]
    file.write_text("\n".join(["InvoiceNo,StockCode,Quantity", *lines]))
    environment = invoices(file, n=3)
    assert environment.items == ("milk", "tea", "bread")
    assert (environment.most_rounds, environment.fixed) == (5, True)


@pytest.mark.parametrize("n", [6, 10, 20])
def test_groceries(n: int) -> None:
    """The best set of 9,835 real baskets is neither empty nor full, by 7% of the half range or more."""
    environment = baskets(data_file("groceries.csv"), n)
    assert environment.items[:3] == ("whole milk", "other vegetables", "rolls/buns")
    assert environment.most_rounds == 9835
    assert_non_trivial(environment, 0.07)


@pytest.mark.parametrize("n", [6, 10, 20])
def test_online_retail(n: int) -> None:
    """The best set of 20,728 real invoices, by 3% of the half range: few want any of the items."""
    environment = invoices(data_file("online_retail.csv.gz"), n)
    assert environment.items[0] == "85123A"
    assert environment.most_rounds == 20728
    assert_non_trivial(environment, 0.03)


def assert_non_trivial(environment, share: float) -> None:  # type: ignore[no-untyped-def]
    """The best set is better than all and nothing, which cost the same, by a share of the half range."""
    stream = environment.stream(environment.most_rounds)
    total, best = stream.total, minimize(stream.total)
    half = (environment.cost_range[1] - environment.cost_range[0]) / 2
    assert 0 < len(best.set) < environment.n
    assert total(range(environment.n)) == pytest.approx(0, abs=1e-3)
    assert -best.value / stream.rounds > share * half
    assert_costs_stay_in_range(environment.stream(500), environment.cost_range)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: customers_from_baskets(BOUGHT, 0), "The 'n' of customers_from_baskets"),
        (lambda: customers_from_baskets(BOUGHT, 6), "must be at most 5, the number of items. Got 6"),
        (lambda: customers_from_baskets(BOUGHT, 2, price=0), "The 'price' of customers_from_baskets"),
        (lambda: customers_from_baskets(BOUGHT, 2, bonus=-1), "The 'bonus' of customers_from_baskets"),
        (lambda: customers_from_baskets(BOUGHT, 2, pairs=-1), "The 'pairs' of customers_from_baskets"),
    ],
)
def test_bad_arguments_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
