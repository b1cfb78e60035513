"""Charts as markup, each with its legend and its caption: those of traces, and the small panels of sweeps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from discreet.formatting import counted, number
from discreet.plots.canvas import PANEL, figure_of, inline_svg, legend_entries, new_axes
from discreet.plots.charts import bound_label, bounds_above, draw_against, draw_costs, draw_items, draw_regret
from discreet.plots.curves import Curve, Look, best_curve, cost_curve, looks
from discreet.report.results import Result, TraceResult, family, grouped, with_looks

#: Learners in one chart; more are split by family.
MOST_CURVES = 7
#: Learners whose final choice is shown, and items in such a chart.
MOST_CHOICES, MOST_ITEMS = 6, 40
#: Panels in one section.
MOST_PANELS = 12
#: What a sweep may vary: how it is called in headings and at axes.
QUANTITIES = {
    "epsilon": ("epsilon", "epsilon (privacy loss of one person)"),
    "n": ("the number of items", "items"),
    "rounds": ("the number of rounds", "rounds in total"),
}


class Chart(NamedTuple):
    """A figure as markup, its title and more sentences for its caption, and what its legend lists."""

    svg: Markup
    title: str
    caption: str
    legend: list[tuple[Markup, str]]


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


def trace_charts(name: str, group: Sequence[TraceResult]) -> list[Chart]:
    """Regret and costs of an environment; `name` begins the ids of its charts."""
    charts = []
    for k, (title, members) in enumerate(_split(group)):
        charts.append(_regret_chart(f"{name}-regret{k}", members, title))
        charts.append(_cost_chart(f"{name}-cost{k}", members, title))
    return charts


def choice_charts(name: str, group: Sequence[TraceResult]) -> list[Chart]:
    """For private learners, then others, with least regret: what they take in the end, and the best set."""
    learners = sorted((r for r in group if not r.reference), key=lambda r: (not r.private, r.regret))
    charts = []
    for k, result in enumerate(learners[:MOST_CHOICES]):
        trace = result.trace
        levels, shares = trace.final_points.mean(axis=0), trace.best_sets.mean(axis=0)
        caption = [f"Bars: the mean level over {counted(result.seeds, 'seed')}, near 1 if the item is taken."]
        shown = np.arange(result.n)
        if shown.size > MOST_ITEMS:
            shown = np.sort(np.argsort(-(levels + shares), kind="stable")[:MOST_ITEMS])
            caption.append(f"The {MOST_ITEMS} of {result.n} items that are taken most.")
        axes = new_axes((PANEL[0], 0.9 + 0.25 * max(shown.size, 4)))
        names = [str(trace.items[i]) for i in shown]
        draw_items(axes, names, levels[shown], shares[shown], result.look["color"])
        charts.append(_chart(f"{name}-items{k}", axes, f"Chosen in the end by {result.learner}", caption))
    return charts


def _chart(name: str, axes: Axes, title: str, caption: Iterable[str], *, legend: bool = True) -> Chart:
    """A figure that has been drawn; `name` is different for each chart of a page."""
    svg = inline_svg(figure_of(axes), name, title)
    return Chart(svg, title, " ".join(caption), legend_entries([axes], name) if legend else [])


def _regret_chart(name: str, group: Sequence[TraceResult], title: str) -> Chart:
    axes = new_axes()
    notes = draw_regret(axes, group)
    scale = "both scales logarithmic; lower is better."
    if axes.get_yscale() == "linear":
        scale = "lower is better, below zero better than any fixed set."
    caption = [f"Mean over the seeds{_bands(group)}, {scale}"]
    if {line.get_label() for line in axes.lines} & {bound_label(result.label) for result in group}:
        kind = group[0].kind
        caption.append(f"Dashed: proved bounds on expected regret, for {kind}s that are fixed beforehand.")
    caption += bounds_above(axes, group) + notes
    return _chart(name, axes, f"Regret per round against rounds{title}", caption)


def _cost_chart(name: str, group: Sequence[TraceResult], title: str) -> Chart:
    axes, kind = new_axes(), group[0].kind
    curves = [cost_curve(r.trace, r.label, r.look, reference=r.reference) for r in group]
    best = [best_curve(result.trace) for result in group]
    better = "higher" if group[0].trace.maximize else "lower"
    caption = [f"Mean over the seeds{_bands(group)}; {better} is better."]
    most = max(best, key=lambda curve: float(curve.x[-1]))
    if all(_same(curve, most) for curve in best):
        best = [most]
        caption.append("The dotted line is what regret is measured against.")
    else:  # what is best depends on what the learner did
        best = [best_curve(r.trace, f"{r.label}: best fixed set", r.look["color"]) for r in group]
        caption.append(
            f"Dotted, in the same colour: the best fixed set for the {kind}s that this learner met."
        )
    draw_costs(axes, curves, best)
    return _chart(name, axes, f"Mean {kind} per round so far{title}", caption)


def _same(curve: Curve, other: Curve) -> bool:
    """Whether two curves agree where both are known."""
    _, mine, theirs = np.intersect1d(curve.x, other.x, return_indices=True)
    return bool(np.allclose(curve.mean[mine], other.mean[theirs], rtol=1e-6, atol=1e-6))


def _bands(group: Sequence[Result]) -> str:
    return " with its 95% band" if any(r.seeds > 1 for r in group if not r.reference) else ""


def _split(group: Sequence[TraceResult]) -> list[tuple[str, list[TraceResult]]]:
    """One panel, or if there are too many curves one for each learner, its epsilons together."""
    learners = [result for result in group if not result.reference]
    if len(learners) <= MOST_CURVES:
        return [("", list(group))]
    families = grouped(learners, lambda result: family(result.label))
    panels = []
    for title, members in families.items():
        if len(members) > 1:  # with the first looks, so that panels can be compared
            ordered = sorted(members, key=lambda result: result.epsilon or 0.0)
            panels.append((f", {title}", with_looks(ordered)))
    alone = [members[0] for members in families.values() if len(members) == 1]
    others = ", others" if panels else ""
    panels += [(others, alone[k : k + MOST_CURVES]) for k in range(0, len(alone), MOST_CURVES)]
    references = [result for result in group if result.reference]
    return [(title, [*members, *references]) for title, members in panels]


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
    """Those with a middle number of items and a middle epsilon first."""
    sizes, losses = sorted({panel.n for panel in panels}), sorted({panel.epsilon for panel in panels})

    def distance(panel: Panel) -> int:
        places = ((sizes.index(panel.n), sizes), (losses.index(panel.epsilon), losses))
        return sum(abs(place - len(values) // 2) for place, values in places)

    return sorted(panels, key=distance)


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
            charts.append(_chart(f"{name}{len(charts)}", axes, panel.title, notes, legend=False))
            drawn.append(axes)
    return Panels(title, intro, legend_entries(drawn, name), charts)
