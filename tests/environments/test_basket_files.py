"""Files of baskets and invoices: what is read, and what is said of bad ones."""

import gzip
import pathlib
import re

import pytest

from discreet import DiscreetError
from discreet.environments import read_baskets, read_invoices

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
        (b"tea\nmilk,,jam\n", "line 2: a basket is a list of items separated by commas, none of them empty"),
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
