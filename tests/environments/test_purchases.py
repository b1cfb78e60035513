"""What people bought: what is read of files and said of bad ones; items, pairs, rewards and the price."""

import gzip
import pathlib
import re

import pytest

from discreet import DiscreetError, minimize
from discreet.environments import (
    CustomerStream,
    baskets,
    check_stream,
    customers_from_baskets,
    invoices,
    read_baskets,
    read_invoices,
)
from real_data import data_file

HEADER = "InvoiceNo,StockCode,Quantity,InvoiceDate"


def test_baskets(tmp_path: pathlib.Path) -> None:
    """In the order of the file; spaces around items and repetitions do not count."""
    file = tmp_path / "day.csv"
    file.write_text('whole milk,cream cheese ,tea\ntea\njam,jam,"bread, sliced"')
    assert read_baskets(file) == [("whole milk", "cream cheese", "tea"), ("tea",), ("jam", "bread, sliced")]
    assert read_baskets(str(file)) == read_baskets(file)


def test_invoices(tmp_path: pathlib.Path) -> None:
    """In the order in which they begin, even if lines are mixed; returned goods are left out."""
    file = tmp_path / "lines.csv"
    rows = ["7,tea,1,monday", "9,jam,2,monday", "7,milk,1,monday", "C9,jam,-2,monday", "7,tea,3,monday"]
    file.write_text("\n".join([HEADER, *rows]))
    assert read_invoices(file) == [("tea", "milk"), ("jam",)]


def test_invoices_with_other_columns(tmp_path: pathlib.Path) -> None:
    """A column of quantities is not needed."""
    file = tmp_path / "lines.csv"
    file.write_text("\ufeffwhat,order\ntea,1\njam,2\nmilk,1\n", encoding="utf-8")
    assert read_invoices(file, invoice="order", item="what") == [("tea", "milk"), ("jam",)]


def test_gzipped_files_are_told_by_their_content(tmp_path: pathlib.Path) -> None:
    """Not by their name."""
    file = tmp_path / "day.csv"
    file.write_bytes(gzip.compress(b"tea,milk\njam\n"))
    assert read_baskets(file) == [("tea", "milk"), ("jam",)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"tea\nmilk,,jam\n", "line 2: a basket is a list of items separated by commas, none empty"),
        (b"tea\n\nmilk\n", "line 2: a basket is a list"),
        (b"tea\nmilk\n , \n", "line 3: a basket is a list"),
        (b"tea\nmilk\ncaf\xe9\n", "line 3: the text is not UTF-8"),
        (b'tea\n"milk\n', "line 2: unexpected end of data"),
        (b"", "holds no basket"),
    ],
)
def test_bad_baskets_are_named_by_line(tmp_path: pathlib.Path, content: bytes, message: str) -> None:
    """The file, the line and what is wrong, in one line of text."""
    file = tmp_path / "day.csv"
    file.write_bytes(content)
    with pytest.raises(DiscreetError, match=re.escape(str(file)) + ".*" + message) as caught:
        read_baskets(file)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: the first line must name a column 'InvoiceNo'"),
        (
            "InvoiceNo,Stock code, Price\n1,tea,2\n",
            r"a column 'StockCode'. Did you mean 'Stock code'\? It names: InvoiceNo, Stock code, Price.",
        ),
        ("order,what\n1,tea\n", "must name a column 'InvoiceNo'. It names: order, what."),
        (f"{HEADER}\n1,tea,1,monday\n2,jam,1\n", "line 3: there must be 4 entries, as in the first line"),
        (f"{HEADER}\n1,tea,1,monday\n\n", "line 3: there must be 4 entries"),
        (f"{HEADER}\n1,,1,monday\n", "line 2: InvoiceNo and StockCode must not be empty"),
        (f"{HEADER}\n,tea,1,monday\n", "line 2: InvoiceNo and StockCode must not be empty"),
        (f"{HEADER}\n1,tea,some,monday\n", "line 2: Quantity must be a number"),
        (f"{HEADER}\n", "holds no invoice"),
        (f"{HEADER}\n1,tea,-1,monday\n", "holds no invoice"),
    ],
)
def test_bad_invoices_are_named_by_line(tmp_path: pathlib.Path, content: str, message: str) -> None:
    """The same."""
    file = tmp_path / "lines.csv"
    file.write_text(content)
    with pytest.raises(DiscreetError, match=re.escape(str(file)) + ".*" + message) as caught:
        read_invoices(file)
    assert "\n" not in str(caught.value)


