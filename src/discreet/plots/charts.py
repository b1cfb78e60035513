"""Charts of curves: regret and costs against rounds, regret against what was varied, final choices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from discreet.checks import FloatArray
from discreet.formatting import counted, short_number
from discreet.plots.canvas import drawing, figure_of, linear_scale, log_scale, new_axes, scale_of_values
from discreet.plots.curves import BOUND, COLOURS, INK, Curve, looks, regret_curve

if TYPE_CHECKING:
    from discreet.simulation.trace import Trace

#: Regret below this share of the largest counts as none: it is the rounding of sums.
_NOTHING = 1e-6
#: Every so many checkpoints there is a marker.
_MARK_EVERY = 6
#: Charts begin at this round, if they end at so many times that.
_FIRST, _LONG = 10.0, 100.0


def plot_trace(trace: Trace, axes: Axes | None = None, **style: Any) -> Axes:
    """What `Trace.plot` draws."""
    if axes is not None:
        return _plot_onto(axes, trace, style)
    with drawing():
        axes = new_axes()
        label = str(style.pop("label", trace.learner))
        draw_regret(axes, [regret_curve(trace, label, {**looks([label])[label], **style})])
        several = len(trace.seeds) > 1
        seeds = f"mean of {counted(len(trace.seeds), 'seed')} with its 95% band" if several else "one seed"
        axes.set_title(f"{label} in {trace.environment}\n{seeds}", loc="left", fontsize=11)
        if len(axes.lines) > 1:
            figure_of(axes).legend(loc="outside lower left")
    return axes


def _plot_onto(axes: Axes, trace: Trace, style: dict[str, Any]) -> Axes:
    rounds = trace.checkpoints
    low, high = trace.band()
    (line,) = axes.plot(rounds, trace.mean_regret / rounds, **{"label": trace.learner} | style)
    axes.fill_between(rounds, low / rounds, high / rounds, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set(xscale="log", xlabel="rounds", ylabel="regret per round")
    if np.all(trace.mean_regret > 0):
        axes.set_yscale("log")
    return axes


def draw_regret(axes: Axes, curves: Sequence[Curve]) -> list[str]:
    """Regret per round against rounds, both logarithmic; bounds dashed, where they lie within the chart.

    Where a learner ends without regret the vertical scale is linear. Returns what a caption must say because
    the chart does not show it, besides `bounds_above`.
    """
    first = _round_axis(axes, curves)
    axes.set_ylabel(f"regret per round ({curves[0].kind})")
    within = [curve.mean[curve.x >= first] for curve in curves]
    most = max(float(means.max()) for means in within)
    ends = [float(curve.high[-1]) for curve in curves]
    shown, notes = list(curves), []
    if most <= 0 or any(c.mean[-1] <= _NOTHING * most for c in curves if not c.reference):
        linear_scale(axes.yaxis, *_span([*within, np.array(ends)]))
    else:
        least, top = _NOTHING * most, 1.3 * max(most, *ends)
        bounds = [1.1 * float(curve.bound[-1]) for curve in curves if curve.bound is not None]
        bottom = min(float(means[means > least].min()) for means in within if np.any(means > least))
        log_scale(axes.yaxis, bottom / 1.4, max([top, *(bound for bound in bounds if bound <= 2 * top)]))
        shown = [_above(curve, least) for curve in curves if np.any(curve.mean > least)]
        notes += _without_regret([curve.label for curve in curves if not np.any(curve.mean > least)])
        if any(np.isnan(curve.mean[curve.x >= first]).any() for curve in shown):
            notes.append("Where regret is zero or below, a curve is interrupted.")
    for k, curve in enumerate(shown):
        _line(axes, curve, k)
    for curve in curves:
        if curve.bound is not None and not _bound_is_above(curve, axes):
            look = {"color": curve.look.get("color"), **BOUND}
            axes.plot(curve.x, curve.bound, label=bound_label(curve.label), zorder=2.6, **look)
    return notes


def bound_label(label: str) -> str:
    """What the bound of a curve is called in the legend."""
    return f"{label}: proved bound"


def bounds_above(axes: Axes, curves: Sequence[Curve]) -> list[str]:
    """A sentence about the proved bounds that lie above the chart that `draw_regret` drew."""
    above = [
        f"{curve.label} {short_number(float(curve.bound[-1]))}"
        for curve in curves
        if curve.bound is not None and _bound_is_above(curve, axes)
    ]
    return [f"Proved bounds above the chart, per round in the end: {', '.join(above)}."] if above else []


def draw_costs(axes: Axes, curves: Sequence[Curve], best: Sequence[Curve]) -> None:
    """The mean cost (or reward) per round so far against rounds, with that of the best fixed set."""
    first = _round_axis(axes, curves)
    ends = [end[-1:] for curve in curves for end in (curve.low, curve.high)]
    linear_scale(axes.yaxis, *_span([curve.mean[curve.x >= first] for curve in (*curves, *best)] + ends))
    axes.set_ylabel(f"mean {curves[0].kind} per round so far")
    for k, curve in enumerate(curves):
        _line(axes, curve, k)
    for curve in best:
        axes.plot(curve.x, curve.mean, label=curve.label, **curve.look)


def draw_against(axes: Axes, curves: Sequence[Curve], quantity: str) -> list[str]:
    """Final regret per round against a quantity that was varied, with 95% intervals; both logarithmic.

    Curves that hold everywhere are drawn as levels. Returns what a caption must say because the chart does
    not show it.
    """
    least = _NOTHING * max(float(curve.mean.max()) for curve in curves)
    linear = least <= 0 or any(np.any(c.mean <= least) for c in curves if not c.reference)
    drawn = [curve for curve in curves if linear or np.all(curve.mean > least)]
    scale_of_values(axes.xaxis, sorted({float(x) for curve in curves for x in curve.x if not np.isnan(x)}))
    if linear:
        linear_scale(axes.yaxis, *_span([end for curve in drawn for end in (curve.low, curve.high)]))
    else:
        bottom = min(float(max(c.low.min(), 0.5 * c.mean.min())) for c in drawn)
        log_scale(axes.yaxis, bottom / 1.2, 1.2 * max(float(curve.high.max()) for curve in drawn))
    axes.set(xlabel=quantity, ylabel=f"regret per round ({curves[0].kind})")
    for curve in drawn:
        look = {"label": curve.label, **curve.look}
        if np.isnan(curve.x[0]):
            axes.axhline(float(curve.mean[0]), **look | {"marker": ""})
        else:
            axes.plot(curve.x, curve.mean, **look)
            error, colour = [curve.mean - curve.low, curve.high - curve.mean], look["color"]
            axes.errorbar(curve.x, curve.mean, error, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
    return _without_regret([curve.label for curve in curves if curve not in drawn])


def draw_items(
    axes: Axes, names: Sequence[str], levels: FloatArray, shares: FloatArray, colour: str = COLOURS[0]
) -> None:
    """For each item its level in the end as a bar, and how often it is in the best set as a mark."""
    places = np.arange(len(names))
    label = "share of seeds in which it is in the best set"
    axes.barh(places, levels, height=0.62, color=colour, alpha=0.75, linewidth=0, label="level in the end")
    axes.plot(shares, places, "D", markersize=5, color=INK, label=label, clip_on=False, zorder=4)
    axes.set_yticks(places, labels=[name if len(name) <= 28 else name[:27] + "…" for name in names])
    axes.tick_params(axis="y", length=0, pad=6)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    linear_scale(axes.xaxis, -0.03, 1.03)
    axes.set(xlabel="0: left out, 1: taken", ylabel="item")


def _line(axes: Axes, curve: Curve, k: int) -> None:
    """The mean and its band; markers of different curves stand at different places."""
    marks = (k * 2 % _MARK_EVERY, _MARK_EVERY) if curve.x.size > 2 * _MARK_EVERY else 1
    settings = {"label": curve.label, "markevery": marks, **curve.look}
    (line,) = axes.plot(curve.x, curve.mean, zorder=2.5 if curve.reference else 3, **settings)
    if not curve.reference and np.any(curve.high > curve.low):
        low = np.maximum(curve.low, axes.get_ylim()[0])  # a log scale has no zero
        axes.fill_between(curve.x, low, curve.high, color=line.get_color(), alpha=0.15, linewidth=0)


def _without_regret(labels: Sequence[str]) -> list[str]:
    return [f"Without regret, which a logarithmic scale cannot show: {', '.join(labels)}."] if labels else []


def _bound_is_above(curve: Curve, axes: Axes) -> bool:
    """Whether less than two points of the bound are on the chart."""
    assert curve.bound is not None
    return int(np.count_nonzero(curve.bound <= axes.get_ylim()[1])) < 2


def _above(curve: Curve, least: float) -> Curve:
    """The curve with gaps where its mean is not above this."""
    mean, low, high = (
        np.where(curve.mean > least, values, np.nan) for values in (curve.mean, curve.low, curve.high)
    )
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
    values = np.concatenate(parts)
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room
