"""Charts as markup, each with its legend and its caption: those of traces, and the small panels of sweeps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from discreet.formatting import counted, number
from discreet.plots import charts as plots
from discreet.plots.canvas import PANEL, figure_of, inline_svg, legend_entries, new_axes
from discreet.plots.charts import Curve
from discreet.report.results import Result, TraceResult, family, grouped, with_looks

MOST_CURVES = 7  # learners in one chart; more are split
MOST_CHOICES, MOST_ITEMS = 6, 40  # learners whose final choice is shown, and items in such a chart
MOST_PANELS = 12  # panels in one section
#: What a sweep may vary: how it is called in headings and at axes.
QUANTITIES = {
    "epsilon": ("epsilon", "epsilon (privacy loss of one person)"),
    "n": ("the number of items", "items"),
    "rounds": ("the number of rounds", "rounds in total"),
}
Chart = dict[str, Any]  # what a page shows of a chart: svg, title, caption, legend
Panels = dict[str, Any]  # the same of several small ones with one legend: title, intro, legend, charts
Place = tuple[str, int, float]  # an environment, a number of items and an epsilon; 0 leaves one of these free


def trace_charts(name: str, group: Sequence[TraceResult]) -> list[Chart]:
    """Regret and costs of an environment; `name` begins the ids of its charts."""
    learners = [result for result in group if not result.reference]
    parts = {"": list(group)}
    if len(learners) > MOST_CURVES:
        references = [result for result in group if result.reference]
        learners.sort(key=lambda result: (family(result.label), result.epsilon or 0.0))
        parts = {
            f", part {k // MOST_CURVES + 1}": with_looks([*learners[k : k + MOST_CURVES], *references])
            for k in range(0, len(learners), MOST_CURVES)
        }
    charts = []
    for k, (title, members) in enumerate(parts.items()):
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
        caption = (
            f"Bars: the mean level over {counted(result.seeds, 'seed')}, near 1 if the item is taken. "
            "Diamonds: the share of seeds in which it is in the best set."
        )
        shown = np.arange(result.n)
        if shown.size > MOST_ITEMS:
            shown = np.sort(np.argsort(-(levels + shares), kind="stable")[:MOST_ITEMS])
            caption += f" The {MOST_ITEMS} of {result.n} items that are taken most."
        axes = new_axes((PANEL[0], 0.9 + 0.25 * max(shown.size, 4)))
        names = [str(trace.items[i]) for i in shown]
        plots.draw_items(axes, names, levels[shown], shares[shown], result.look["color"])
        title = f"Chosen in the end by {result.learner}"
        charts.append(_chart(f"{name}-items{k}", axes, title, caption, legend=False))
    return charts


def _chart(name: str, axes: Axes, title: str, caption: str, *, legend: bool = True) -> Chart:
    """A figure that has been drawn; `name` is different for each chart of a page."""
    entries = legend_entries([axes], name) if legend else []
    svg = inline_svg(figure_of(axes), name, title)
    return {"svg": svg, "title": title, "caption": caption, "legend": entries}


def _regret_chart(name: str, group: Sequence[TraceResult], title: str) -> Chart:
    axes = new_axes()
    note = plots.draw_regret(axes, group)
    scale = "both scales logarithmic; lower is better."
    if axes.get_yscale() == "linear":
        scale = "lower is better, below zero better than any fixed set."
    caption = f"Mean over the seeds{_bands(group)}, {scale}"
    if any(result.bound is not None for result in group):
        caption += (
            f" Dashed: proved bounds on expected regret, for {group[0].kind}s that are fixed beforehand, "
            "where they lie within the chart; the table has all."
        )
    return _chart(name, axes, f"Regret per round against rounds{title}", f"{caption} {note}".rstrip())


def _cost_chart(name: str, group: Sequence[TraceResult], title: str) -> Chart:
    axes, kind = new_axes(), group[0].kind
    curves = [plots.cost_curve(r.trace, r.label, r.look, reference=r.reference) for r in group]
    best = [plots.best_curve(max(group, key=lambda result: result.rounds).trace)]
    dotted = "The dotted line is what regret is measured against."
    if not all(_same(plots.best_curve(result.trace), best[0]) for result in group):
        # What is best depends on what the learner did.
        best = [plots.best_curve(r.trace, f"{r.label}: best fixed set", r.look["color"]) for r in group]
        dotted = f"Dotted, in the same colour: the best fixed set for the {kind}s that this learner met."
    plots.draw_costs(axes, curves, best)
    better = "higher" if group[0].trace.maximize else "lower"
    caption = f"Mean over the seeds{_bands(group)}; {better} is better. {dotted}"
    return _chart(name, axes, f"Mean {kind} per round so far{title}", caption)


def _same(curve: Curve, other: Curve) -> bool:
    _, mine, theirs = np.intersect1d(curve.x, other.x, return_indices=True)
    return bool(np.allclose(curve.mean[mine], other.mean[theirs], rtol=1e-6, atol=1e-6))


def _bands(group: Sequence[Result]) -> str:
    return " with its 95% band" if any(r.seeds > 1 for r in group if not r.reference) else ""


def places_of(results: Sequence[Result], free: str) -> dict[Place, list[Result]]:
    """The results at each place, with a quantity left free, in order; what has no epsilon is at each."""

    def place(result: Result) -> Place:
        epsilon = 0.0 if free == "epsilon" else result.epsilon or 0.0
        return result.environment, 0 if free == "n" else result.n, epsilon

    places = grouped(results, place)
    private = {place[:2] for place in places if place[2]}
    for place_, members in places.items():
        if place_[2]:
            members += places.get((*place_[:2], 0.0), [])
    return {at: places[at] for at in sorted(places) if at[2] or at[:2] not in private}


def title_of(place: Place) -> str:
    """A place in words."""
    environment, n, epsilon = place
    items = f", {counted(n, 'item')}" if n else ""
    return environment + items + (f", epsilon {number(epsilon)}" if epsilon else "")


def from_the_middle(places: Iterable[Place]) -> list[Place]:
    """Those with a middle number of items and a middle epsilon first."""
    _, sizes, losses = (sorted(set(values)) for values in zip(*places, strict=True))

    def distance(place: Place) -> int:
        _, n, epsilon = place
        return abs(sizes.index(n) - len(sizes) // 2) + abs(losses.index(epsilon) - len(losses) // 2)

    return sorted(places, key=distance)


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
    found = {place: longest(members) for place, members in places_of(results, "rounds").items()}
    return _panels("curves", "Regret curves", intro, found, plots.draw_regret)


def against_panels(results: Sequence[Result], quantity: str, name: str = "sweep") -> Panels:
    """Final regret against a quantity that takes several values; a panel for each of the rest."""
    families = grouped(results, lambda result: family(result.label))
    seen = plots.looks(families, [label for label, members in families.items() if members[0].reference])
    found = {}
    for place, members in places_of(results, quantity).items():
        most = max(result.rounds for result in members)
        shown = [result for result in members if quantity == "rounds" or result.rounds == most]
        if len({getattr(result, quantity) for result in shown} - {None}) > 1:
            curves = grouped(shown, lambda result: family(result.label))
            found[place] = [_curve_against(name, of, quantity, seen[name]) for name, of in curves.items()]
    runs = "" if quantity == "rounds" else ", of the runs with most rounds"
    intervals = ", with 95% intervals" if any(result.seeds > 1 for result in results) else ""
    intro = f"Regret per round in the end{runs}{intervals}; lower is better."
    if quantity == "epsilon":
        intro += " A small epsilon is more private; level lines have none."
    called, label = QUANTITIES[quantity]
    draw = functools.partial(plots.draw_against, quantity=label)
    return _panels(f"{name}-{quantity}", f"Regret against {called}", intro, found, draw)


def _curve_against(label: str, results: Sequence[Result], quantity: str, look: plots.Look) -> Curve:
    rows = [(getattr(result, quantity), result.regret, *result.interval) for result in results]
    x, mean, low, high = np.array(sorted(rows, key=lambda row: row[0] or 0.0), dtype=np.float64).T
    like = results[0]
    return Curve(label, x, mean, low, high, look, reference=like.reference, kind=like.kind)


def _panels(
    name: str,
    title: str,
    intro: str,
    found: Mapping[Place, Sequence[Curve]],
    draw: Callable[[Axes, Sequence[Curve]], str],
) -> Panels:
    chosen = from_the_middle(found)[:MOST_PANELS] if found else []
    if len(found) > len(chosen):
        intro += f" {len(found) - len(chosen)} more panels would not fit; their numbers are in the tables."
    charts, drawn = [], []
    for k, place in enumerate(place for place in found if place in chosen):
        drawn.append(new_axes(PANEL))
        note = draw(drawn[k], found[place])
        charts.append(_chart(f"{name}{k}", drawn[k], title_of(place), note, legend=False))
    return {"title": title, "intro": intro, "legend": legend_entries(drawn, name), "charts": charts}
