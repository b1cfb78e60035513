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


def test_one_value_is_not_drawn_against(tmp_path: pathlib.Path) -> None:
    """A quantity that does not vary gets no section."""
    page = report(tmp_path, frame(sweep_rows()))
    assert "Regret curves" in page.text
    assert "Regret against" not in page.text


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


@pytest.mark.usefixtures("words_only")
def test_one_seed_has_no_interval_and_rounding_no_regret(tmp_path: pathlib.Path) -> None:
    """Neither a column nor a sentence about intervals; a difference of sums that is none is 0."""
    rows = [sweep_rows(epsilon=epsilon, seeds=1, level=1e-9) for epsilon in (0.5, 1.0)]
    path = write_sweep_report(tmp_path / "s.html", frame(*rows), title="Sweep")
    assert "95%" not in path.read_text(encoding="utf-8")
    assert [final.regret for final in sweep_results(frame(*rows))[0]] == [0.0, 0.0]
    several = write_sweep_report(tmp_path / "s.html", frame(sweep_rows(seeds=2)), title="Sweep")
    assert "95% interval" in several.read_text(encoding="utf-8")


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
def test_one_stream_with_two_parameters_is_two_environments(tmp_path: pathlib.Path) -> None:
    """Each is called by its parameters; with one set of parameters the name is enough."""
    near, far = (
        frame(sweep_rows()).with_columns(parameters=pl.lit(f'{{"gap": {gap}, "noise": 1}}'))
        for gap in (0.1, 0.5)
    )
    page = report(tmp_path, pl.concat([near, far]))
    for name in ("town (gap=0.1, noise=1)", "town (gap=0.5, noise=1)"):
        assert f"Final numbers in {name};" in page.text
    assert [final.environment for final in sweep_results(near)[0]] == ["town"]


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


def test_panels_are_few(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many combinations the middle ones are drawn, and the page says how many are not."""
    monkeypatch.setattr(charts, "MOST_PANELS", 3)
    swept = frame(
        *(
            sweep_rows(environment=town, n=n, epsilon=e)
            for town in "ab"
            for n in (2, 4, 8)
            for e in (1.0, 2.0, 3.0)
        )
    )
    page = report(tmp_path, swept)
    labels = [attrs.get("aria-label") or "" for tag, attrs in page.tags if tag == "span"]
    drawn = [label for label in labels if "items, epsilon" in label]
    assert {"a, 4 items, epsilon 2", "b, 4 items, epsilon 2"} < set(drawn)
    assert len(drawn) == 3
    assert "15 more panels would not fit" in page.text


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
