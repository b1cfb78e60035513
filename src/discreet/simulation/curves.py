"""Curves to be drawn: a mean with its interval, from traces or from elsewhere."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from discreet.checks import FloatArray
from discreet.simulation.intervals import mean_interval
from discreet.simulation.looks import BEST, Look

if TYPE_CHECKING:
    from discreet.simulation.trace import Trace


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """A mean over seeds and its 95% interval, at increasing x.

    Attributes:
        label: What it is called in the legend.
        x: Where it is known; a single nan stands for everywhere (a level that does not depend on x).
        mean: The mean over the seeds.
        low: The lower end of its interval.
        high: The upper end.
        look: How it is drawn.
        bound: A proved bound at each x, where there is one.
        reference: Whether it is there to compare with: the scales are chosen for the others.
        kind: What is measured: "cost" or "reward".
    """

    label: str
    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    look: Look
    bound: FloatArray | None = None
    reference: bool = False
    kind: str = "cost"

    @property
    def everywhere(self) -> bool:
        """Whether it is one number that does not depend on x."""
        return self.x.size == 1 and bool(np.isnan(self.x[0]))


def regret_curve(trace: Trace, label: str, look: Look, *, reference: bool = False) -> Curve:
    """Regret a round against rounds."""
    rounds = trace.checkpoints.astype(np.float64)
    mean, low, high = mean_interval(trace.regret / rounds)
    return Curve(label, rounds, mean, low, high, look, bound_of(trace), reference, trace.kind)


def bound_of(trace: Trace) -> FloatArray | None:
    """The proved bound on regret a round; None where in the end it exceeds what any choice could cost."""
    if trace.bound is None:
        return None
    bound: FloatArray = trace.bound / trace.checkpoints
    low, high = trace.cost_range
    return bound if bound[-1] < high - low else None


def cost_curve(trace: Trace, label: str, look: Look, *, reference: bool = False) -> Curve:
    """The mean cost (or reward) a round so far against rounds."""
    rounds = trace.checkpoints.astype(np.float64)
    interval = mean_interval(trace.cost / rounds)
    return Curve(label, rounds, *interval, look, reference=reference, kind=trace.kind)


def best_curve(trace: Trace, label: str = "best fixed set", look: Look = BEST) -> Curve:
    """What the best fixed set so far costs (or earns) a round."""
    rounds = trace.checkpoints.astype(np.float64)
    interval = mean_interval(trace.best / rounds)
    return Curve(label, rounds, *interval, look, reference=True, kind=trace.kind)
