"""The report of simulated learners: one page that is complete, safe and the same each time."""

from __future__ import annotations

import itertools
import pathlib
import re

import numpy as np
import pytest
from report_material import MARKS, OPEN, check_page, frame, references, sweep_rows, trace

from discreet import BanditLearner, DiscreetError, baselines, environments, simulate
from discreet.plots.canvas import NAMES
from discreet.privacy.guarantee import Guarantee
from discreet.report import charts, write_report
from discreet.simulation import Trace


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without figures, which take most of the time."""
    for name in ("trace_charts", "choice_charts"):
        monkeypatch.setattr(charts, name, lambda *_: [])


def report(folder: pathlib.Path, traces: list[Trace], **more: object) -> str:
    path = write_report(folder / "report.html", title="A report", traces=traces, **more)  # type: ignore[arg-type]
    return path.read_text(encoding="utf-8")


def test_a_real_simulation_gives_a_complete_page(tmp_path: pathlib.Path) -> None:
    """From simulate to a page that names the promises, the parameters and how to repeat it."""
    town = environments.modular(3)
    traces = [
        simulate(town, learner, rounds=2000, seeds=2)
        for learner in (BanditLearner(3, 1.0, (-1, 1)), baselines.RandomSet(3))
    ]
    page = check_page(report(tmp_path, traces, summary="One.\n\nTwo.", command="discreet simulate <modular>"))
    promises = [str(trace.guarantee) for trace in traces]
    for text in ("One.", "Two.", "gap=0.5", "2,000 rounds", "discreet simulate <modular>", *promises):
        assert text in page.text
    with pytest.raises(DiscreetError, match="'traces' of write_report must be at least one"):
        write_report(tmp_path / "none.html", title="", traces=[])


@pytest.mark.usefixtures("words_only")
def test_what_rounding_leaves_is_shown_as_nothing(tmp_path: pathlib.Path) -> None:
    """Regret is a difference of sums."""
    plain = trace()
    text = check_page(report(tmp_path, [trace(cost=plain.best - 3e-9 * MARKS)])).text
    assert "Regret 0 per round (95% interval 0 to 0)" in text
    assert text.count("0 to 0") == 2  # and in the table


def test_names_from_data_are_escaped(tmp_path: pathlib.Path) -> None:
    """Items and learners may be called anything; it is shown, and never markup."""
    named = trace(
        "<b>bold</b> & co",
        items=("<script>alert(1)</script>", "a & b", "$x^2$"),
        environment='<i onload="x">',
    )
    text = report(tmp_path, [named], summary="<u>", command="<script>")
    page = check_page(text)
    assert "<script" not in text
    for tag in ("b", "i", "u"):
        assert not any(name == tag for name, _ in page.tags)
    assert "<script>alert(1)</scrip" in page.figure_text
    assert "$x^2$" in page.figure_text
    assert "<b>bold</b> & co" in page.legend


def test_figures_have_legends_and_the_colours_of_the_page(tmp_path: pathlib.Path) -> None:
    """Learners, references, the best fixed set and bounds that are drawn; open ones say so.

    Light and dark come from the style sheet. The same traces give the same bytes: no date, no random id.
    """
    traces = [
        trace("A", bound=0.9 * np.sqrt(MARKS)),
        trace("B", guarantee=OPEN, bound=1.99 * MARKS),
        *references(),
    ]
    page = check_page(report(tmp_path, traces))
    assert page.raw == report(tmp_path, traces)
    styles = [node.get("style", "") for svg in page.svgs for node in svg.iter()]
    rules = [rule.split(":", 1) for style in styles for rule in style.split(";") if rule]
    painted = {value.strip() for key, value in rules if key.strip() in ("fill", "stroke")}
    assert painted
    colours = {colour.lower() for colour in NAMES.values()}
    assert painted <= colours | {"none", "#ffffff"}  # the paper, which is transparent
    for colour, key in itertools.product(colours, ("fill", "stroke")):
        rule = rf'\[style\*="{key}: {colour}" i\] {{ {key}: var\(--\w+\) !important; }}'
        assert re.search(rule, page.raw, re.IGNORECASE)
    expected = ["A", "B (not private)", "random set", "empty set"]
    regret = [*expected, "A: proved bound"]
    assert page.legend[: len(regret)] == regret
    assert page.legend[len(regret) : len(regret) + 5] == [*expected, "best fixed set"]
    assert ">1.99</td>" in page.raw  # above the chart


@pytest.mark.usefixtures("words_only")
def test_what_does_not_learn_is_what_learners_are_compared_with(tmp_path: pathlib.Path) -> None:
    """The summary says by how much they did better, or that they did worse, or that it is open."""
    bad = trace("Bad", cost=trace().best + 0.9 * MARKS)
    wild = trace("Wild", cost=trace().best + np.array([[0.1], [0.6], [1.3]]) * MARKS)
    page = check_page(report(tmp_path, [trace("Good"), bad, wild, *references()]))
    assert "Less regret than the random set (by 99.2%) and the empty set (by 99.2%)." in page.text
    assert "MORE regret than the random set and the empty set." in page.text
    assert "No clear difference from the random set and the empty set." in page.text


@pytest.mark.usefixtures("words_only")
def test_doubts_are_told(tmp_path: pathlib.Path) -> None:
    """One seed, a run that was stopped, and a best set that is not exact, or not known at all."""
    loose, unknown = trace().best - MARKS, np.full((3, MARKS.size), -np.inf)
    traces = [
        trace("A", seeds=(5,), interrupted=True),
        trace("B", best_lower_bound=loose),
        trace("C", best_lower_bound=unknown),
    ]
    words = check_page(report(tmp_path, traces)).text
    assert "With one seed there is no interval" in words
    assert "Stopped before all seeds were done: A." in words
    assert "known up to a gap, so regret may be larger than shown, for B and C." in words
    assert "gap" not in check_page(report(tmp_path, [trace()])).text


@pytest.mark.usefixtures("words_only")
def test_environments_get_a_section_each(tmp_path: pathlib.Path) -> None:
    """Also two of one name that were made differently."""
    traces = [trace(), trace(environment="city"), trace(parameters={"size": 9})]
    page = check_page(report(tmp_path, traces))
    for heading in ("What happened in town #1", "What happened in city", "What happened in town #2"):
        assert heading in page.text


def test_many_learners_are_split_and_many_items_are_cut(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No chart has more curves than can be told apart, or more items than can be read."""
    monkeypatch.setattr(charts, "MOST_CURVES", 2)
    several = [
        trace(f"{name} (epsilon={e})", guarantee=Guarantee(epsilon=e))
        for name, e in (("A", 0.5), ("B", 0.5), ("A", 1.0), ("B", 1.0))
    ]
    items = tuple(f"item number {i}" for i in range(50))
    page = check_page(report(tmp_path, [*several, trace(items=items)]))
    for title in ("rounds, part 1.", "rounds, part 2."):
        assert title in page.text
    assert {"A", "B"} <= set(page.legend)  # a curve each against epsilon
    assert "The 40 of 50 items that are taken most." in page.text
    assert page.figure_text.count("item number 0") == page.figure_text.count("item number 39") > 0
    assert "item number 40" not in page.figure_text


