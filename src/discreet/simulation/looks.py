"""How curves look: colours that everybody can tell apart, and a marker each for print in grey."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

#: Okabe and Ito's colours, which people with any colour vision can tell apart; the last is for references.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
#: Of text and of the best fixed set, of what matters less, and of the grid.
INK, MUTED, GRID = "#1B1F24", "#57606A", "#D8DEE4"

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES: tuple[Any, ...] = ("-", (0, (7, 1.5, 1.5, 1.5)), (0, (5, 1.5)))
_REFERENCE_MARKERS = ("x", "+", "1", "2")
_REFERENCE_LINES: tuple[Any, ...] = ((0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 2)), (0, (1, 3)))


@dataclasses.dataclass(frozen=True)
class Look:
    """The colour, the line and the marker of a curve."""

    colour: str
    line: Any
    marker: str
    width: float = 1.8

    def style(self) -> dict[str, Any]:
        """As matplotlib's `plot` takes it."""
        return {
            "color": self.colour,
            "linestyle": self.line,
            "linewidth": self.width,
            "marker": self.marker,
            "markersize": 5,
        }


#: The line of the best fixed set.
BEST = Look(INK, (0, (1, 1)), "", 1.6)


def looks(labels: Iterable[str], references: Iterable[str] = ()) -> dict[str, Look]:
    """A look for each label: colours for learners, grey for references such as the random set.

    Examples:
        >>> found = looks(["a", "b", "random set"], references=["random set"])
        >>> found["a"].colour, found["random set"].colour
        ('#0072B2', '#7F7F7F')
    """
    grey = set(references)
    unique = dict.fromkeys(labels)
    coloured = [label for label in unique if label not in grey]
    greyed = [label for label in unique if label in grey]
    return {label: _colour(k) for k, label in enumerate(coloured)} | {
        label: _grey(k) for k, label in enumerate(greyed)
    }


def bound_look(look: Look) -> Look:
    """How the proved bound of a curve looks: its colour, dashed."""
    return Look(look.colour, (0, (4, 2.5)), "", 1.3)


def _colour(k: int) -> Look:
    colours = len(COLOURS) - 1
    return Look(COLOURS[k % colours], _LINES[(k // colours) % len(_LINES)], _MARKERS[k % len(_MARKERS)])


def _grey(k: int) -> Look:
    line = _REFERENCE_LINES[k % len(_REFERENCE_LINES)]
    return Look(COLOURS[-1], line, _REFERENCE_MARKERS[k % len(_REFERENCE_MARKERS)], 1.4)
