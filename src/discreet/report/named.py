"""Traces with the names and looks that they have throughout a report."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

from discreet.report.numbers import difference
from discreet.simulation.labels import family, is_reference, labels
from discreet.simulation.looks import COLOURS, Look, looks
from discreet.simulation.trace import Trace


@dataclasses.dataclass(frozen=True, eq=False)
class Named:
    """A trace, what it is called, and how it looks."""

    trace: Trace
    label: str
    look: Look
    reference: bool

    @property
    def legend(self) -> str:
        """The label in legends, which says so where it is not private."""
        return self.label if self.trace.guarantee.private else f"{self.label} (not private)"

    @property
    def family(self) -> str:
        """The learner without its epsilon."""
        return family(self.label)

    @property
    def epsilon(self) -> float | None:
        """The epsilon it has or claims; None where it has none, or does not learn."""
        epsilon = self.trace.guarantee.epsilon
        return None if epsilon is None or self.reference or not 0 < epsilon < math.inf else epsilon

    @property
    def final_regret(self) -> tuple[float, float, float]:
        """Regret a round in the end: the mean over the seeds, and the ends of its 95% interval."""
        trace, rounds = self.trace, float(self.trace.checkpoints[-1])
        ends = (trace.mean_regret, *trace.band())
        of = [float(total[:, -1].mean()) / rounds for total in (trace.cost, trace.best)]
        mean, low, high = (difference(float(end[-1]) / rounds, *of) for end in ends)
        return mean, low, high


def by_environment(traces: Sequence[Trace]) -> list[list[Named]]:
    """Traces of the same environment together; labels look the same in all groups, if there are few."""
    groups: dict[tuple[str, ...], list[Trace]] = {}
    for trace in traces:
        ranges = f"{trace.kind} {trace.cost_range}"
        key = (trace.environment, repr(trace.items), ranges, repr(dict(trace.parameters)))
        groups.setdefault(key, []).append(trace)
    names = [labels(group) for group in groups.values()]
    references = {
        label
        for group, found in zip(groups.values(), names, strict=True)
        for trace, label in zip(group, found, strict=True)
        if is_reference(trace.learner)
    }
    every = looks(itertools.chain.from_iterable(names), references)
    shared = len(every) - len(references) < len(COLOURS)  # a colour each
    named = []
    for group, found in zip(groups.values(), names, strict=True):
        seen = every if shared else looks(found, references)
        pairs = zip(group, found, strict=True)
        named.append([Named(trace, label, seen[label], label in references) for trace, label in pairs])
    return named
