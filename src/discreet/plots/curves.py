"""Curves to be drawn: a mean with its interval, and a look that everybody can tell from others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.checks import FloatArray
from discreet.intervals import mean_interval

if TYPE_CHECKING:
    from discreet.simulation.trace import Trace

#: Okabe and Ito's colours, which people with any colour vision can tell apart; the last is for references.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
#: Of text and of the best fixed set, of what matters less, and of the grid.
INK, MUTED, GRID = "#1B1F24", "#57606A", "#D8DEE4"

#: How a curve is drawn, as matplotlib's `plot` takes it.
Look = Mapping[str, Any]
#: What differs for the proved bound of a curve, and for the best fixed set that it is compared with.
BOUND: Look = {"linestyle": (0, (4, 2.5)), "marker": "", "linewidth": 1.3}
BEST: Look = {"linestyle": (0, (1, 1)), "marker": "", "linewidth": 1.6}

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES: tuple[Any, ...] = ("-", (0, (7, 1.5, 1.5, 1.5)), (0, (5, 1.5)))
_REFERENCE_MARKERS = ("x", "+", "1", "2")
_REFERENCE_LINES: tuple[Any, ...] = ((0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 2)), (0, (1, 3)))


def looks(labels: Iterable[str], references: Iterable[str] = ()) -> dict[str, Look]:
    """A look for each label: colours for learners, grey for references such as the random set."""
    grey, unique = set(references), dict.fromkeys(labels)
    *colours, last = COLOURS
    found = {}
    for k, label in enumerate(label for label in unique if label not in grey):
        line = _LINES[k // len(colours) % len(_LINES)]
        found[label] = _look(colours[k % len(colours)], line, _MARKERS[k % len(_MARKERS)], 1.8)
    for k, label in enumerate(label for label in unique if label in grey):
        found[label] = _look(last, _REFERENCE_LINES[k % 4], _REFERENCE_MARKERS[k % 4], 1.4)
    return found


def _look(colour: str, line: Any, marker: str, width: float) -> Look:
    return {"color": colour, "linestyle": line, "linewidth": width, "marker": marker, "markersize": 5}


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """A mean over seeds and its 95% interval, at increasing x; an x of nan stands for everywhere.

    A curve may have a proved bound at each x. References are there to compare with: the scales are chosen for
    the others. The kind is what is measured, "cost" or "reward".
    """

    label: str
    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    look: Look = dataclasses.field(default_factory=dict)
    bound: FloatArray | None = None
    reference: bool = False
    kind: str = "cost"


def regret_curve(trace: Trace, label: str, look: Look, *, reference: bool = False) -> Curve:
    """Regret per round against rounds, with the proved bound unless it exceeds what any choice could cost."""
    low, high = trace.cost_range
    bound = None if trace.bound is None else trace.bound / trace.checkpoints
    if bound is not None and bound[-1] >= high - low:
        bound = None
    return _per_round(trace, trace.regret, label, look, bound=bound, reference=reference)


def cost_curve(trace: Trace, label: str, look: Look, *, reference: bool = False) -> Curve:
    """The mean cost (or reward) per round so far against rounds."""
    return _per_round(trace, trace.cost, label, look, reference=reference)


def best_curve(trace: Trace, label: str = "best fixed set", colour: str = INK) -> Curve:
    """What the best fixed set so far costs (or earns) per round."""
    return _per_round(trace, trace.best, label, {"color": colour, **BEST}, reference=True)


def _per_round(trace: Trace, totals: FloatArray, label: str, look: Look, **more: Any) -> Curve:
    rounds = trace.checkpoints.astype(np.float64)
    return Curve(label, rounds, *mean_interval(totals / rounds), look, kind=trace.kind, **more)