@pytest.mark.usefixtures("words_only")
def test_a_frame_adds_a_figure_against_epsilon(tmp_path: pathlib.Path) -> None:
    """Results of a sweep stand beside the traces."""
    swept = frame(*(sweep_rows(epsilon=e, level=1 / e) for e in (0.5, 1.0, 2.0)))
    page = check_page(report(tmp_path, [trace()], frame=swept))
    assert "Regret against epsilon" in page.text
    assert "Regret against epsilon" not in check_page(report(tmp_path, [trace()])).text


@pytest.mark.usefixtures("words_only")
def test_learners_would_be_private_and_the_simulation_is_not(tmp_path: pathlib.Path) -> None:
    """In the summary, in the promises and in the table; the runs are seeded and the sums exact."""
    page = check_page(report(tmp_path, [trace(), trace("B", guarantee=OPEN), *references()]))
    badges = re.findall(r'class="badge ([\w-]+)">([^<]*)<', page.raw)
    assert badges.count(("private", "would be private")) == 6
    assert badges.count(("not-private", "NOT PRIVATE")) == len(badges) - 6 == 3
    assert page.text.count(str(OPEN)) == page.text.count(str(trace().guarantee)) == 1
    assert re.search(r"runs are seeded.*this page has exact sums: neither promises anything", page.text)
    assert "treat them like the data" not in page.text


@pytest.mark.usefixtures("words_only")
def test_a_page_about_peoples_data_is_to_be_treated_like_them(tmp_path: pathlib.Path) -> None:
    """An environment that was read from a file: the page says once that it has exact sums of it."""
    data = {"parameters": {"path": "day.csv"}}
    page = check_page(report(tmp_path, [trace(**data), trace("B", **data)]))
    warning = "These numbers are exact sums of the data in day.csv, without noise: treat them like the data."
    assert page.text.count(warning) == 1


def test_rewards_are_called_rewards(tmp_path: pathlib.Path) -> None:
    """On a page that never speaks of costs."""
    earned = {"best": 0.8 * MARKS * np.ones((3, 1)), "cost": 0.5 * MARKS * np.ones((3, 1)), "maximize": True}
    earned |= {"best_lower_bound": earned["best"]}
    traces = [trace(**earned), trace("B (local, epsilon=2)", **earned)]
    page = check_page(report(tmp_path, traces))
    assert not re.search(r"\bcosts?\b", page.text + page.figure_text, re.IGNORECASE)
    assert "earned less than the best fixed set, chosen in hindsight, would have earned" in page.text
    assert "Regret 0.3 per round" in page.text
    assert "higher is better" in page.text
    assert {"regret per round (reward)", "mean reward per round so far"} <= set(page.figure_text.splitlines())
