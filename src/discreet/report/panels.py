"""The panels of a sweep: small charts, each of which holds something fixed while something else varies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from discreet.formatting import counted, number
from discreet.plots.canvas import PANEL, new_axes
from discreet.plots.charts import draw_against, draw_regret
from discreet.plots.curves import Curve, Look, looks
from discreet.report.charts import Chart, chart, legend_of
from discreet.report.results import Result, family, grouped

#: Panels in one section.
MOST_PANELS = 12

#: What is varied: how it is called in headings and at axes.
QUANTITIES = {
    "epsilon": ("epsilon", "epsilon (privacy loss of one person)"),
    "n": ("the number of items", "items"),
    "rounds": ("the number of rounds", "rounds in total"),
}


class Panels(NamedTuple):
    """Small charts with one legend for all of them."""

    title: str
    intro: str
    legend: list[tuple[Markup, str]]
    charts: list[Chart]


class Panel(NamedTuple):
    """The results in an environment with a number of items and an epsilon; 0 leaves one of these free."""

    environment: str
    n: int
    epsilon: float
    results: list[Result]

    @property
    def title(self) -> str:
        items = f", {counted(self.n, 'item')}" if self.n else ""
        return self.environment + items + (f", epsilon {number(self.epsilon)}" if self.epsilon else "")


def panels_of(results: Sequence[Result], free: str) -> list[Panel]:
    """All panels in which a quantity is free, in order; what has no epsilon belongs to each."""

    def place(result: Result) -> tuple[str, int, float]:
        epsilon = 0.0 if free == "epsilon" else result.epsilon or 0.0
        return result.environment, 0 if free == "n" else result.n, epsilon

    places = grouped(results, place)
    found = []
    for (environment, n, epsilon), members in sorted(places.items(), key=lambda entry: entry[0]):
        without = places.get((environment, n, 0.0), []) if epsilon else []
        if epsilon or not any(place[:2] == (environment, n) and place[2] for place in places):
            found.append(Panel(environment, n, epsilon, [*members, *without]))
    return found


def from_the_middle(panels: Sequence[Panel]) -> list[Panel]:
    """The panels of each environment with a middle number of items and a middle epsilon first."""
    ranked: list[tuple[int, Panel]] = []
    for group in grouped(panels, lambda panel: panel.environment).values():
        sizes = _from_middle(panel.n for panel in group)
        losses = _from_middle(panel.epsilon for panel in group)
        ranked += enumerate(sorted(group, key=lambda panel: sizes[panel.n] + losses[panel.epsilon]))
    return [panel for _, panel in sorted(ranked, key=lambda pair: pair[0])]


def _from_middle(values: Iterable[float]) -> dict[float, int]:
    """How far each value is from the middle one."""
    ordered = sorted(set(values))
    return {value: abs(k - len(ordered) // 2) for k, value in enumerate(ordered)}


def longest(results: Sequence[Result]) -> list[Result]:
    """Of each learner the run with most rounds."""
    return list({result.learner: result for result in sorted(results, key=lambda r: r.rounds)}.values())


def curve_panels(results: Sequence[Result]) -> Panels:
    """Regret curves of a sweep, a panel for each environment, number of items and epsilon."""
    bands = " with their 95% bands" if any(result.seeds > 1 for result in results) else ""
    intro = (
        f"Means over the seeds{bands}, of the runs with most rounds; lower is better. Dashed: "
        "proved bounds, where they lie within the chart; the tables have all."
    )
    found = [(panel, longest(panel.results)) for panel in panels_of(results, "rounds")]
    return _panels("curves", "Regret curves", intro, found, draw_regret)


def against_panels(results: Sequence[Result], quantity: str, name: str = "sweep") -> Panels:
    """Final regret against a quantity that takes several values; a panel for each of the rest.

    Learners with different epsilons are one curve; what has no epsilon is a level.
    """
    families = grouped(results, lambda result: family(result.label))
    seen = looks(families, [label for label, members in families.items() if members[0].reference])
    found = []
    for panel in panels_of(results, quantity):
        most = max(result.rounds for result in panel.results)
        members = [result for result in panel.results if quantity == "rounds" or result.rounds == most]
        if len({getattr(result, quantity) for result in members} - {None}) > 1:
            found.append((panel, _curves_against(members, quantity, seen)))
    runs = "" if quantity == "rounds" else ", of the runs with most rounds"
    intervals = ", with 95% intervals" if any(result.seeds > 1 for result in results) else ""
    intro = f"Regret per round in the end{runs}{intervals}; lower is better."
    if quantity == "epsilon":
        intro += " A small epsilon is more private; level lines have none."
    called, label = QUANTITIES[quantity]
    draw = functools.partial(draw_against, quantity=label)
    return _panels(f"{name}-{quantity}", f"Regret against {called}", intro, found, draw)


def _curves_against(results: Sequence[Result], quantity: str, seen: Mapping[str, Look]) -> list[Curve]:
    curves = []
    for label, members in grouped(results, lambda result: family(result.label)).items():
        rows = [(getattr(result, quantity), result.regret, *result.interval) for result in members]
        x, mean, low, high = np.array(sorted(rows, key=lambda row: row[0] or 0.0), dtype=np.float64).T
        like = members[0]
        curves.append(Curve(label, x, mean, low, high, seen[label], reference=like.reference, kind=like.kind))
    return curves


def _panels(
    name: str,
    title: str,
    intro: str,
    found: Sequence[tuple[Panel, Sequence[Curve]]],
    draw: Callable[[Axes, Sequence[Curve]], list[str]],
) -> Panels:
    chosen = from_the_middle([panel for panel, _ in found])[:MOST_PANELS]
    if len(found) > len(chosen):
        intro += f" {len(found) - len(chosen)} more panels would not fit; their numbers are in the tables."
    charts: list[Chart] = []
    drawn = []
    for panel, curves in found:
        if panel in chosen:
            axes = new_axes(PANEL)
            notes = draw(axes, curves)
            charts.append(chart(f"{name}{len(charts)}", axes, panel.title, notes, legend=False))
            drawn.append(axes)
    return Panels(title, intro, legend_of(name, drawn), charts)
