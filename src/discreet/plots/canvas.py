"""Figures: their size, colours and settings, ticks with plain numbers, and files and SVG made of them."""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from discreet.atomic_files import write_atomically
from discreet.errors import InvalidArgument
from discreet.formatting import short_number
from discreet.imports import imported_from

with imported_from("report", "A figure needs"):
    import matplotlib
    import matplotlib.style
    from markupsafe import Markup, escape
    from matplotlib import ticker
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Okabe and Ito's colours, which people with any colour vision can tell apart; the last is for references.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
INK, MUTED, GRID = "#1B1F24", "#57606A", "#D8DEE4"  # of text and the best set, of what matters less, of grids
SIZE, PANEL = (6.1, 4.1), (5.0, 3.6)  # in inches (of 72 svg units), and those of a small panel
#: The kinds of pictures, and what must not be written into each: the time would make every file another.
KINDS: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
    "png": {},
    "pdf": {"CreationDate": None},
}
#: The colours that figures are drawn with, by the names that they have in the style sheets of pages.
NAMES = {f"s{k}": colour for k, colour in enumerate(COLOURS)} | {"ink": INK, "muted": MUTED, "grid": GRID}
_STEPS = [1, 2, 2.5, 5, 10]  # between ticks


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
    """A figure as a file of one of `KINDS`: the same numbers give the same bytes."""
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


def inline_svg(figure: Figure, name: str, title: str = "") -> Markup:
    """A figure as markup for a page; all text in it is text, and escaped.

    What it refers to has ids made from `name`. The `title` is for those who do not see it; without one it is
    decoration. A page may give other colours to what is drawn in one of `NAMES`.
    """
    settings = {"svg.fonttype": "none", "svg.hashsalt": name}
    text = picture(figure, "svg", settings, transparent=True).decode()
    said = f'role="img" aria-label="{escape(title)}"' if title else 'aria-hidden="true"'
    return Markup(f"<span {said}>{text[text.index('<svg') :].strip()}</span>")


def legend_entries(several: Sequence[Axes], name: str) -> list[tuple[Markup, str]]:
    """The lines that are drawn on the axes, once each: a sample as markup, and the label."""
    handles: dict[str, Any] = {}
    for axes in several:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return [(_sample(line, f"{name}-k{k}"), label) for k, (label, line) in enumerate(handles.items())]


def _sample(line: Line2D, name: str) -> Markup:
    figure = Figure(figsize=(0.5, 0.194))
    piece = Line2D([0.04, 0.5, 0.96], [0.5, 0.5, 0.5])
    piece.update_from(line)
    piece.set_markevery([1])
    piece.set_transform(figure.transFigure)  # place and limits are not those of the chart
    piece.set_clip_box(None)
    piece.set_clip_path(None)
    figure.add_artist(piece)
    return inline_svg(figure, name)


def log_scale(axis: Axis, low: float, high: float) -> None:
    """A logarithmic scale from low to high, with at least three numbers on it."""
    decades = math.log10(high / low)
    ticks: ticker.Locator = ticker.LogLocator(numticks=8)
    if decades < 2.2:
        ticks = ticker.MaxNLocator(7, steps=_STEPS) if decades < 0.9 else ticker.LogLocator(subs=(1, 2, 5))
    _scale(axis, "log", low, high, ticks)
    if decades >= 2.2:
        axis.set_minor_locator(ticker.LogLocator(subs="auto"))
        axis.set_minor_formatter(ticker.NullFormatter())


def linear_scale(axis: Axis, low: float, high: float) -> None:
    """A linear scale from low to high."""
    _scale(axis, "linear", low, high, ticker.MaxNLocator(6, steps=_STEPS))


def scale_of_values(axis: Axis, values: Sequence[float]) -> None:
    """A logarithmic scale with its ticks at the values themselves, where they are few."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.06 if high > low else 1.5
    log_scale(axis, low / room, high * room)
    gaps = [math.log(b / a) for a, b in itertools.pairwise(sorted(values))]
    if len(values) <= 8 and min(gaps, default=1.0) >= 0.09 * math.log(high / low):
        axis.set_major_locator(ticker.FixedLocator(list(values)))
        axis.set_minor_locator(ticker.NullLocator())


def _scale(axis: Axis, kind: str, low: float, high: float, ticks: ticker.Locator) -> None:
    name = "x" if axis is axis.axes.xaxis else "y"
    axis.axes.set(**{f"{name}scale": kind})
    axis.axes.set(**{f"{name}lim": (low, high)})
    axis.set_major_locator(ticks)
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: short_number(value)))
