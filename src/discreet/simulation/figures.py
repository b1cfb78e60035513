"""Figures of traces, for notebooks and for the report. Each is drawn here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.simulation.trace import Trace

#: Okabe and Ito's colours, which people with any colour vision can tell apart; black is left for the bounds.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")


def new_axes() -> Axes:
    """Axes of a figure of their own, which no window system is needed for."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def plot_trace(trace: Trace, axes: Axes | None = None, **style: Any) -> Axes:
    """Regret a round against rounds on logarithmic scales, the mean over the seeds with its 95% band."""
    axes = new_axes() if axes is None else axes
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
