"""Figures and names of traces."""

from __future__ import annotations

from fractions import Fraction

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from discreet import BanditLearner, baselines, environments, simulate
from discreet.plots.canvas import new_axes
from discreet.plots.charts import draw_regret, looks, regret_curve
from discreet.simulation import Trace
from discreet.simulation.trace import labels

pytestmark = pytest.mark.seconds

TOWN = environments.modular(3)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return simulate(TOWN, BanditLearner(3, Fraction(1, 2), (-1, 1)), rounds=2000, seeds=3)


def test_a_plot_by_itself_is_a_picture_with_names(trace: Trace) -> None:
    """Both axes are named and logarithmic, the title says what it is, a notebook can show it."""
    before = dict(matplotlib.rcParams)
    axes = trace.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rounds", "regret per round (cost)")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_title("left").startswith(
        "BanditLearner (central, model, epsilon=0.5) in modular\nmean of 3 seeds"
    )
    assert axes._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert dict(matplotlib.rcParams) == before


def test_plots_can_share_axes_and_take_styles(trace: Trace) -> None:
    """Axes that are given are added to; style goes to the line."""
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    assert trace.plot(axes, color="red", label="mine") is axes
    trace.plot(axes)
    assert [line.get_label() for line in axes.lines] == ["mine", trace.learner]
    assert axes.lines[0].get_color() == "red"
    assert trace.plot(color="green", label="own").lines[0].get_color() == "green"


def test_a_bound_is_drawn_where_it_fits(trace: Trace) -> None:
    """Dashed, in the legend; not one that is far above."""
    look = looks(["a"])["a"]
    for scale, drawn in ((1.5, True), (1e6, False)):
        curve = regret_curve(trace, "a", look)
        curve = type(curve)("a", curve.x, curve.mean, curve.low, curve.high, look, scale * curve.mean)
        axes = new_axes()
        draw_regret(axes, [curve])
        assert [line.get_label() for line in axes.lines] == ["a"] + ["a: proved bound"] * drawn


def test_looks_can_be_told_apart() -> None:
    """A dozen learners and four references: no two look the same, even without colours."""
    names = [f"learner {k}" for k in range(12)]
    others = [f"reference {k}" for k in range(4)]
    seen = looks([*names, *others], others)
    assert len({(str(look["linestyle"]), look["marker"]) for look in seen.values()}) == 16


def test_fixed_sets_are_called_by_what_they_are() -> None:
    """The empty and the full set have one class, but names of their own; namesakes are numbered."""
    learners = [
        baselines.FixedSet(3),
        baselines.FixedSet(3, [0, 1, 2]),
        baselines.FixedSet(3, [1]),
        baselines.RandomSet(3),
        BanditLearner(3, 1.0, (-1, 1)),
        BanditLearner(3, 1.0, (-1, 1)),
    ]
    traces = [simulate(TOWN, learner, rounds=5, seeds=1) for learner in learners]
    assert labels(traces) == [
        "empty set",
        "full set",
        "fixed set {1}",
        "random set",
        "BanditLearner (central, model, epsilon=1) #1",
        "BanditLearner (central, model, epsilon=1) #2",
    ]
