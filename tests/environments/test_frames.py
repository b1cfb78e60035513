"""Costs and purchases from frames of pandas and polars, and from files."""

import pathlib
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from discreet import BanditLearner, DiscreetError, simulate
from discreet.baselines import FixedSet
from discreet.environments import as_environment, baskets, check_stream, costs, invoices, read_invoices
from discreet.frames import is_frame

ITEMS = ("tea", "milk")
NAMES = ["{}", "tea", "milk", "tea+milk"]
ROUNDS = 6
TABLE = np.random.default_rng(2).uniform(-1, 1, (ROUNDS, 4))
LIBRARIES = [pandas.DataFrame, polars.DataFrame]
LISTED = [[], ["tea"], ["milk"], ["milk", "tea"]]

WIDE = {name: TABLE[:, k] for k, name in enumerate(NAMES)}
LONG = {
    "round": np.repeat(np.arange(ROUNDS) * 10, 4)[::-1],
    "set": [NAMES[3 - k % 4] for k in range(4 * ROUNDS)],
    "cost": TABLE.ravel()[::-1],
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "columns",
    [
        WIDE,
        {name: WIDE[name] for name in ("milk", "{}", "tea+milk", "tea")},
        {str(code): TABLE[:, code] for code in range(4)},
        {f"column_{code}": TABLE[:, code] for code in range(4)},
        LONG,
        LONG | {"set": [LISTED[3 - k % 4] for k in range(4 * ROUNDS)]},
        LONG | {"set": [str(LISTED[3 - k % 4]) for k in range(4 * ROUNDS)]},
    ],
    ids=["wide", "in another order", "by codes", "without names", "long", "lists", "lists as text"],
)
def test_a_table_of_costs(library: Any, columns: dict[str, Any]) -> None:
    """One column per set, or one row per round and set, in any order."""
    stream = as_environment(library(columns), items=ITEMS).stream(ROUNDS)
    check_stream(stream)
    np.testing.assert_array_equal([f.table().values for f in stream], TABLE)
    trace = simulate(library(columns), FixedSet(ITEMS, [1]), seeds=1)
    assert trace.cost[0, -1] == pytest.approx(TABLE[:, 2].sum())


@pytest.mark.parametrize("library", LIBRARIES)
def test_costs_that_do_not_change_need_rounds(library: Any) -> None:
    """A row per set; rewards are called so."""
    frame = library({"set": NAMES, "reward": TABLE[0]})
    learner = BanditLearner(ITEMS, 1.0, (-1, 1), maximize=True)
    assert simulate(frame, learner, rounds=30, seeds=1).best[0, -1] == pytest.approx(30 * TABLE[0].max())
    with pytest.raises(DiscreetError, match="give 'rounds'"):
        simulate(frame, learner)


def test_lazy_frames() -> None:
    """They are collected; arrays and our own objects are no frames."""
    stream = as_environment(polars.DataFrame(WIDE).lazy(), items=ITEMS).stream(ROUNDS)
    np.testing.assert_array_equal(stream.compiled.values, TABLE)

    for other in (TABLE, {}, [], stream, FixedSet(2, []), "frame"):
        assert not is_frame(other)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"day": [1], "sold": [2]}, "'round', 'set' and 'cost', or one column .*invoices.*Got: day, sold."),
        ({"tea": [1], "milk": [2]}, "for 2 items must have 4 sets. Got 2"),
        ({"{}": [1], "tea": [1], "tea+milk": [1], "milk+tea": [2]}, "must have each set once"),
        ({"round": [1, 1], "set": ["tea", "milk"], "cost": [1, 2]}, "each of the 4 sets of 2 items once"),
        (LONG | {"set": ["tea"] * 24}, "each of the 4 sets of 2 items once in each round"),
        (LONG | {"set": ["jam"] * 24}, "must be of tea, milk. Got jam"),
        (LONG | {"set": [3] * 24}, "a list of them, or written with plus signs"),
        (LONG | {"cost": [np.nan] * 24}, "finite"),
    ],
)
def test_bad_tables_are_named(columns: dict[str, Any], message: str) -> None:
    """In one line, without a value."""
    for library in LIBRARIES:
        with pytest.raises(DiscreetError, match=message) as caught:
            as_environment(library(columns), items=ITEMS)
        assert "\n" not in str(caught.value)
    doubled = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(DiscreetError, match="must have different names"):
        as_environment(doubled, items=ITEMS)


