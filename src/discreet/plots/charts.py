"""Charts of curves: regret and costs against rounds, regret against what was varied, final choices."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.checks import FloatArray
from discreet.formatting import counted
from discreet.intervals import mean_interval
from discreet.plots import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.simulation.trace import Trace

Look = Mapping[str, Any]  # how a curve is drawn, as matplotlib's `plot` takes it

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES: tuple[Any, ...] = ("-", (0, (7, 1.5, 1.5, 1.5)), (0, (5, 1.5)))
_REFERENCE_MARKERS = ("x", "+", "1", "2")
_REFERENCE_LINES: tuple[Any, ...] = ((0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 2)), (0, (1, 3)))
_NOTHING = 1e-6  # regret below this share of the largest counts as none: it is the rounding of sums
_MARK_EVERY = 6  # every so many checkpoints there is a marker


def looks(labels: Iterable[str], references: Iterable[str] = ()) -> dict[str, Look]:
    """A look for each label: colours for learners, grey for references such as the random set."""
    grey, unique = set(references), dict.fromkeys(labels)
    *colours, last = canvas.COLOURS
    found = {}
    for k, label in enumerate(label for label in unique if label not in grey):
        line = _LINES[k // len(colours) % len(_LINES)]
        found[label] = _look(colours[k % len(colours)], line, _MARKERS[k % len(_MARKERS)], 1.8)
    for k, label in enumerate(label for label in unique if label in grey):
        found[label] = _look(last, _REFERENCE_LINES[k % 4], _REFERENCE_MARKERS[k % 4], 1.4)
    return found


def _look(colour: str, line: Any, marker: str, width: float) -> Look:
    return {"color": colour, "linestyle": line, "linewidth": width, "marker": marker, "markersize": 5}


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """A mean over seeds and its 95% interval, at increasing x; an x of nan stands for everywhere.

    The scales are chosen for curves that are not references. The kind is "cost" or "reward".
    """

    label: str
    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    look: Look = dataclasses.field(default_factory=dict)
    bound: FloatArray | None = None
    reference: bool = False
    kind: str = "cost"


def regret_curve(trace: Trace, label: str, look: Look, *, reference: bool = False) -> Curve:
    """Regret per round against rounds, with the proved bound unless it exceeds what any choice could cost."""
    low, high = trace.cost_range
    bound = None if trace.bound is None else trace.bound / trace.checkpoints
    if bound is not None and bound[-1] >= high - low:
        bound = None
    return _per_round(trace, trace.regret, label, look, bound=bound, reference=reference)


def cost_curve(trace: Trace, label: str, look: Look, *, reference: bool = False) -> Curve:
    """The mean cost (or reward) per round so far against rounds."""
    return _per_round(trace, trace.cost, label, look, reference=reference)


def best_curve(trace: Trace, label: str = "best fixed set", colour: str = canvas.INK) -> Curve:
    """What the best fixed set so far costs (or earns) per round, dotted."""
    look = {"color": colour, "linestyle": (0, (1, 1)), "marker": "", "linewidth": 1.6}
    return _per_round(trace, trace.best, label, look, reference=True)


def _per_round(trace: Trace, totals: FloatArray, label: str, look: Look, **more: Any) -> Curve:
    rounds = trace.checkpoints.astype(np.float64)
    return Curve(label, rounds, *mean_interval(totals / rounds), look, kind=trace.kind, **more)


def plot_trace(trace: Trace, axes: Axes | None = None, **style: Any) -> Axes:
    """What `Trace.plot` draws."""
    label = str(style.pop("label", trace.learner))
    if axes is not None:
        curve = regret_curve(trace, label, style)
        _line(axes, curve)
        axes.set(xscale="log", xlabel="rounds", ylabel="regret per round")
        if np.all(curve.mean > 0):
            axes.set_yscale("log")
        return axes
    with canvas.drawing():
        axes = canvas.new_axes()
        draw_regret(axes, [regret_curve(trace, label, {**looks([label])[label], **style})])
        several = len(trace.seeds) > 1
        seeds = f"mean of {counted(len(trace.seeds), 'seed')} with its 95% band" if several else "one seed"
        axes.set_title(f"{label} in {trace.environment}\n{seeds}", loc="left", fontsize=11)
        if len(axes.lines) > 1:
            canvas.figure_of(axes).legend(loc="outside lower left")
    return axes


def draw_regret(axes: Axes, curves: Sequence[Curve]) -> str:
    """Regret per round against rounds, logarithmic unless a learner ends without; what a caption must add."""
    first = _round_axis(axes, curves)
    axes.set_ylabel(f"regret per round ({curves[0].kind})")
    within = [curve.mean[curve.x >= first] for curve in curves]
    most = max(float(means.max()) for means in within)
    least = _NOTHING * most
    ends = [float(curve.high[-1]) for curve in curves]
    hidden = []
    if most <= 0 or any(curve.mean[-1] <= least for curve in curves if not curve.reference):
        canvas.linear_scale(axes.yaxis, *_span([*within, np.array(ends)]))
    else:
        bottom = min(float(means[means > least].min()) for means in within if np.any(means > least))
        top = 1.3 * max(most, *ends)
        bounds = [1.1 * float(curve.bound[-1]) for curve in curves if curve.bound is not None]
        top = max([top, *(bound for bound in bounds if bound <= 2 * top)])
        canvas.log_scale(axes.yaxis, bottom / 1.4, top)
        hidden = [c.label for c, means in zip(curves, within, strict=True) if np.any(means <= least)]
    for k, curve in enumerate(curves):
        _line(axes, curve, k)
    dashed: Look = {"linestyle": (0, (4, 2.5)), "marker": "", "linewidth": 1.3, "zorder": 2.6}
    for curve in curves:
        if curve.bound is not None and np.count_nonzero(curve.bound <= axes.get_ylim()[1]) > 1:
            label = f"{curve.label}: proved bound"
            axes.plot(curve.x, curve.bound, color=curve.look.get("color"), label=label, **dashed)
    return _not_shown(hidden)


def draw_costs(axes: Axes, curves: Sequence[Curve], best: Sequence[Curve]) -> None:
    """The mean cost (or reward) per round so far against rounds, with that of the best fixed set."""
    first = _round_axis(axes, curves)
    shown = [end[-1:] for curve in curves for end in (curve.low, curve.high)]
    shown += [curve.mean[curve.x >= first] for curve in (*curves, *best)]
    canvas.linear_scale(axes.yaxis, *_span(shown))
    axes.set_ylabel(f"mean {curves[0].kind} per round so far")
    for k, curve in enumerate(curves):
        _line(axes, curve, k)
    for curve in best:
        axes.plot(curve.x, curve.mean, label=curve.label, **curve.look)


def draw_against(axes: Axes, curves: Sequence[Curve], quantity: str) -> str:
    """Final regret against a quantity, levels for what holds everywhere; what a caption must add."""
    least = _NOTHING * max(float(curve.mean.max()) for curve in curves)
    linear = least <= 0 or any(np.any(c.mean <= least) for c in curves if not c.reference)
    drawn = [curve for curve in curves if linear or np.all(curve.mean > least)]
    values = sorted({float(x) for curve in curves for x in curve.x if not np.isnan(x)})
    canvas.scale_of_values(axes.xaxis, values)
    if linear:
        canvas.linear_scale(axes.yaxis, *_span([end for curve in drawn for end in (curve.low, curve.high)]))
    else:
        bottom = min(float(max(c.low.min(), 0.5 * c.mean.min())) for c in drawn)
        canvas.log_scale(axes.yaxis, bottom / 1.2, 1.2 * max(float(curve.high.max()) for curve in drawn))
    axes.set(xlabel=quantity, ylabel=f"regret per round ({curves[0].kind})")
    for curve in drawn:
        look = {"label": curve.label, **curve.look}
        if np.isnan(curve.x[0]):
            axes.axhline(float(curve.mean[0]), **look | {"marker": ""})
        else:
            axes.plot(curve.x, curve.mean, **look)
            error, colour = [curve.mean - curve.low, curve.high - curve.mean], look["color"]
            axes.errorbar(curve.x, curve.mean, error, fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
    return _not_shown([curve.label for curve in curves if curve not in drawn])


def draw_items(
    axes: Axes, names: Sequence[str], levels: FloatArray, shares: FloatArray, colour: str = canvas.COLOURS[0]
) -> None:
    """For each item its level in the end as a bar, and how often it is in the best set as a mark."""
    places = np.arange(len(names))
    label = "share of seeds in which it is in the best set"
    axes.barh(places, levels, height=0.62, color=colour, alpha=0.75, linewidth=0, label="level in the end")
    axes.plot(shares, places, "D", markersize=5, color=canvas.INK, label=label, clip_on=False, zorder=4)
    axes.set_yticks(places, labels=[name if len(name) <= 28 else name[:27] + "…" for name in names])
    axes.tick_params(axis="y", length=0, pad=6)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    canvas.linear_scale(axes.xaxis, -0.03, 1.03)
    axes.set(xlabel="0: left out, 1: taken", ylabel="item")


def _line(axes: Axes, curve: Curve, k: int = 0) -> None:
    """The mean and its band; markers of different curves stand at different places."""
    marks = (k * 2 % _MARK_EVERY, _MARK_EVERY) if curve.x.size > 2 * _MARK_EVERY else 1
    order = 2.5 if curve.reference else 3
    settings = {"label": curve.label, "markevery": marks, "zorder": order, **curve.look}
    (line,) = axes.plot(curve.x, curve.mean, **settings)
    if not curve.reference and np.any(curve.high > curve.low):
        axes.fill_between(curve.x, curve.low, curve.high, color=line.get_color(), alpha=0.15, linewidth=0)


def _not_shown(labels: Sequence[str]) -> str:
    text = "In part or wholly zero or below, which a logarithmic scale cannot show"
    return f"{text}: {', '.join(labels)}." if labels else ""


def _round_axis(axes: Axes, curves: Sequence[Curve]) -> float:
    """A logarithmic axis of rounds; returns its first, for of long runs the first few are left out."""
    last = max(float(curve.x[-1]) for curve in curves)
    first = min(float(curve.x[0]) for curve in curves)
    if last >= 1000:
        first = max(first, 10.0)
    first = min([first, *(float(curve.x[-1]) for curve in curves)])
    canvas.log_scale(axes.xaxis, first if first < last else first / 2, last * 1.05)
    axes.set_xlabel("rounds")
    return first


def _span(parts: Sequence[FloatArray]) -> tuple[float, float]:
    """The least and the greatest number, with some room."""
    values = np.concatenate(parts)
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room
