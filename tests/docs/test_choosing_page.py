"""The simulated numbers of rounds in docs/choosing.md are near what the planner predicts."""

import pathlib
import re

import pytest

from discreet import plan
from discreet.planning import WITHIN

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "choosing.md").read_text()
NUMBER = r"((?:> )?[\d,]+)"
ROWS = re.findall(rf"^\| (\d+) \| (\w+) \| {NUMBER} \| {NUMBER} \| {NUMBER} \|$", PAGE, flags=re.MULTILINE)
KINDS = ({"local": True}, {}, {"feedback": "full information"})


def test_there_is_a_table() -> None:
    """Five numbers of items, two streams."""
    assert [(items, stream) for items, stream, *_ in ROWS] == [
        (items, stream) for items in ("4", "8", "12", "20", "50") for stream in ("modular", "shop")
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} items, {row[1]}")
def test_the_planner_predicts_the_table(row: tuple[str, ...]) -> None:
    """Within the factor that it states; where it took too long to simulate, it is predicted to be long."""
    for simulated, kind in zip(row[2:], KINDS, strict=True):
        made = plan(n=int(row[0]), epsilon=1.0, rounds=10**6, cost_range=(0, 1), effect=0.1, **kind)
        predicted, rounds = made.best.rounds_to_learn, int(re.sub(r"\D", "", simulated))
        assert predicted >= rounds / WITHIN
        assert predicted <= rounds * WITHIN or simulated.startswith(">")
