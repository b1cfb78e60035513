"""This package's figures: their size, their settings, ticks with plain numbers, and how they are written."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

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

from discreet.atomic_files import write_atomically
from discreet.errors import InvalidArgument
from discreet.simulation.looks import COLOURS, GRID, INK, MUTED
from discreet.simulation.short_numbers import short_number

#: Width and height in inches (of 72 svg units).
SIZE = (6.1, 4.1)
#: The same of a small panel.
PANEL = (5.0, 3.6)
#: Dots per inch of a picture in a notebook.
DPI = 144
#: The kinds of pictures, and what must not be written into each: the time would make every file another.
KINDS = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
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
        return picture(figure_of(self), "png")


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """This package's settings while the block lasts, whatever the user's own are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def new_figure(size: tuple[float, float], *, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """A figure with nothing on it, which no window system is needed for."""
    figure = Figure(figsize=size, layout=layout)
    FigureCanvasAgg(figure)
    return figure


def new_axes(size: tuple[float, float] = SIZE) -> Axes:
    """Axes of a figure of their own."""
    return new_figure(size).add_subplot(axes_class=NotebookAxes)


def new_panels(rows: int, columns: int, size: tuple[float, float], **layout: Any) -> list[Axes]:
    """Several axes in one figure, row by row.

    Args:
        rows: How many rows of panels.
        columns: How many in a row.
        size: Of the whole figure.
        layout: More that matplotlib's `subplots` takes: `sharex`, `height_ratios` and so on.
    """
    panels = new_figure(size).subplots(
        rows, columns, squeeze=False, subplot_kw={"axes_class": NotebookAxes}, **layout
    )
    return list(panels.flat)


def figure_of(axes: Axes) -> Figure:
    """The whole figure that axes are part of."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def picture(figure: Figure, kind: str, *, text: bool = False, **options: Any) -> bytes:
    """A figure as a file: the same numbers give the same bytes.

    Args:
        figure: With all that is drawn on it.
        kind: One of `KINDS`.
        text: Whether the text of an SVG stays text, in a font of the reader's, instead of becoming paths.
        options: More that matplotlib's `savefig` takes.
    """
    metadata = KINDS[kind] | options.pop("metadata", {})
    settings: Any = {"svg.hashsalt": "discreet", "svg.fonttype": "none" if text else "path"}
    written = io.BytesIO()
    with drawing(), matplotlib.rc_context(settings):  # ticks are made when they are drawn
        figure.savefig(written, format=kind, dpi=DPI, metadata=metadata, **options)
    return written.getvalue()


def save(axes: Axes, path: str | os.PathLike[str]) -> None:
    """Write the whole figure of some axes to a file, at once or not at all; its ending says the kind."""
    write_atomically(path, picture(figure_of(axes), kind_of(path)))


def kind_of(path: str | os.PathLike[str]) -> str:
    """The kind of picture that the ending of a name says: one of `KINDS`, svg where it says nothing."""
    target = pathlib.Path(path)
    kind = target.suffix.lstrip(".").lower() or "svg"
    if kind not in KINDS:
        raise InvalidArgument(f"Pictures can be svg, png or pdf. Got {target.name} instead.")
    return kind


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
    axis.set_major_formatter(_short_ticks())
    axis.set_minor_formatter(NullFormatter())


def linear_scale(axis: Axis, low: float, high: float) -> None:
    """A linear scale from low to high."""
    _set_scale(axis, "linear", low, high)
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(_short_ticks())


def scale_of_values(axis: Axis, values: Sequence[float]) -> None:
    """A logarithmic scale with its ticks at the values themselves, where they are few."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.06 if high > low else 1.5
    log_scale(axis, low / room, high * room)
    gaps = [math.log(b / a) for a, b in itertools.pairwise(sorted(values))]
    if len(values) <= MOST_TICKS and min(gaps, default=1.0) >= 0.09 * math.log(high / low):
        axis.set_major_locator(FixedLocator(list(values)))
        axis.set_minor_locator(NullLocator())


def _short_ticks() -> FuncFormatter:
    return FuncFormatter(lambda number, _: short_number(number))


def _set_scale(axis: Axis, kind: str, low: float, high: float) -> None:
    axes = axis.axes
    if axis is axes.xaxis:
        axes.set_xscale(kind)
        axes.set_xlim(low, high)
    else:
        axes.set_yscale(kind)
        axes.set_ylim(low, high)
