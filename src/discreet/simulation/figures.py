"""Figures of traces, for notebooks and for the report. Each is drawn here and nowhere else."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from discreet.checks import BoolArray, FloatArray
from discreet.simulation.canvas import (
    drawing,
    figure_of,
    linear_scale,
    log_scale,
    new_axes,
    scale_of_values,
)
from discreet.simulation.curves import Curve, regret_curve
from discreet.simulation.looks import COLOURS, INK, bound_look, looks
from discreet.simulation.short_numbers import short_number

if TYPE_CHECKING:
    from discreet.simulation.trace import Trace

#: Regret below this share of the largest counts as none: it is the rounding of sums.
_NOTHING = 1e-6
#: Every so many checkpoints there is a marker.
_MARK_EVERY = 6
#: Charts begin at this round, if they end at so many times that.
_FIRST, _LONG = 10.0, 100.0


def plot_trace(trace: Trace, axes: Axes | None = None, **style: Any) -> Axes:
    """Regret a round against rounds on logarithmic scales, the mean over the seeds with its 95% band.

    Args:
        trace: What to draw.
        axes: Axes to add the curve to. By default a new figure is made, with a title, and with the proved
            bound where it lies within the chart.
        **style: As matplotlib's `plot` takes it.
    """
    if axes is not None:
        return _plot_onto(axes, trace, style)
    with drawing():
        axes = new_axes()
        label = str(style.pop("label", trace.learner))
        curve = regret_curve(trace, label, looks([label])[label])
        draw_regret(axes, [curve], style)
        seeds = "one seed" if len(trace.seeds) == 1 else f"mean of {len(trace.seeds)} seeds with its 95% band"
        axes.set_title(f"{label} in {trace.environment}\n{seeds}", loc="left", fontsize=11)
        if len(axes.lines) > 1:
            figure_of(axes).legend(loc="outside lower left")
    return axes


def _plot_onto(axes: Axes, trace: Trace, style: dict[str, Any]) -> Axes:
    rounds = trace.checkpoints
    low, high = trace.band()
    style.setdefault("label", trace.learner)
    (line,) = axes.plot(rounds, trace.mean_regret / rounds, **style)
    axes.fill_between(rounds, low / rounds, high / rounds, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set_xscale("log")
    if np.all(trace.mean_regret > 0):
        axes.set_yscale("log")
    axes.set_xlabel("rounds")
    axes.set_ylabel("regret a round")
    return axes


def draw_regret(axes: Axes, curves: Sequence[Curve], style: Mapping[str, Any] | None = None) -> list[str]:
    """Regret a round against rounds, both logarithmic; bounds dashed, where they lie within the chart.

    Where a learner ends without regret the vertical scale is linear.

    Returns:
        What a caption must say because the chart does not show it, besides `bounds_above`.
    """
    first = _round_axis(axes, curves)
    axes.set_ylabel(f"regret a round ({curves[0].kind})")
    seen = [curve.x >= first for curve in curves]
    most = max(float(curve.mean[part].max()) for curve, part in zip(curves, seen, strict=True))
    linear = most <= 0 or any(c.mean[-1] <= _NOTHING * most for c in curves if not c.reference)
    if linear:
        parts = [curve.mean[part] for curve, part in zip(curves, seen, strict=True)]
        linear_scale(axes.yaxis, *_span(parts + [curve.high[-1:] for curve in curves]))
        kept = [np.isfinite(curve.mean) for curve in curves]
    else:
        kept = [curve.mean > _NOTHING * most for curve in curves]
        values = np.concatenate([c.mean[k & p] for c, k, p in zip(curves, kept, seen, strict=True)])
        top = 1.3 * max(most, *(float(curve.high[-1]) for curve in curves))
        ends = [1.1 * float(curve.bound[-1]) for curve in curves if curve.bound is not None]
        log_scale(axes.yaxis, float(values.min()) / 1.4, max([top, *(e for e in ends if e <= 2 * top)]))
    for k, (curve, part) in enumerate(zip(curves, kept, strict=True)):
        if part.any():
            _line(axes, _part(curve, part), k, style or {})
    for curve in curves:
        if curve.bound is not None and not _is_above(curve, axes):
            look = bound_look(curve.look).style()
            axes.plot(curve.x, curve.bound, label=bound_label(curve.label), zorder=2.6, **look)
    notes = _without_regret([c.label for c, part in zip(curves, kept, strict=True) if not part.any()])
    if any(part.any() and not part[p].all() for part, p in zip(kept, seen, strict=True)):
        notes.append("Where regret is zero or below, a curve is interrupted.")
    return notes


def bounds_above(axes: Axes, curves: Sequence[Curve]) -> list[str]:
    """A sentence about the proved bounds that lie above the chart that `draw_regret` drew."""
    above = [
        f"{curve.label} {short_number(float(curve.bound[-1]))}"
        for curve in curves
        if curve.bound is not None and _is_above(curve, axes)
    ]
    return [f"Proved bounds above the chart, a round in the end: {', '.join(above)}."] if above else []


def draw_costs(axes: Axes, curves: Sequence[Curve], best: Sequence[Curve]) -> None:
    """The mean cost (or reward) a round so far against rounds, with that of the best fixed set."""
    first = _round_axis(axes, curves)
    ends = [end[-1:] for curve in curves for end in (curve.low, curve.high)]
    linear_scale(axes.yaxis, *_span([curve.mean[curve.x >= first] for curve in (*curves, *best)] + ends))
    axes.set_ylabel(f"mean {curves[0].kind} a round so far")
    for k, curve in enumerate(curves):
        _line(axes, curve, k, {})
    for curve in best:
        axes.plot(curve.x, curve.mean, label=curve.label, **curve.look.style())


def draw_against(axes: Axes, curves: Sequence[Curve], quantity: str) -> list[str]:
    """Final regret a round against a quantity that was varied, with 95% intervals; both logarithmic.

    Curves that hold everywhere are drawn as levels.

    Returns:
        What a caption must say because the chart does not show it.
    """
    most = max(float(curve.mean.max()) for curve in curves)
    values = sorted({float(x) for curve in curves for x in curve.x if not np.isnan(x)})
    linear = most <= 0 or any(np.any(c.mean <= _NOTHING * most) for c in curves if not c.reference)
    drawn = [curve for curve in curves if linear or np.all(curve.mean > _NOTHING * most)]
    scale_of_values(axes.xaxis, values)
    if linear:
        low, high = _span([curve.low for curve in drawn] + [curve.high for curve in drawn])
        linear_scale(axes.yaxis, low, high)
    else:
        bottom = min(float(max(c.low.min(), 0.5 * c.mean.min())) for c in drawn)
        log_scale(axes.yaxis, bottom / 1.2, 1.2 * max(float(curve.high.max()) for curve in drawn))
    axes.set_xlabel(quantity)
    axes.set_ylabel(f"regret a round ({curves[0].kind})")
    for curve in drawn:
        if curve.everywhere:
            style = curve.look.style() | {"marker": ""}
            axes.axhline(float(curve.mean[0]), label=curve.label, **style)
        else:
            axes.plot(curve.x, curve.mean, label=curve.label, **curve.look.style())
            error, colour = [curve.mean - curve.low, curve.high - curve.mean], curve.look.colour
            axes.errorbar(curve.x, curve.mean, error, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
    return _without_regret([curve.label for curve in curves if not any(curve is one for one in drawn)])


def draw_items(
    axes: Axes, names: Sequence[str], levels: FloatArray, shares: FloatArray, colour: str = COLOURS[0]
) -> None:
    """For each item its level in the end as a bar, and how often it is in the best set as a mark."""
    places = np.arange(len(names))
    axes.barh(places, levels, height=0.62, color=colour, alpha=0.75, linewidth=0, label="level in the end")
    axes.plot(
        shares,
        places,
        linestyle="",
        marker="D",
        markersize=5,
        color=INK,
        label="share of seeds in which it is in the best set",
        clip_on=False,
        zorder=4,
    )
    axes.set_yticks(places, labels=[_shortened(name) for name in names])
    axes.tick_params(axis="y", length=0, pad=6)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    linear_scale(axes.xaxis, -0.03, 1.03)
    axes.set_xlabel("0: left out, 1: taken")
    axes.set_ylabel("item")


def _line(axes: Axes, curve: Curve, k: int, style: Mapping[str, Any]) -> None:
    """The mean and its band; markers of different curves stand at different places."""
    count = curve.x.size
    marks = (k * 2 % _MARK_EVERY, _MARK_EVERY) if count > 2 * _MARK_EVERY else 1
    settings = curve.look.style() | {"label": curve.label, "markevery": marks} | dict(style)
    (line,) = axes.plot(curve.x, curve.mean, zorder=2.5 if curve.reference else 3, **settings)
    if not curve.reference and np.any(curve.high > curve.low):
        low = np.maximum(curve.low, axes.get_ylim()[0])  # a log scale has no zero
        axes.fill_between(curve.x, low, curve.high, color=line.get_color(), alpha=0.15, linewidth=0)


def _without_regret(labels: Sequence[str]) -> list[str]:
    return [f"Without regret, which a logarithmic scale cannot show: {', '.join(labels)}."] if labels else []


def _is_above(curve: Curve, axes: Axes) -> bool:
    """Whether less than two points of the bound are on the chart."""
    assert curve.bound is not None
    return int(np.count_nonzero(curve.bound <= axes.get_ylim()[1])) < 2


def bound_label(label: str) -> str:
    """What the bound of a curve is called in the legend."""
    return f"{label}: proved bound"


def _part(curve: Curve, kept: BoolArray) -> Curve:
    """The curve with gaps where it is not kept."""
    if kept.all():
        return curve
    mean, low, high = (np.where(kept, values, np.nan) for values in (curve.mean, curve.low, curve.high))
    return dataclasses.replace(curve, mean=mean, low=low, high=high)


def _round_axis(axes: Axes, curves: Sequence[Curve]) -> float:
    """A logarithmic axis of rounds; returns its first, for the noise of the first few is left out."""
    last = max(float(curve.x[-1]) for curve in curves)
    first = min(float(curve.x[0]) for curve in curves)
    if last >= _LONG * _FIRST:
        first = max(first, _FIRST)
    first = min([first, *(float(curve.x[-1]) for curve in curves)])
    log_scale(axes.xaxis, first if first < last else first / 2, last * 1.05)
    axes.set_xlabel("rounds")
    return first


def _span(parts: Sequence[FloatArray]) -> tuple[float, float]:
    """The least and the greatest number, with some room."""
    low, high = min(float(p.min()) for p in parts), max(float(p.max()) for p in parts)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


def _shortened(name: str, most: int = 28) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
