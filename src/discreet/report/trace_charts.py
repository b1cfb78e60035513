"""The charts of simulated learners in one environment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from discreet.report.charts import chart, grid
from discreet.report.html import Html, joined
from discreet.report.named import Named
from discreet.simulation.canvas import PANEL, new_axes
from discreet.simulation.curves import Curve, best_curve, cost_curve, regret_curve
from discreet.simulation.figures import (
    bound_label,
    bounds_above,
    draw_against,
    draw_costs,
    draw_items,
    draw_regret,
)
from discreet.simulation.intervals import mean_interval
from discreet.simulation.looks import BEST, Look, looks
from discreet.simulation.short_numbers import counted

#: Learners in one chart; more are split by family.
MOST_CURVES = 7
#: Learners whose final choice is shown, and items in such a chart.
MOST_CHOICES, MOST_ITEMS = 6, 40


def charts_of(name: str, group: Sequence[Named]) -> Html:
    """All charts of an environment; `name` begins their ids."""
    charts = []
    for k, (title, members) in enumerate(_panels(group)):
        charts.append(regret_chart(f"{name}-regret{k}", members, title))
        charts.append(cost_chart(f"{name}-cost{k}", members, title))
    charts += epsilon_chart(f"{name}-epsilon", group)
    return joined(grid(charts), grid(choice_charts(f"{name}-items", group), small=True))


def regret_chart(name: str, group: Sequence[Named], title: str = "") -> Html:
    """Regret a round against rounds."""
    axes = new_axes()
    curves = [regret_curve(n.trace, n.legend, n.look, reference=n.reference) for n in group]
    notes = draw_regret(axes, curves)
    scale = "both scales logarithmic; lower is better."
    if axes.get_yscale() == "linear":
        scale = "lower is better, below zero better than any fixed set."
    caption = [f"Mean over the seeds{_bands(group)}, {scale}"]
    if {line.get_label() for line in axes.lines} & {bound_label(n.legend) for n in group}:
        kind = group[0].trace.kind
        caption.append(f"Dashed: proved bounds on expected regret, for {kind}s that are fixed beforehand.")
    return chart(
        name, axes, f"Regret a round against rounds{title}", [*caption, *bounds_above(axes, curves), *notes]
    )


def cost_chart(name: str, group: Sequence[Named], title: str = "") -> Html:
    """The mean cost (or reward) so far against rounds."""
    axes, trace = new_axes(), group[0].trace
    curves = [cost_curve(n.trace, n.legend, n.look, reference=n.reference) for n in group]
    best = [best_curve(n.trace) for n in group]
    better = "higher" if trace.maximize else "lower"
    caption = [f"Mean over the seeds{_bands(group)}; {better} is better."]
    longest = max(best, key=lambda curve: float(curve.x[-1]))
    if all(_same(curve, longest) for curve in best):
        best = [longest]
        caption.append("The dotted line is what regret is measured against.")
    else:  # what is best depends on what the learner did
        best = [_own_best(n) for n in group]
        met = f"the best fixed set for the {trace.kind}s that this learner met"
        caption.append(f"Dotted, in the same colour: {met}.")
    draw_costs(axes, curves, best)
    return chart(name, axes, f"Mean {trace.kind} a round so far{title}", caption)


def epsilon_chart(name: str, group: Sequence[Named]) -> list[Html]:
    """Final regret against epsilon, if there are several."""
    learners = [n for n in group if n.epsilon is not None]
    if len({n.epsilon for n in learners}) < 2:
        return []
    families: dict[str, list[Named]] = {}
    for named in learners:
        suffix = "" if named.trace.guarantee.private else " (not private)"
        families.setdefault(named.family + suffix, []).append(named)
    others = [n for n in group if n.epsilon is None]
    seen = looks([*families, *(n.label for n in others)], [n.label for n in others if n.reference])
    curves = [_over_epsilon(label, members, seen[label]) for label, members in families.items()]
    curves += [_level(n, seen[n.label]) for n in others]
    axes = new_axes()
    notes = draw_against(axes, curves, "epsilon (privacy loss of one person)")
    intervals = ", with 95% intervals" if _bands(learners) else ""
    caption = [f"At the last round{intervals}; both scales logarithmic. A small epsilon is more private."]
    if others:
        caption.append("Level lines have no epsilon.")
    return [chart(name, axes, "Final regret a round against epsilon", caption + notes)]


def choice_charts(name: str, group: Sequence[Named]) -> list[Html]:
    """For private learners, then others, with least regret: what they take in the end, and the best set."""
    learners = sorted(
        (n for n in group if not n.reference),
        key=lambda n: (
            not n.trace.guarantee.private,
            float(n.trace.mean_regret[-1]) / float(n.trace.checkpoints[-1]),
        ),
    )
    return [_choice_chart(f"{name}{k}", named) for k, named in enumerate(learners[:MOST_CHOICES])]


def _choice_chart(name: str, named: Named) -> Html:
    trace = named.trace
    levels, shares = trace.final_points.mean(axis=0), trace.best_sets.mean(axis=0)
    caption = [f"Bars: the mean level over {counted(len(trace.seeds), 'seed')}, near 1 if the item is taken."]
    shown = np.arange(len(trace.items))
    if shown.size > MOST_ITEMS:
        shown = np.sort(np.argsort(-(levels + shares), kind="stable")[:MOST_ITEMS])
        caption.append(f"The {MOST_ITEMS} of {len(trace.items)} items that are taken most.")
    axes = new_axes((PANEL[0], 0.9 + 0.25 * max(shown.size, 4)))
    draw_items(axes, [str(trace.items[i]) for i in shown], levels[shown], shares[shown], named.look.colour)
    return chart(name, axes, f"Chosen in the end by {named.label}", caption)


def _panels(group: Sequence[Named]) -> list[tuple[str, list[Named]]]:
    """One panel, or if there are too many curves one for each learner, its epsilons together."""
    learners = [n for n in group if not n.reference]
    if len(learners) <= MOST_CURVES:
        return [("", list(group))]
    references = [n for n in group if n.reference]
    families: dict[str, list[Named]] = {}
    for named in learners:
        families.setdefault(named.family, []).append(named)
    alone = [members[0] for members in families.values() if len(members) == 1]
    panels = [(f", {title}", _by_epsilon(members)) for title, members in families.items() if len(members) > 1]
    panels += [
        (", others" if panels else "", alone[k : k + MOST_CURVES]) for k in range(0, len(alone), MOST_CURVES)
    ]
    return [(title, [*members, *references]) for title, members in panels]


def _by_epsilon(members: Sequence[Named]) -> list[Named]:
    """In order of epsilon, with the first looks, so that panels can be compared."""
    ordered = sorted(members, key=lambda n: n.epsilon or 0.0)
    seen = looks(named.label for named in ordered)
    return [dataclasses.replace(named, look=seen[named.label]) for named in ordered]


def _bands(group: Sequence[Named]) -> str:
    return " with its 95% band" if any(len(n.trace.seeds) > 1 for n in group if not n.reference) else ""


def _same(curve: Curve, longest: Curve) -> bool:
    """Whether two curves agree where both are known."""
    _, mine, theirs = np.intersect1d(curve.x, longest.x, return_indices=True)
    return bool(np.allclose(curve.mean[mine], longest.mean[theirs], rtol=1e-6, atol=1e-6))


def _own_best(named: Named) -> Curve:
    look = Look(named.look.colour, BEST.line, "", BEST.width)
    return best_curve(named.trace, f"{named.legend}: best fixed set", look)


def _over_epsilon(label: str, members: Sequence[Named], look: Look) -> Curve:
    ordered = sorted(members, key=lambda n: n.epsilon or 0.0)
    mean, low, high = np.array([_end(n) for n in ordered]).T
    x, kind = np.array([n.epsilon for n in ordered], dtype=np.float64), ordered[0].trace.kind
    return Curve(label, x, mean, low, high, look, kind=kind)


def _level(named: Named, look: Look) -> Curve:
    mean, low, high = (np.array([end]) for end in _end(named))
    x, kind = np.array([np.nan]), named.trace.kind
    return Curve(named.legend, x, mean, low, high, look, reference=named.reference, kind=kind)


def _end(named: Named) -> tuple[float, float, float]:
    """Final regret a round and the ends of its interval."""
    trace = named.trace
    mean, low, high = mean_interval(trace.regret[:, -1:] / trace.checkpoints[-1])
    return float(mean[0]), float(low[0]), float(high[0])
