"""What results show in a notebook, and frames of them: escaped, nothing private, polars or pandas."""

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import pandas
import polars
import pytest

import discreet
from discreet.errors import MissingExtra
from discreet.frames import make_frame
from discreet.randomizers import OneBit
from discreet.simulation.sweep import Sweep, compare, read

RESULTS: dict[str, Callable[[], Any]] = {
    "trace": lambda: discreet.simulate("modular", discreet.baselines.RandomSet(3), rounds=10, seeds=2),
    "audit": lambda: discreet.audit(OneBit(epsilon=1.0), runs=500, power=False, seed=1, name="<i>"),
    "plan": lambda: discreet.plan(n=4, epsilon=1.0, rounds=10_000),
    "evaluation": lambda: discreet.evaluate([(["<i>"], 0.5, 0.2), ([], 0.5, 0.9)] * 100, ["<i>"]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_tables_in_notebooks_and_frames(name: str) -> None:
    """With as many rows in polars as in pandas."""
    result = RESULTS[name]()
    shown = result._repr_html_()
    assert shown.startswith("<div><strong>")
    assert shown.endswith("</div>")
    assert "<i>" not in shown
    first, second = result.to_frame("polars"), result.to_frame("pandas")
    assert isinstance(first, polars.DataFrame)
    assert isinstance(second, pandas.DataFrame)
    assert isinstance(result.to_frame(), polars.DataFrame)
    assert first.columns == list(second.columns)
    assert len(first) == len(second) > 0


@pytest.mark.parametrize("mode", ["central", "local"])
def test_a_learner_shows_nothing_that_it_was_told(mode: Any) -> None:
    """Its items, how often it was asked, and its promise: the same whatever people cost."""
    shown = set()
    for cost in (0.0, 0.123456, 1.0):
        learner = discreet.BanditLearner(["<b>", *map(str, range(30))], 1.0, (0, 1), mode=mode)
        for _ in range(200):
            learner.tell(learner.ask(), cost)
        shown.add(learner._repr_html_())
    (text,) = shown
    for part in ("&lt;b&gt;", "and 11 more", ">200<", "epsilon = 1", mode):
        assert part in text
    assert "<b>" not in text


def test_seeded_learners_say_that_they_are_not_private() -> None:
    """As everywhere."""
    assert "NOT PRIVATE" in discreet.BanditLearner(2, 1.0, (0, 1), seed=1)._repr_html_()


def test_sweeps(tmp_path: pathlib.Path) -> None:
    """Their file is read as either."""
    sweep = Sweep.from_mapping({"streams": ["modular"], "learners": ["random"], "n": 3, "rounds": 64})
    frame = compare(sweep, tmp_path / "a.parquet", workers=1)
    other = read(tmp_path / "a.parquet", "pandas")
    assert isinstance(other, pandas.DataFrame)
    assert other["regret"].tolist() == frame["regret"].to_list()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra, or pandas; without polars frames are of pandas."""
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(make_frame({"a": [1]}), pandas.DataFrame)
    with pytest.raises(MissingExtra, match=r"discreet\[report\]"):
        make_frame({"a": [1]}, "polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"discreet\[report\]"):
        make_frame({"a": [1]})
    with pytest.raises(MissingExtra, match="pip install pandas"):
        make_frame({"a": [1]}, "pandas")
    with pytest.raises(discreet.DiscreetError, match="'library' of to_frame must be 'polars' or 'pandas'"):
        make_frame({"a": [1]}, "arrow")  # type: ignore[arg-type]
