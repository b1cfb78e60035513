"""The report of simulated learners: one page that is complete, safe and the same each time."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import numpy as np
import pytest
from report_material import MARKS, OPEN, check_page, frame, references, sweep_rows, trace

from discreet import BanditLearner, DiscreetError, baselines, environments, simulate
from discreet.environments import Pool
from discreet.privacy.guarantee import Guarantee
from discreet.report import write_report
from discreet.set_functions import Bundles
from discreet.simulation import Trace


def report(folder: pathlib.Path, traces: list[Trace], **more: object) -> str:
    path = write_report(folder / "report.html", title="A report", traces=traces, **more)  # type: ignore[arg-type]
    return path.read_text(encoding="utf-8")


def test_a_real_simulation_gives_a_complete_page(tmp_path: pathlib.Path) -> None:
    """From simulate to a page with every section, that names its parameters and how to repeat it."""
    town = environments.modular(3)
    traces = [
        simulate(town, learner, rounds=2000, seeds=2)
        for learner in (BanditLearner(3, 1.0, (-1, 1)), baselines.BanditWithoutNoise(3, (-1, 1)))
    ]
    page = check_page(report(tmp_path, traces, summary="One.\n\nTwo.", command="discreet simulate <modular>"))
    for text in (
        "One.",
        "BanditLearner (local, epsilon=1)",
        "gap=0.5",
        "2,000 rounds",
        "NOT PRIVATE",
        "discreet simulate <modular>",
        "numba",
        str(traces[0].guarantee),
        str(traces[1].guarantee),
    ):
        assert text in page.text


def test_private_learners_are_named_first(tmp_path: pathlib.Path) -> None:
    """Whatever regret the others have."""
    text = report(tmp_path, [trace("Open", 0.1, guarantee=OPEN), trace("Closed", 0.9), trace("Shut", 0.5)])
    words = check_page(text).text
    assert words.index("Shut") < words.index("Closed") < words.index("Open")
    chosen = [f"Chosen in the end by {name}" for name in ("Shut", "Closed", "Open")]
    places = [words.index(title) for title in chosen]
    assert places == sorted(places)


def test_intervals_are_spoken_of_where_there_are_any(tmp_path: pathlib.Path) -> None:
    """With one seed there is no column and no sentence about them."""
    assert "95% interval" in report(tmp_path, [trace()])
    assert "95%" not in report(tmp_path, [trace(seeds=(0,)), trace("B (epsilon=2)", seeds=(0,))])


def test_bounds_that_say_nothing_are_not_named(tmp_path: pathlib.Path) -> None:
    """Costs span 2, so a regret of 2 a round is no news; less is."""
    words = check_page(report(tmp_path, [trace(bound=1.9 * MARKS)])).text
    assert "Proved bounds above the chart, a round in the end: BanditLearner (local, epsilon=1) 1.9." in words
    words = check_page(report(tmp_path, [trace(bound=2.0 * MARKS)])).text
    assert "Proved bounds" not in words


def test_what_rounding_leaves_is_shown_as_nothing(tmp_path: pathlib.Path) -> None:
    """Regret is a difference of sums."""
    plain = trace()
    text = check_page(report(tmp_path, [trace(cost=plain.best - 3e-9 * MARKS)])).text
    assert "Regret 0 a round (95% interval 0 to 0)" in text
    assert text.count("0 to 0") == 2  # and in the table


def test_the_same_traces_give_the_same_bytes(tmp_path: pathlib.Path) -> None:
    """No date, no random id: reports can be compared and kept under version control."""
    traces = [trace(), trace("B", guarantee=OPEN), *references()]
    assert report(tmp_path, traces) == report(tmp_path, traces)


def test_names_from_data_are_escaped(tmp_path: pathlib.Path) -> None:
    """Items and learners may be called anything; it is shown, and never markup."""
    named = trace(
        "<b>bold</b> & co", items=("<script>alert(1)</script>", "a & b", "$x^2$"), environment="<i>"
    )
    text = report(tmp_path, [named], summary="<u>", command="<script>")
    page = check_page(text)
    assert "<script" not in text
    for tag in ("b", "i", "u"):
        assert not any(name == tag for name, _ in page.tags)
    assert "<script>alert(1)</scrip" in page.figure_text
    assert "$x^2$" in page.figure_text
    assert "<b>bold</b> & co" in page.legend


def test_text_stays_text_and_axes_are_labelled(tmp_path: pathlib.Path) -> None:
    """Figures hold text rather than outlines, with a name for every axis."""
    traces = [
        trace(f"BanditLearner (local, epsilon={e:g})", 1 / e, guarantee=Guarantee(epsilon=e))
        for e in (1.0, 2.0)
    ]
    page = check_page(report(tmp_path, traces))
    for label in (
        "rounds",
        "regret a round (cost)",
        "mean cost a round so far",
        "epsilon (privacy loss of one person)",
        "0: left out, 1: taken",
        "item",
        "sugar",
    ):
        assert label in page.figure_text


def test_figures_take_their_colours_from_the_page(tmp_path: pathlib.Path) -> None:
    """Light and dark come from the style sheet: a figure paints nothing in a colour of its own."""
    page = check_page(report(tmp_path, [trace(), *references()]))
    styles = [node.get("style", "") for svg in page.svgs for node in svg.iter()]
    rules = [rule.split(":", 1) for style in styles for rule in style.split(";") if rule]
    painted = {value.strip() for key, value in rules if key.strip() in ("fill", "stroke")}
    assert painted
    assert all(value == "none" or value.startswith("var(--") for value in painted)


def test_every_curve_is_in_the_legend(tmp_path: pathlib.Path) -> None:
    """Learners, references, the best fixed set and bounds that are drawn; open ones say so."""
    traces = [
        trace("A", bound=0.9 * np.sqrt(MARKS)),
        trace("B", guarantee=OPEN, bound=1.99 * MARKS),
        *references(),
    ]
    page = check_page(report(tmp_path, traces))
    expected = ["A", "B (not private)", "random set", "empty set"]
    regret = [*expected, "A: proved bound"]
    assert page.legend[: len(regret)] == regret
    assert page.legend[len(regret) : len(regret) + 5] == [*expected, "best fixed set"]
    assert "Proved bounds above the chart, a round in the end: B (not private) 1.99." in page.text


def test_what_does_not_learn_is_what_learners_are_compared_with(tmp_path: pathlib.Path) -> None:
    """The summary says by how much they did better, or that they did worse, or that it is open."""
    bad = trace("Bad", cost=trace().best + 0.9 * MARKS)
    wild = trace("Wild", cost=trace().best + np.array([[0.1], [0.6], [1.3]]) * MARKS)
    page = check_page(report(tmp_path, [trace("Good"), bad, wild, *references()]))
    assert "Less regret than the random set (by 99.2%) and the empty set (by 99.2%)." in page.text
    assert "MORE regret than the random set and the empty set." in page.text
    assert "No clear difference from the random set and the empty set." in page.text


def test_open_learners_are_marked_and_every_guarantee_is_there(tmp_path: pathlib.Path) -> None:
    """Who is not private can be seen in the summary, in the guarantees and in the table."""
    page = check_page(report(tmp_path, [trace("A"), trace("B", guarantee=OPEN)]))
    badges = [
        attrs for tag, attrs in page.tags if tag == "span" and attrs.get("class") == "badge not-private"
    ]
    assert len(badges) == 3
    assert page.text.count("NOT PRIVATE: it adds no noise") == 1
    assert str(trace().guarantee) in page.text


def test_doubts_are_told(tmp_path: pathlib.Path) -> None:
    """One seed, a run that was stopped, and a best set that is not exact."""
    lower = trace().best - MARKS
    page = check_page(
        report(
            tmp_path,
            [
                trace("A", seeds=(5,), interrupted=True),
                trace("B", best_lower_bound=lower),
            ],
        )
    )
    assert "With one seed there is no interval" in page.text
    assert "Stopped before all seeds were done: A." in page.text
    assert "known up to a gap, so regret may be larger than shown, for B." in page.text
    assert "one seed" in page.text


def test_regret_that_a_logarithm_cannot_show(tmp_path: pathlib.Path) -> None:
    """A reference without regret is named in the caption; a learner without regret makes the scale linear."""
    nothing = trace("FixedSet", cost=trace().best, final_points=np.ones((3, 3)))
    page = check_page(report(tmp_path, [trace("A"), nothing]))
    assert "Without regret, which a logarithmic scale cannot show: full set." in page.text
    better = trace("A", cost=trace().best - MARKS)
    page = check_page(report(tmp_path, [better]))
    assert "below zero better than any fixed set" in page.text
    assert "Regret −1 a round" in page.text


def test_environments_get_a_section_each(tmp_path: pathlib.Path) -> None:
    """Also two of one name that were made differently."""
    traces = [trace(), trace(environment="city"), trace(parameters={"size": 9})]
    page = check_page(report(tmp_path, traces))
    for heading in ("What happened in town #1", "What happened in city", "What happened in town #2"):
        assert heading in page.text


def test_many_learners_are_split_and_many_items_are_cut(tmp_path: pathlib.Path) -> None:
    """No chart has more curves than can be told apart, or more items than can be read."""
    several = [
        trace(f"{name} (epsilon={e})", guarantee=Guarantee(epsilon=e))
        for name in ("A", "B")
        for e in (0.5, 1.0, 2.0, 4.0)
    ]
    page = check_page(report(tmp_path, [*several, trace("C", guarantee=OPEN)]))
    for title in ("rounds, A.", "rounds, B.", "rounds, others."):
        assert title in page.text
    items = tuple(f"item number {i}" for i in range(50))
    page = check_page(report(tmp_path, [trace(items=items)]))
    assert "The 40 of 50 items that are taken most." in page.text
    assert page.figure_text.count("item number 0") == page.figure_text.count("item number 39") > 0
    assert "item number 40" not in page.figure_text


def test_an_adversary_has_a_best_set_for_each_learner(tmp_path: pathlib.Path) -> None:
    """Where the costs depend on the learner there is no one line to compare with."""
    other = dataclasses.replace(trace("B"), best=2 * trace().best, best_lower_bound=2 * trace().best)
    page = check_page(report(tmp_path, [trace("A"), other]))
    assert {"A: best fixed set", "B: best fixed set"} <= set(page.legend)
    assert "best fixed set" not in page.legend


def test_a_frame_adds_a_figure_against_epsilon(tmp_path: pathlib.Path) -> None:
    """Results of a sweep stand beside the traces."""
    swept = frame(*(sweep_rows(epsilon=e, level=1 / e) for e in (0.5, 1.0, 2.0)))
    page = check_page(report(tmp_path, [trace()], frame=swept))
    assert "Regret against epsilon" in page.text
    assert "Regret against epsilon" not in check_page(report(tmp_path, [trace()])).text


def test_a_report_needs_a_trace(tmp_path: pathlib.Path) -> None:
    """There is nothing to report otherwise."""
    with pytest.raises(DiscreetError, match="'traces' of write_report must be at least one"):
        write_report(tmp_path / "report.html", title="", traces=[])
    assert not list(tmp_path.iterdir())


def test_learners_would_be_private_and_the_simulation_is_not(tmp_path: pathlib.Path) -> None:
    """In the summary, in the guarantees and in the table; the runs are seeded and the sums exact."""
    page = check_page(report(tmp_path, [trace(), *references()]))
    badges = re.findall(r'class="badge private">([^<]*)<', page.raw)
    assert len(badges) == 6
    assert set(badges) == {"would be private"}
    assert "would be private?" in page.text
    assert "What would be promised" in page.text
    assert re.search(r"runs are seeded.*this page has exact sums: neither promises anything", page.text)
    assert "treat them like the data" not in page.text


def test_a_page_about_peoples_data_is_to_be_treated_like_them(tmp_path: pathlib.Path) -> None:
    """Baskets from a file: the page says that it has exact sums of them."""
    file = tmp_path / "day.csv"
    file.write_text("tea,milk\ntea\nmilk,jam\n" * 20)
    town = environments.baskets(file, n=3)
    traces = [
        simulate(town, learner, seeds=1)
        for learner in (BanditLearner(town.items, 1.0, (-1, 1)), baselines.RandomSet(town.items))
    ]
    page = check_page(report(tmp_path, traces))
    warning = f"These numbers are exact sums of the data in {file}, without noise: treat them like the data."
    assert page.text.count(warning) == 1


def test_rewards_are_called_rewards(tmp_path: pathlib.Path) -> None:
    """From simulate to a page that never speaks of costs, with the sets that earn most."""
    items = ("tea", "milk", "sugar")
    reward = -Bundles(3, [[0], [0, 1]], values=[0.2, 0.5], costs=[0.1, 0.1, 0.2])
    learners = (
        BanditLearner(items, 4.0, (-1, 1), maximize=True),
        BanditLearner(items, 8.0, (-1, 1), maximize=True),
        baselines.RandomSet(items, maximize=True),
    )
    traces = [simulate(Pool([reward], 3000), learner, seeds=2) for learner in learners]
    page = check_page(report(tmp_path, traces))
    assert not re.search(r"\bcosts?\b", page.text + page.figure_text, re.IGNORECASE)
    for text in (
        "rewards from −0.3 to 0.5",
        "earned less than the best fixed set, chosen in hindsight, would have earned",
        "Mean reward a round so far. Mean over the seeds with its 95% band; higher is better.",
        "Final numbers in Pool; rewards, regret and bounds are per round.",
        "Less regret than the random set",
    ):
        assert text in page.text
    assert {"regret a round (reward)", "mean reward a round so far"} <= set(page.figure_text.splitlines())
    assert [trace.best_sets.tolist() for trace in traces] == [[[1.0, 1.0, 0.0]] * 2] * 3
    # Rewards and costs of one stream are no group: what is best in one is worst in the other.
    costs = simulate(Pool([reward], 3000), baselines.RandomSet(items), seeds=2)
    both = check_page(report(tmp_path, [*traces, costs])).text
    assert re.findall(r"What happened in Pool #\d", both) == [f"What happened in Pool #{k}" for k in (1, 2)]
    assert "paid more than the best fixed set" in both


def test_regret_that_is_not_proved_is_said_to_be_open(tmp_path: pathlib.Path) -> None:
    """An infinite bound is a gap."""
    loose = trace(best_lower_bound=np.full((3, MARKS.size), -np.inf))
    sentence = "The best fixed set is only known up to a gap"
    assert sentence in check_page(report(tmp_path, [loose])).text
    assert sentence not in check_page(report(tmp_path, [trace()])).text
