"""The report of a sweep, from its frame alone."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import polars as pl
import pytest
import scipy.stats
from report_material import Page, check_page, frame, sweep_rows

from discreet import DiscreetError
from discreet.report import charts, write_sweep_report
from discreet.report.results import sweep_results
from discreet.simulation.builtin_learners import BUILTIN_LEARNERS
from discreet.simulation.trace import is_reference


def report(folder: pathlib.Path, swept: pl.DataFrame, **more: object) -> Page:
    path = write_sweep_report(folder / "sweep.html", swept, title="A sweep", **more)  # type: ignore[arg-type]
    return check_page(path.read_text(encoding="utf-8"))


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without figures, which take most of the time."""
    for name in ("curve_panels", "against_panels"):
        monkeypatch.setattr(charts, name, lambda *_: {"charts": []})


def full_frame() -> pl.DataFrame:
    sizes = [(n, t) for n in (4, 8) for t in (1000, 4000)]
    return frame(
        *(
            sweep_rows("Learner", n=n, epsilon=e, rounds=t, level=n / e, bound=30.0 * n / e)
            for n, t in sizes
            for e in (0.5, 1.0)
        ),
        *(
            sweep_rows(name, n=n, epsilon=None, rounds=t, level=3.0, private=name != "Open")
            for name in ("RandomSet", "Open")
            for n, t in sizes
        ),
    )


def test_a_page_with_all_that_was_varied(tmp_path: pathlib.Path) -> None:
    """Curves, regret against epsilon, items and rounds, tables, notes, the command."""
    more = {"command": "discreet sweep <file>", "notes": {"Machine": "two <cores>"}}
    page = report(tmp_path, full_frame(), **more)
    for title in ("curves", "against epsilon", "against the number of items", "against the number of rounds"):
        assert f"Regret {title}" in page.text
    for text in ("town, 8 items, epsilon 1.", "two <cores>", "discreet sweep <file>", "16 configurations"):
        assert text in page.text
    assert set(page.legend) == {"Learner", "RandomSet", "Open (not private)"}


def test_final_numbers_are_means_with_intervals_by_students_t() -> None:
    """Against numpy and scipy."""
    rows = sweep_rows(seeds=4, bound=50.0)
    (final,) = sweep_results(frame(rows))[0]
    ends = np.array([row["regret"] / row["round"] for row in rows if row["round"] == 1000])
    low, high = scipy.stats.t.interval(0.95, 3, ends.mean(), scipy.stats.sem(ends))
    assert [final.regret, *final.interval] == pytest.approx([ends.mean(), low, high])
    assert final.bound is not None
    assert final.bound[-1] == pytest.approx(50.0 / 1000**0.5)
    assert (final.seeds, final.best) == (4, -1.0)
    assert final.x.tolist() == [1, 10, 100, 1000]


def test_what_does_not_learn_counts_once_for_all_epsilons() -> None:
    """A random set that was played for each epsilon has as many seeds as for one, and no epsilon."""
    (final,), _ = sweep_results(frame(*(sweep_rows("RandomSet", epsilon=e) for e in (0.5, 1.0))))
    assert (final.epsilon, final.seeds) == (None, 3)
    (infinite,), _ = sweep_results(frame(sweep_rows("Open", epsilon=float("inf"), private=False)))
    assert infinite.epsilon is None


def test_a_learner_called_full_keeps_its_epsilons() -> None:
    """It learns from full information; only what does not learn at all is a reference, by whatever name."""
    results, _ = sweep_results(frame(*(sweep_rows("full", epsilon=e) for e in (0.5, 1.0))))
    assert [final.epsilon for final in results] == [0.5, 1.0]
    assert {name for name in BUILTIN_LEARNERS if is_reference(name)} == {
        name for name, learner in BUILTIN_LEARNERS.items() if learner.feedback == "any"
    }


@pytest.mark.usefixtures("words_only")
def test_failed_cells_are_listed(tmp_path: pathlib.Path) -> None:
    """With their errors, and without numbers; the rest is drawn as ever."""
    broken = {"environment": "town", "learner": "Broken", "n": 4, "epsilon": 1.0, "rounds": 1000, "seed": 7}
    failed = pl.DataFrame([broken | {"error": "ValueError: <no>"}])
    swept = pl.concat([frame(sweep_rows()), failed], how="diagonal_relaxed")
    page = report(tmp_path, swept)
    assert "1 configuration failed" in page.text
    assert "ValueError: <no>" in page.text
    assert "Broken" not in page.legend
    alone = pl.concat([frame(sweep_rows()).clear(), failed], how="diagonal_relaxed")
    assert "What failed" in report(tmp_path, alone).text


@pytest.mark.usefixtures("words_only")
def test_bad_frames_are_refused(tmp_path: pathlib.Path) -> None:
    """A missing column, no row at all, two rows for one place."""
    with pytest.raises(DiscreetError, match="must have the column 'would_be_private'"):
        report(tmp_path, frame(sweep_rows()).drop("would_be_private"))
    with pytest.raises(DiscreetError, match="at least one row"):
        report(tmp_path, frame(sweep_rows()).clear())
    with pytest.raises(DiscreetError, match="Got several of FixedSet in town"):
        report(tmp_path, frame(sweep_rows("FixedSet"), sweep_rows("FixedSet", level=2.0)))
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("words_only")
def test_learners_would_be_private_and_the_sweep_is_not(tmp_path: pathlib.Path) -> None:
    """A page of exact sums never calls anything private without saying when."""
    swept = frame(sweep_rows(), sweep_rows("Open", private=False))
    page = report(tmp_path, swept)
    assert "would be private?" in page.text
    assert re.findall(r'class="badge private">([^<]*)<', page.raw) == ["would be private"]
    assert re.search(r"runs are seeded.*this page has exact sums: neither promises anything", page.text)
    assert "treat them like the data" not in page.text


@pytest.mark.usefixtures("words_only")
def test_a_sweep_of_peoples_data_is_to_be_treated_like_them(tmp_path: pathlib.Path) -> None:
    """The files are named once each."""
    swept = [
        frame(sweep_rows(environment=name)).with_columns(parameters=pl.lit(parameters))
        for name, parameters in (
            ("baskets", '{"path": "day.csv"}'),
            ("invoices", '{"path": "shop/lines.csv"}'),
            ("town", '{"gap": 0.5}'),
        )
    ]
    page = report(tmp_path, pl.concat(swept))
    warning = "These numbers are exact sums of the data in day.csv, shop/lines.csv, without noise: treat them"
    assert page.text.count(warning) == 1
