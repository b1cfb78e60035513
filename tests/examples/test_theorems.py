"""The script behind docs/theorems.md: slopes are right, series can be run, all learners have a rate."""

import functools
import pathlib
import sys

import numpy as np
import polars
import pytest
from examples.theorems import __main__ as theorems
from examples.theorems.__main__ import ends, slope, tick
from examples.theorems.series import RATES, Series, all_series

from discreet.simulation.sweep import Sweep

ROOT = pathlib.Path(__file__).parents[2]


def test_a_power_law_has_its_exponent() -> None:
    """Exactly, whatever the constant; without positive regret there is none."""
    values = np.array([2.0, 4.0, 8.0])
    exponent, error = slope(values, 3 * values[:, None] ** 0.6 * np.ones(4)) or (0.0, 1.0)
    assert exponent == pytest.approx(0.6)
    assert error == pytest.approx(0.0, abs=1e-12)
    assert slope(values, -values[:, None] * np.ones(4)) is None
    assert slope(values[:1], np.ones((1, 4))) is None


def test_every_learner_of_every_series_has_a_rate() -> None:
    """Three quantities for both kinds of feedback."""
    series = all_series(seeds=1)
    assert [one.quantity for one in series] == ["rounds", "n", "epsilon"] * 2
    assert {learner for one in series for learner in one.sweep.learners} == set(RATES)


def test_it_makes_all(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a small sweep: a cell for each number that can be fitted, and axes with names."""
    base = {
        "streams": ["cuts"],
        "learners": ["full-blocks", "hazan-kale"],
        "seeds": 2,
        "checkpoints": 1,
        "n": [3],
    }
    series = [
        Series("rounds", "full information", Sweep.from_mapping(base | {"rounds": [64, 256]})),
        Series("n", "full information", Sweep.from_mapping(base | {"rounds": [256], "n": [3, 5]})),
        Series(
            "epsilon", "full information", Sweep.from_mapping(base | {"rounds": [256], "epsilon": [0.5, 2]})
        ),
    ]
    monkeypatch.setattr(theorems, "compare", functools.partial(theorems.compare, workers=1))
    monkeypatch.setattr(theorems, "all_series", lambda seeds: [*series, *series])
    monkeypatch.setattr(sys, "argv", ["theorems", "--out", str(tmp_path / "theorems")])
    theorems.main()
    made = tmp_path / "theorems"
    values, regrets = ends(series[0], polars.read_parquet(made / "theorems.parquet"), "cuts", "full-blocks")
    assert values.tolist() == [64, 256]
    assert regrets.shape == (2, 2)
    text = (made / "theorems.md").read_text()
    assert "| full-blocks | " in text
    assert text.count("±") >= 4
    assert text in capsys.readouterr().out
    drawn = (made / "theorems.svg").read_text()
    assert "regret (cost)" in drawn
    assert "items n" in drawn
    assert (tick(0.5), tick(1024)) == ("0.5", "$2^{10}$")


def test_the_docs_show_what_the_script_fits() -> None:
    """All learners are in the page, which names the command that makes it."""
    page = (ROOT / "docs" / "theorems.md").read_text()
    assert "python -m examples.theorems" in page
    assert all(f"| {learner} | " in page for learner in RATES)
