"""HTML from elements: all text is escaped, unless it is markup already."""

from __future__ import annotations

import html

#: Elements that have no end tag.
_EMPTY = {"meta"}


class Html(str):
    """Markup. Any other string is text, and is escaped where it becomes markup."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Html:
    """An element with its children.

    Args:
        name: Of the element.
        *children: Markup or text.
        **attributes: An underscore at the end is dropped, others become hyphens.

    Examples:
        >>> element("p", "a < b", element("b", "!"), class_="note")
        '<p class="note">a &lt; b<b>!</b></p>'
    """
    listed = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Html(f"<{name}{listed}>")
    return Html(f"<{name}{listed}>{joined(*children)}</{name}>")


def joined(*parts: str) -> Html:
    """One piece of markup out of several, of which those that are text are escaped."""
    return Html("".join(part if isinstance(part, Html) else html.escape(part) for part in parts))
