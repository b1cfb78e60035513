"""What docs/choosing.md says of numbers of rounds is what the planner predicts."""

import pathlib
import re

import pytest

from discreet import plan

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "choosing.md").read_text()
ROWS = re.findall(r"^\| (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", PAGE, flags=re.MULTILINE)
KINDS = ({"local": True}, {}, {"feedback": "full information"})


def test_there_is_a_table() -> None:
    """With a few numbers of items."""
    assert len(ROWS) >= 4


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} items")
def test_the_table_quotes_the_planner(row: tuple[str, ...]) -> None:
    """In words, as `discreet plan` prints them."""
    for quoted, kind in zip(row[1:], KINDS, strict=True):
        words = str(plan(n=int(row[0]), epsilon=1.0, rounds=10**6, cost_range=(0, 1), effect=0.1, **kind))
        assert re.findall(r"learns an effect of 0.1 in about ([\d,]+) rounds", words)[0] == quoted
