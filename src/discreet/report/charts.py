"""Charts in a page: the figure, its legend below the curves, its caption."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from discreet.report.html import Html, element, joined
from discreet.report.svg import inline_svg
from discreet.simulation.canvas import figure_of, new_figure

#: The size of a sample in the legend, in inches of 72 units.
_SAMPLE = (0.5, 0.194)


def chart(name: str, axes: Axes, title: str, caption: Iterable[str] = (), *, legend: bool = True) -> Html:
    """A figure with a caption; the legend is part of the page, so that it stays readable on a phone.

    Args:
        name: Different for each chart of a page.
        axes: Have been drawn on.
        title: The first words of the caption, and what is read out.
        caption: More sentences.
        legend: Whether there is one, of all that has a label.
    """
    text = element("figcaption", element("strong", f"{title}."), " ", " ".join(caption))
    below = legend_of(name, [axes]) if legend else Html("")
    return element("figure", inline_svg(figure_of(axes), name, title), below, text)


def legend_of(name: str, several: Sequence[Axes]) -> Html:
    """A list of what is drawn on the axes, once each."""
    handles: dict[str, Any] = {}
    for axes in several:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    bars_first = sorted(handles.items(), key=lambda pair: not isinstance(pair[1], BarContainer))
    entries = [
        element("li", _sample(f"{name}-k{k}", handle), element("span", label))
        for k, (label, handle) in enumerate(bars_first)
    ]
    return element("ul", *entries, class_="legend")


def grid(charts: Iterable[Html], *, small: bool = False) -> Html:
    """Charts side by side, as many as fit."""
    return element("div", joined(*charts), class_="grid small" if small else "grid")


def _sample(name: str, handle: Any) -> Html:
    """A short piece of a line with its marker, or of a bar."""
    figure = new_figure(_SAMPLE, layout=None)
    piece: Artist
    if isinstance(handle, BarContainer):
        piece, like = Rectangle((0.04, 0.15), 0.92, 0.7), handle.patches[0]
    else:
        piece, like = Line2D([0.04, 0.5, 0.96], [0.5, 0.5, 0.5]), handle
    piece.update_from(like)
    if isinstance(piece, Line2D):
        piece.set_markevery([1])
    piece.set_transform(figure.transFigure)  # place and limits are not those of the chart
    piece.set_clip_box(None)
    piece.set_clip_path(None)
    figure.add_artist(piece)
    return inline_svg(figure, name)
