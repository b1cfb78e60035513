"""Tables that scroll inside their own box where a screen is narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from discreet.report.html import Html, element

Kind = Literal["text", "number", "long text"]

#: A class of the style sheet for each kind of column.
_CLASSES: dict[Kind, dict[str, str]] = {
    "text": {},
    "number": {"class_": "number"},
    "long text": {"class_": "long"},
}


def table(caption: str, columns: Mapping[str, Kind], rows: Sequence[Sequence[str]]) -> Html:
    """A table whose first column names the rows.

    Args:
        caption: What it shows.
        columns: The title of each column and what it holds; numbers are set flush right.
        rows: The cells, as text or markup.
    """
    classes = [_CLASSES[kind] for kind in columns.values()]
    head = element(
        "tr",
        *(element("th", title, scope="col", **css) for title, css in zip(columns, classes, strict=True)),
    )
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", cell, **css) for cell, css in zip(row[1:], classes[1:], strict=True)),
        )
        for row in rows
    ]
    whole = element("table", element("thead", head), element("tbody", *body))
    # A region that scrolls must be reachable by keyboard. The caption stays outside, where it can wrap.
    box = element("div", whole, class_="scroll", role="region", aria_label=caption, tabindex="0")
    return element("figure", element("figcaption", caption), box, class_="table")


def badge(private: bool) -> Html:
    """Whether a learner would be private when it is used, in words and in colour; no simulation is."""
    if private:
        return element("span", "would be private", class_="badge private")
    return element("span", "NOT PRIVATE", class_="badge not-private")
