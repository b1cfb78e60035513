"""matplotlib's figures as SVG inside a page: text stays text, and colours are the page's."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from matplotlib.figure import Figure

from discreet.report.html import Html
from discreet.simulation.canvas import picture
from discreet.simulation.looks import COLOURS, GRID, INK, MUTED

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
#: The page's variable for each colour that figures are drawn with; the colour itself where there is none.
_VARIABLES = {colour.lower(): f"var(--s{k},{colour.lower()})" for k, colour in enumerate(COLOURS)} | {
    INK.lower(): f"var(--ink,{INK.lower()})",
    MUTED.lower(): f"var(--muted,{MUTED.lower()})",
    GRID.lower(): f"var(--grid,{GRID.lower()})",
}
#: Attributes with coordinates, which need no more than two decimals.
_COORDINATES = ("d", "x", "y", "width", "height", "transform", "points")
_METADATA = {"Creator": None, "Format": None, "Type": None}


def inline_svg(figure: Figure, name: str, title: str = "") -> Html:
    """A figure as markup, the same for the same figure.

    Args:
        figure: With all that is drawn on it.
        name: Begins the ids of its elements, so that they differ from those of other figures.
        title: What it shows, for those who do not see it; without one it counts as decoration.
    """
    root = ElementTree.fromstring(picture(figure, "svg", text=True, transparent=True, metadata=_METADATA))
    _keep_what_is_drawn(root)
    _name_ids(root, name)
    for node in root.iter():
        node.tag = node.tag.removeprefix(f"{{{_SVG}}}")
        _tidy(node)
    width, height = (root.attrib.pop(side).removesuffix("pt") for side in ("width", "height"))
    root.attrib.clear()
    root.attrib.update(
        {
            "xmlns": _SVG,
            "viewBox": f"0 0 {_rounded(width)} {_rounded(height)}",
            "stroke-linejoin": "round",
        }
    )
    if title:
        root.attrib.update({"role": "img", "aria-labelledby": f"{name}-title"})
        heading = ElementTree.Element("title", {"id": f"{name}-title"})
        heading.text = title
        root.insert(0, heading)
    else:
        root.set("aria-hidden", "true")
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _keep_what_is_drawn(root: ElementTree.Element) -> None:
    """Drop data about the file, and style rules, which would hold for the whole page."""
    for node in list(root.iter()):
        for child in list(node):
            if child.tag.endswith(("}metadata", "}style")):
                node.remove(child)
    for node in list(root.iter()):
        for child in list(node):
            if child.tag == f"{{{_SVG}}}defs" and len(child) == 0:
                node.remove(child)


def _name_ids(root: ElementTree.Element, name: str) -> None:
    """Give ids that are referred to a name of this figure's own, and drop the others."""
    used: dict[str, str] = {}
    for node in root.iter():
        target = node.attrib.pop(_LINK, None)
        if target is not None:
            node.set("href", "#" + used.setdefault(target[1:], f"{name}-{len(used)}"))
        for key, value in node.attrib.items():
            if "url(#" in value:
                old = value.split("url(#")[1].split(")")[0]
                node.set(key, value.replace(old, used.setdefault(old, f"{name}-{len(used)}")))
    for node in root.iter():
        old_id = node.attrib.pop("id", None)
        if old_id in used:
            node.set("id", used[old_id])


def _tidy(node: ElementTree.Element) -> None:
    for key in _COORDINATES:
        if key in node.attrib:
            node.set(key, _rounded(" ".join(node.attrib[key].split())))
    if "style" in node.attrib:
        node.set("style", _page_style(node.attrib["style"]))
    for part in ("text", "tail"):  # line breaks between elements
        text = getattr(node, part)
        if text is not None and not text.strip():
            setattr(node, part, None)


def _page_style(style: str) -> str:
    """Colours of the page; the font is that of the page as well."""
    kept = []
    for rule in style.split(";"):
        key, _, value = (part.strip() for part in rule.partition(":"))
        if key == "font":  # size and family at once
            size = re.search(r"[\d.]+px", value)
            key, value = "font-size", size.group() if size else "11px"
        if key and key != "font-family":
            kept.append(f"{key}:{_VARIABLES.get(value.lower(), value)}")
    return ";".join(kept)


def _rounded(text: str) -> str:
    def two(match: re.Match[str]) -> str:
        return f"{float(match.group()):.2f}".rstrip("0").rstrip(".")

    return re.sub(r"-?\d+\.\d{3,}", two, text)
