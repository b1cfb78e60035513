"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def as_html(title: str, rows: Mapping[str, object], note: str = "") -> str:
    """A title, a row for each name and text, and a note; everything is escaped."""
    listed = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(text))}</td></tr>'
        for name, text in rows.items()
    )
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><strong>{escape(title)}</strong><table><tbody>{listed}</tbody></table>{below}</div>"
