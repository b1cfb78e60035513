"""matplotlib's figures as SVG inside a page: text stays text, and colours are the page's."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from discreet.plots.canvas import picture
from discreet.plots.curves import COLOURS, GRID, INK, MUTED

#: The page's variable for each colour that figures are drawn with; the colour itself where there is none.
_NAMES = {f"s{k}": colour for k, colour in enumerate(COLOURS)} | {"ink": INK, "muted": MUTED, "grid": GRID}
_VARIABLES = {colour.lower(): f"var(--{name},{colour.lower()})" for name, colour in _NAMES.items()}


def inline_svg(figure: Figure, name: str, title: str = "") -> str:
    """A figure as markup for a page; all text in it is escaped.

    Its ids begin with `name`, different for each figure of a page. The `title` says what it shows to those
    who do not see it; without one it counts as decoration.
    """
    text = picture(figure, "svg", {"svg.fonttype": "none"}, transparent=True).decode()
    box = re.search(r'<svg [^>]*(viewBox="[^"]*")', text)
    assert box is not None
    # Of the file only what is drawn: its metadata and its style rules would be those of the whole page.
    drawn = text[text.index("</defs>") + len("</defs>") : text.rindex("</svg>")]
    drawn = re.sub(r"<[^>]*>\s*", lambda tag: _tidied(tag.group(), name), drawn)
    said, heading = 'aria-hidden="true"', ""
    if title:
        said = f'role="img" aria-labelledby="{name}-title"'
        heading = f'<title id="{name}-title">{html.escape(title)}</title>'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {box[1]} stroke-linejoin="round" {said}>'
    return f"{opening}{heading}{drawn.strip()}</svg>"


def legend_entries(several: Sequence[Axes], name: str) -> list[tuple[str, str]]:
    """What is drawn on the axes, once each, bars first: a sample as markup, and its label."""
    handles: dict[str, Any] = {}
    for axes in several:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    bars_first = sorted(handles.items(), key=lambda pair: not isinstance(pair[1], BarContainer))
    return [(_sample(handle, f"{name}-k{k}"), label) for k, (label, handle) in enumerate(bars_first)]


def _sample(handle: Any, name: str) -> str:
    """A short piece of a line with its marker, or of a bar."""
    figure = Figure(figsize=(0.5, 0.194))
    piece: Artist
    if isinstance(handle, BarContainer):
        piece = Rectangle((0.04, 0.15), 0.92, 0.7)
        piece.update_from(handle.patches[0])
    else:
        piece = Line2D([0.04, 0.5, 0.96], [0.5, 0.5, 0.5])
        piece.update_from(handle)
        piece.set_markevery([1])
    piece.set_transform(figure.transFigure)  # place and limits are not those of the chart
    piece.set_clip_box(None)
    piece.set_clip_path(None)
    figure.add_artist(piece)
    return inline_svg(figure, name)


def _tidied(tag: str, name: str) -> str:
    """A tag with the page's colours, ids of this figure, and coordinates of two decimals."""
    tag = re.sub(r'^<g id="[^"]*"', "<g", " ".join(tag.split()))
    tag = re.sub(r'\b(id="|url\(#|href="#)', rf"\1{name}-", tag.replace("xlink:href", "href"))
    tag = re.sub(r"#[0-9a-f]{6}\b", lambda found: _VARIABLES.get(found[0], found[0]), tag)
    return re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), tag)
