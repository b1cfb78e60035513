"""Axes of this package's figures: their size, their settings, and ticks with plain numbers."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from discreet.simulation.looks import COLOURS, GRID, INK, MUTED

#: Width and height in inches (of 72 svg units).
SIZE = (6.1, 4.1)
#: The same of a small panel.
PANEL = (5.0, 3.6)
#: Dots per inch of a picture in a notebook.
DPI = 144
#: Ticks are put at the values themselves if there are no more than this.
MOST_TICKS = 8

_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 12,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": cycler(color=list(COLOURS)),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 12,
    "font.family": ["DejaVu Sans"],
    "font.size": 12,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 11.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 11.5,
}


class NotebookAxes(Axes):
    """Axes that a notebook shows as a picture where they are the last value of a cell."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with drawing():  # ticks are made when they are drawn
            self.get_figure(root=True).savefig(picture, format="png", dpi=DPI)  # type: ignore[union-attr]
        return picture.getvalue()


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """This package's settings while the block lasts, whatever the user's own are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def new_axes(size: tuple[float, float] = SIZE) -> Axes:
    """Axes of a figure of their own, which no window system is needed for."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot(axes_class=NotebookAxes)


def plain_number(number: float, _: object = None) -> str:
    """A tick in few characters.

    Examples:
        >>> [plain_number(x) for x in (1, 20_000, 3e6, 0.05, -0.5, 0.00002)]
        ['1', '20k', '3M', '0.05', '−0.5', '2e−05']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{letter}".replace("-", "−")
    return f"{number:.3g}".replace("-", "−")


def log_scale(axis: Axis, low: float, high: float) -> None:
    """A logarithmic scale from low to high, with at least three numbers on it."""
    decades = math.log10(high / low)
    _set_scale(axis, "log", low, high)
    if decades < 0.9:
        axis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        axis.set_minor_locator(NullLocator())
    elif decades < 2.2:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(numticks=8))
    axis.set_major_formatter(FuncFormatter(plain_number))
    axis.set_minor_formatter(NullFormatter())


def linear_scale(axis: Axis, low: float, high: float) -> None:
    """A linear scale from low to high."""
    _set_scale(axis, "linear", low, high)
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(plain_number))


def scale_of_values(axis: Axis, values: Sequence[float]) -> None:
    """A logarithmic scale with its ticks at the values themselves, where they are few."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.06 if high > low else 1.5
    log_scale(axis, low / room, high * room)
    gaps = [math.log(b / a) for a, b in itertools.pairwise(sorted(values))]
    if len(values) <= MOST_TICKS and min(gaps, default=1.0) >= 0.09 * math.log(high / low):
        axis.set_major_locator(FixedLocator(list(values)))
        axis.set_minor_locator(NullLocator())


def _set_scale(axis: Axis, kind: str, low: float, high: float) -> None:
    axes = axis.axes
    if axis is axes.xaxis:
        axes.set_xscale(kind)
        axes.set_xlim(low, high)
    else:
        axes.set_yscale(kind)
        axes.set_ylim(low, high)