def test_unreadable_files(tmp_path: pathlib.Path) -> None:
    """Missing, a folder, cut off, broken, or no path at all."""
    cut_off, broken = tmp_path / "cut.gz", tmp_path / "broken.gz"
    packed = gzip.compress(b"tea,milk\n" * 1000)
    cut_off.write_bytes(packed[:-20])
    broken.write_bytes(packed[:10] + b"\xff" * 20)
    with pytest.raises(DiscreetError, match=r"Cannot read .*nowhere.csv: No such file or directory\."):
        read_baskets(tmp_path / "nowhere.csv")
    with pytest.raises(DiscreetError, match=r"Cannot read .*: Is a directory"):
        read_invoices(tmp_path)
    for file in (cut_off, broken):
        with pytest.raises(DiscreetError, match=f"Cannot read {re.escape(str(file))}: ") as caught:
            read_baskets(file)
        assert "\n" not in str(caught.value)
    with pytest.raises(DiscreetError, match="Cannot read None"):
        read_baskets(None)  # type: ignore[arg-type] # that is the point


def test_a_file_without_a_header_is_not_quoted(tmp_path: pathlib.Path) -> None:
    """Its first line is somebody's data."""
    file = tmp_path / "lines.csv"
    file.write_text("536365,secret remedy,6\n536366,tea,1\n")
    with pytest.raises(
        DiscreetError, match=r"must name a column 'InvoiceNo'\. It is not a line of names."
    ) as caught:
        read_invoices(file)
    assert not re.search("secret|536365|6", str(caught.value).removeprefix(str(file)))


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


def test_the_environment_keeps_the_order_of_time(tmp_path: pathlib.Path) -> None:
    """Whatever the seed; more rounds than baskets are refused."""
    file = tmp_path / "day.csv"
    file.write_text("".join(",".join(basket) + "\n" for basket in BOUGHT))
    environment = baskets(file, n=3)
    assert environment.items == ("milk", "tea", "bread")
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
    assert environment.most_rounds == 5


@pytest.mark.parametrize("n", [6, 10, 20])
def test_groceries(n: int) -> None:
    """The best set of 9,835 real baskets is neither empty nor full, by 7% of the half range or more."""
    environment = baskets(data_file("groceries.csv"), n)
    assert environment.items[:3] == ("whole milk", "other vegetables", "rolls/buns")
    assert environment.most_rounds == 9835
    assert_non_trivial(environment, 0.07)


def assert_non_trivial(environment, share: float) -> None:  # type: ignore[no-untyped-def]
    """The best set is better than all and nothing, which cost the same, by a share of the half range."""
    stream = environment.stream(environment.most_rounds)
    total, best = stream.total, minimize(stream.total)
    half = (environment.cost_range[1] - environment.cost_range[0]) / 2
    assert 0 < len(best.set) < environment.n
    assert total(range(environment.n)) == pytest.approx(0, abs=1e-3)
    assert -best.value / stream.rounds > share * half
    check_stream(environment.stream(50))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: customers_from_baskets(BOUGHT, 0), "The 'n' of customers_from_baskets"),
        (lambda: customers_from_baskets(BOUGHT, 6), "from 1 to 5. Got 6"),
        (lambda: customers_from_baskets(BOUGHT, 2, price=0), "The 'price' of customers_from_baskets"),
        (lambda: customers_from_baskets(BOUGHT, 2, bonus=-1), "The 'bonus' of customers_from_baskets"),
        (lambda: customers_from_baskets(BOUGHT, 2, pairs=-1), "The 'pairs' of customers_from_baskets"),
    ],
)
def test_bad_arguments_of_customers_are_named(build, message: str) -> None:  # type: ignore[no-untyped-def]
    """As everywhere."""
    with pytest.raises(DiscreetError, match=message):
        build()
