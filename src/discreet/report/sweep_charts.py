"""The charts of a sweep: small panels of curves, and regret against whatever was varied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from discreet.report.charts import chart, grid, legend_of
from discreet.report.facets import Facet, Quantity, chosen, facets_of, longest
from discreet.report.html import Html, element
from discreet.report.page import section
from discreet.report.sweep_frame import Final, SweepFrame
from discreet.simulation.canvas import PANEL, new_axes
from discreet.simulation.curves import Curve
from discreet.simulation.figures import draw_against, draw_regret
from discreet.simulation.labels import is_reference

_NAMES = {"epsilon": "epsilon (privacy loss of one person)", "n": "items", "rounds": "rounds in all"}
_TITLES = {
    "epsilon": "Regret against epsilon",
    "n": "Regret against the number of items",
    "rounds": "Regret against the number of rounds",
}


def curves_section(sweep: SweepFrame) -> list[Html]:
    """Regret curves, a panel for each environment, number of items and epsilon; the longest runs."""
    facets, left = chosen(facets_of(sweep.finals))
    panels = [
        (facet, [sweep.curve(final) for final in longest(facet.members(sweep.finals))]) for facet in facets
    ]
    bands = " with their 95% bands" if any(final.seeds > 1 for final in sweep.finals) else ""
    intro = (
        f"Means over the seeds{bands}, of the runs with most rounds; lower is better. Dashed: "
        "proved bounds, where they lie within the chart; the tables have all."
    )
    return _panel_section("curves", "Regret curves", intro, panels, draw_regret, left)


def against_section(name: str, sweep: SweepFrame, quantity: Quantity) -> list[Html]:
    """Final regret against a quantity that takes several values; a panel for each of the rest."""
    found = []
    for facet in facets_of(sweep.finals, without=quantity):
        members = facet.members(sweep.finals)
        if quantity != "rounds":
            most = max(final.rounds for final in members)
            members = [final for final in members if final.rounds == most]
        if len({getattr(final, quantity) for final in members} - {None}) > 1:
            found.append((facet, _curves_against(sweep, members, quantity)))
    shown, left = chosen([facet for facet, _ in found])

    def draw(axes: Axes, curves: Sequence[Curve]) -> list[str]:
        return draw_against(axes, curves, _NAMES[quantity])

    runs = "" if quantity == "rounds" else ", of the runs with most rounds"
    intervals = ", with 95% intervals" if any(final.seeds > 1 for final in sweep.finals) else ""
    intro = f"Regret a round in the end{runs}{intervals}; lower is better."
    panels = [(facet, curves) for facet, curves in found if facet in shown]
    return _panel_section(name, _TITLES[quantity], intro, panels, draw, left)


def _panel_section(
    name: str,
    title: str,
    intro: str,
    panels: Sequence[tuple[Facet, Sequence[Curve]]],
    draw: Callable[[Axes, Sequence[Curve]], list[str]],
    left: int,
) -> list[Html]:
    """Panels with one legend for all of them."""
    charts, drawn = [], []
    for k, (facet, curves) in enumerate(panels):
        axes = new_axes(PANEL)
        notes = draw(axes, curves)
        drawn.append(axes)
        charts.append(chart(f"{name}{k}", axes, facet.title, notes, legend=False))
    if not charts:
        return []
    if left:
        intro += f" {left} more panels would not fit; their numbers are in the tables."
    return [section(title, element("p", intro), legend_of(name, drawn), grid(charts, small=True))]


def _curves_against(sweep: SweepFrame, finals: Sequence[Final], quantity: Quantity) -> list[Curve]:
    by_learner: dict[str, list[Final]] = {}
    for final in finals:
        by_learner.setdefault(final.learner, []).append(final)
    curves = []
    for learner, members in by_learner.items():

        def place(final: Final) -> float:
            value = getattr(final, quantity)
            return np.nan if value is None else float(value)

        ordered = sorted(members, key=place)
        x, mean, low, high = np.array([(place(f), f.regret, f.low, f.high) for f in ordered]).T
        curves.append(
            Curve(
                sweep.legend(learner),
                x,
                mean,
                low,
                high,
                sweep.looks[learner],
                reference=is_reference(learner),
            )
        )
    return curves
