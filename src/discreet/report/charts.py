"""Charts as markup, each with its legend and its caption, and those of simulated learners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from discreet.formatting import counted
from discreet.plots.canvas import PANEL, figure_of, new_axes
from discreet.plots.charts import (
    bound_label,
    bounds_above,
    draw_costs,
    draw_items,
    draw_regret,
)
from discreet.plots.curves import Curve, best_curve, cost_curve
from discreet.plots.svg import inline_svg, legend_entries
from discreet.report.results import Result, TraceResult, family, grouped, with_looks

#: Learners in one chart; more are split by family.
MOST_CURVES = 7
#: Learners whose final choice is shown, and items in such a chart.
MOST_CHOICES, MOST_ITEMS = 6, 40


class Chart(NamedTuple):
    """A figure as markup, its title and more sentences for its caption, and what its legend lists."""

    svg: Markup
    title: str
    caption: str
    legend: list[tuple[Markup, str]]


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
        draw_items(axes, names, levels[shown], shares[shown], result.look.colour)
        charts.append(chart(f"{name}-items{k}", axes, f"Chosen in the end by {result.learner}", caption))
    return charts


def chart(name: str, axes: Axes, title: str, caption: Iterable[str], *, legend: bool = True) -> Chart:
    """A figure that has been drawn; `name` is different for each chart of a page."""
    svg = Markup(inline_svg(figure_of(axes), name, title))
    return Chart(svg, title, " ".join(caption), legend_of(name, [axes]) if legend else [])


def legend_of(name: str, several: Sequence[Axes]) -> list[tuple[Markup, str]]:
    """What is drawn on the axes: samples and labels."""
    return [(Markup(sample), label) for sample, label in legend_entries(several, name)]


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
    notes = bounds_above(axes, group) + notes
    return chart(name, axes, f"Regret per round against rounds{title}", caption + notes)


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
        best = [best_curve(r.trace, f"{r.label}: best fixed set", r.look.best()) for r in group]
        caption.append(
            f"Dotted, in the same colour: the best fixed set for the {kind}s that this learner met."
        )
    draw_costs(axes, curves, best)
    return chart(name, axes, f"Mean {kind} per round so far{title}", caption)


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