def test_a_file_of_costs(tmp_path: pathlib.Path) -> None:
    """CSV or Parquet, by its name; items are those of the sets."""
    csv, parquet = tmp_path / "costs.csv", tmp_path / "costs.parquet"
    polars.DataFrame(LONG).write_csv(csv)
    polars.DataFrame(WIDE).write_parquet(parquet)
    for made in (costs(csv), costs(parquet), costs(polars.DataFrame(LONG))):
        assert (made.items, made.most_rounds) == (("milk", "tea"), ROUNDS)
        values = [f.table().values for f in made.stream(4)]
        np.testing.assert_allclose(values, TABLE[:4, [0, 2, 1, 3]])
    assert costs(csv).parameters["path"] == str(csv)
    by_name = as_environment("costs", rounds=2, parameters={"path": str(csv)})
    assert by_name.stream(2).total([1]) == pytest.approx(TABLE[:2, 1].sum())
    parquet.write_text("no frame")
    with pytest.raises(DiscreetError, match=r"Cannot read .*costs.parquet"):
        costs(parquet)


LINES = {
    "shop": ["a", "a", "b", "a", "b", "a"],
    "ticket": [1, 1, 1, 2, 1, 1],
    "sku": ["tea", "jam", "tea", "tea", "milk", "tea"],
    "pieces": [1, 2, 1, -1, 3, 4],
    "each": [2.0, 0.5, 2.0, 2.0, 1.0, 2.0],
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_purchases_with_any_columns(library: Any, tmp_path: pathlib.Path) -> None:
    """Several columns may tell baskets apart; prices make some items worth more than others."""
    frame, file = library(LINES), tmp_path / "lines.csv"
    polars.DataFrame(LINES).write_csv(file)
    named: dict[str, Any] = {"invoice": ["shop", "ticket"], "item": "sku", "quantity": "pieces"}
    for source in (frame, file):
        assert read_invoices(source, **named) == [("tea", "jam"), ("tea", "milk")]
        worth = read_invoices(source, **named, price="each")
        assert worth == [{"tea": 10.0, "jam": 1.0}, {"tea": 2.0, "milk": 3.0}]
    made = invoices(frame, n=2, bonus=0.0, price=0.1, **named, item_price="each")
    assert made.items == ("tea", "jam")
    # The parts of what was spent on the two items; the second customer wants one of them.
    assert [f([0]) for f in made.stream(2)] == pytest.approx([0.1 - 10 / 11, 0.1 - 1.0], abs=1e-8)
    assert made.parameters["path"] == "the DataFrame"
    check_stream(made.stream(2))


@pytest.mark.parametrize("library", LIBRARIES)
def test_bad_purchases_are_named(library: Any) -> None:
    """By their row."""
    for columns, message in (
        (
            LINES | {"ticket": [1, None, 1, 2, 1, 1]},
            "the DataFrame, line 2: shop, ticket and sku must not be",
        ),
        (LINES | {"each": ["1", "2", "much", "1", "1", "1"]}, "line 3: each must be a number"),
    ):
        with pytest.raises(DiscreetError, match=message):
            read_invoices(
                library(columns), invoice=["shop", "ticket"], item="sku", quantity="pieces", price="each"
            )
    with pytest.raises(DiscreetError, match=r"must name a column 'InvoiceNo'\. It names: shop, ticket"):
        invoices(library(LINES))


def test_lists_of_baskets() -> None:
    """As in a file; in the place of an environment they are refused, with the name of what takes them."""
    listed = [("tea", "milk"), ["tea"], {"jam", "tea"}]
    made = baskets(listed, n=2)
    assert (made.items, made.most_rounds) == (("tea", "jam"), 3)
    with pytest.raises(DiscreetError, match=r"environments.baskets"):
        simulate([("tea", "milk"), ("tea",)], FixedSet(ITEMS, []))
    with pytest.raises(DiscreetError, match="the list of baskets, line 2: a basket is a list"):
        baskets([("tea",), "milk"])
