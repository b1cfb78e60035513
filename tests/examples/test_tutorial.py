"""The tutorial: its page quotes the program, and says what the program found in real baskets."""

import pathlib
import re
import runpy
import sys
from typing import Any

import pytest

from code_blocks import ROOT, blocks
from real_data import data_file

PAGE, PROGRAM = ROOT / "docs" / "tutorial.md", ROOT / "examples" / "tutorial.py"


def played(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> dict[str, Any]:
    """What the program left."""
    monkeypatch.setattr(sys, "argv", ["tutorial", *map(str, arguments)])
    return runpy.run_module("examples.tutorial", run_name="__main__")


def code_of_the_page() -> str:
    """What a reader copies."""
    return "".join(block.text for block in blocks(PAGE) if block.language == "python")


def test_the_page_quotes_the_program() -> None:
    """Every line of Python is in it, in this order."""
    program = iter(PROGRAM.read_text().splitlines())
    quoted = [line for line in code_of_the_page().splitlines() if line]
    assert len(quoted) > 40
    assert [line for line in quoted if line not in program] == []  # each goes on where the last was found


def test_the_blocks_run_by_themselves(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, with the path of a file, and nothing else of the program."""
    file = tmp_path / "mine.csv"
    file.write_text("a,b\na, b,c\nd\ne,f\ng,h,i\na,b\n" * 40)
    exec(compile(code_of_the_page(), PAGE.name, "exec"), {"path": file})
    printed = capsys.readouterr().out
    assert printed.startswith("240 baskets, 9 products")
    assert printed.count(" euros\n") == 5
    assert "\nShow: " in printed


def test_your_own_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Money is that of the baskets, and the best page is the best of all; nobody wants the last product."""
    file = tmp_path / "mine.csv"
    file.write_text("a,b\na, b,c\nd\ne,f\ng,h,i\na,b\n" * 40)
    left = played(monkeypatch, "--baskets", file, "--out", tmp_path / "picture.svg")
    assert len(left["baskets"]) == 240
    assert left["products"][:2] == ["a", "b"]
    assert left["best"] >= {"a", "b"}
    assert sum(left["earnings"]["the best page, in hindsight"]) >= sum(left["earnings"]["all eight products"])
    assert left["earned"](frozenset("abc"), frozenset("abz")) == pytest.approx(2 * 0.2 + 0.5 - 3 * 0.05)
    assert "Show: " in capsys.readouterr().out


@pytest.mark.seconds
def test_the_page_says_what_real_baskets_gave(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the letter where there is no noise; the learner of whole baskets within an eighth of the best."""
    groceries = data_file("groceries.csv")
    played(monkeypatch, "--baskets", groceries, "--out", tmp_path / "picture.svg")
    printed = capsys.readouterr().out.splitlines()
    shown = (block for block in blocks(PAGE) if block.language == "text")
    quoted = [line for block in shown for line in block.text.splitlines()]
    exact = [line for line in quoted if not line.startswith(("learned", "Show"))]
    assert len(exact) == 6
    assert [line for line in exact if line not in printed] == []
    euros = {
        line[:30].strip(): int(line[30:].split()[0].replace(",", ""))
        for line in printed
        if line.endswith(" euros")
    }
    said = {line[:30].strip(): int(line[30:].split()[0]) for line in quoted if line.endswith(" euros")}
    whole, best = "learned from whole baskets", said["the best page, in hindsight"]
    assert euros.keys() == said.keys()
    assert euros[whole] == pytest.approx(said[whole], abs=0.12 * best)
    assert re.search(r"nine tenths", PAGE.read_text())
    assert 0.85 * best < said[whole] < 0.95 * best
