"""Figures: their size, their settings, ticks with plain numbers, and how they are written."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from discreet.atomic_files import write_atomically
from discreet.errors import InvalidArgument
from discreet.formatting import short_number

#: Width and height in inches (of 72 svg units), and those of a small panel.
SIZE, PANEL = (6.1, 4.1), (5.0, 3.6)
#: The kinds of pictures, and what must not be written into each: the time would make every file another.
KINDS = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
#: Ticks are put at the values themselves if there are no more than this.
MOST_TICKS = 8


class NotebookAxes(Axes):
    """Axes that a notebook shows as a picture where they are the last value of a cell."""

    def _repr_png_(self) -> bytes:
        return picture(figure_of(self), "png")


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """This package's settings while the block lasts, whatever the user's own are."""
    with matplotlib.style.context(["default", "discreet.plots.discreet"]):
        yield


def new_panels(rows: int, columns: int, size: tuple[float, float], **layout: Any) -> list[Axes]:
    """Axes of one figure of this size, row by row; `layout` is what else matplotlib's `subplots` takes."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes_class = {"axes_class": NotebookAxes}
    return list(figure.subplots(rows, columns, squeeze=False, subplot_kw=axes_class, **layout).flat)


def new_axes(size: tuple[float, float] = SIZE) -> Axes:
    """Axes with a figure to themselves."""
    return new_panels(1, 1, size)[0]


def figure_of(axes: Axes) -> Figure:
    """The whole figure that axes are part of."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def picture(figure: Figure, kind: str, settings: Any = None, **options: Any) -> bytes:
    """A figure as a file of one of `KINDS`: the same numbers give the same bytes.

    `settings` are more settings of matplotlib, `options` what else its `savefig` takes.
    """
    written = io.BytesIO()
    with drawing(), matplotlib.rc_context(settings):  # ticks are made when they are drawn
        figure.savefig(written, format=kind, metadata=KINDS[kind], **options)
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
    ticks: Locator = LogLocator(subs=(1, 2, 5)) if decades < 2.2 else LogLocator(numticks=8)
    _scale(axis, "log", low, high, _round_steps(7) if decades < 0.9 else ticks)
    if decades >= 2.2:
        axis.set_minor_locator(LogLocator(subs="auto"))
        axis.set_minor_formatter(NullFormatter())


def linear_scale(axis: Axis, low: float, high: float) -> None:
    """A linear scale from low to high."""
    _scale(axis, "linear", low, high, _round_steps(6))


def scale_of_values(axis: Axis, values: Sequence[float]) -> None:
    """A logarithmic scale with its ticks at the values themselves, where they are few."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.06 if high > low else 1.5
    log_scale(axis, low / room, high * room)
    gaps = [math.log(b / a) for a, b in itertools.pairwise(sorted(values))]
    if len(values) <= MOST_TICKS and min(gaps, default=1.0) >= 0.09 * math.log(high / low):
        axis.set_major_locator(FixedLocator(list(values)))
        axis.set_minor_locator(NullLocator())


def _round_steps(most: int) -> Locator:
    return MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])


def _scale(axis: Axis, kind: str, low: float, high: float, ticks: Locator) -> None:
    name = "x" if axis is axis.axes.xaxis else "y"
    axis.axes.set(**{f"{name}scale": kind})
    axis.axes.set(**{f"{name}lim": (low, high)})
    axis.set_major_locator(ticks)
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
