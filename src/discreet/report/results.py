"""Results: how one learner did in one environment, from a trace or from the rows of a sweep."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from discreet.plots.curves import COLOURS, Curve, Look, looks, regret_curve
from discreet.simulation.trace import Trace

#: Choices that do not learn, what learners are compared with, as reports and sweeps call them (where "full"
#: is a learner with full information).
_REFERENCES = {"random set", "empty set", "full set", "random", "empty", "everything"}
#: What is below this share of the costs that it is a sum or difference of is the rounding of sums.
_ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Result(Curve):
    """The regret per round of one configuration, and what came out in the end.

    Attributes:
        environment: Its name.
        learner: What the learner is called; the label says as well where it is not private.
        n: Items.
        epsilon: The epsilon it has or claims; None where it has none, or does not learn.
        seeds: How many.
        private: Whether it would be private.
        cost: The mean cost per round, or reward.
        best: That of the best fixed set.
    """

    environment: str
    learner: str
    n: int
    epsilon: float | None
    seeds: int
    private: bool
    cost: float
    best: float

    @property
    def rounds(self) -> int:
        return int(self.x[-1])

    @property
    def regret(self) -> float:
        return significant(float(self.mean[-1]), self.cost, self.best)

    @property
    def interval(self) -> list[float]:
        return [significant(float(end[-1]), self.cost, self.best) for end in (self.low, self.high)]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TraceResult(Result):
    """The result of a trace, which knows more than the rows of a sweep."""

    trace: Trace

    @property
    def gap(self) -> float:
        """How much larger regret may be, as a share of it, because the best set is not known exactly."""
        more = float((self.trace.regret_upper_bound[:, -1] - self.trace.regret[:, -1]).mean()) / self.rounds
        return more / max(abs(self.regret), 1e-9)


R = TypeVar("R", bound=Result)
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def grouped(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Things with the same key together, in the order in which they come."""
    found: dict[K, list[T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def significant(value: float, *terms: float) -> float:
    """A sum or difference of such terms; 0 where it is not more than their rounding.

    Examples:
        >>> significant(-3e-9, 0.25, 0.25), significant(0.01, 0.26, 0.25)
        (0.0, 0.01)
    """
    return value if abs(value) > _ROUNDING * max(map(abs, terms)) else 0.0


def is_reference(learner: str) -> bool:
    """Whether this is the name of a choice that does not learn.

    Examples:
        >>> is_reference("RandomSet"), is_reference("everything"), is_reference("full")
        (True, True, False)
    """
    return learner.startswith(("RandomSet", "FixedSet")) or learner.lower() in _REFERENCES


def family(learner: str) -> str:
    """The name without its epsilon: what stays the same when epsilon is varied.

    Examples:
        >>> family("BanditLearner (central, epsilon=0.5)"), family("PFTAL (epsilon=1)")
        ('BanditLearner (central)', 'PFTAL')
    """
    return re.sub(r"(, )?epsilon=[^,)]*", "", learner).replace("(, ", "(").replace(" ()", "")


def legend(learner: str, private: bool) -> str:
    """The name of a learner in legends, which says so where it is not private."""
    return learner if private else f"{learner} (not private)"


def with_looks(results: Sequence[R], like: Sequence[Curve] = ()) -> list[R]:
    """The results with a look each, the same as beside these; grey for what does not learn."""
    curves = like or results
    seen = looks((curve.label for curve in curves), [curve.label for curve in curves if curve.reference])
    return [dataclasses.replace(result, look=seen[result.label]) for result in results]


def by_environment(traces: Sequence[Trace]) -> list[list[TraceResult]]:
    """Traces of the same environment together; labels look the same in all groups, if there are few."""

    def made(trace: Trace) -> str:
        return repr((trace.environment, trace.items, trace.kind, trace.cost_range, dict(trace.parameters)))

    found = [
        [_result(trace, label) for trace, label in zip(group, labels(group), strict=True)]
        for group in grouped(traces, made).values()
    ]
    every = [result for group in found for result in group]
    few = len({result.learner for result in every if not result.reference}) < len(COLOURS)
    return [with_looks(group, every if few else group) for group in found]


def labels(traces: Sequence[Trace]) -> list[str]:
    """A name for each trace, all different: "empty set" rather than "FixedSet", a number after namesakes."""
    plain = [_label(trace) for trace in traces]
    return [
        f"{label} #{plain[: k + 1].count(label)}" if plain.count(label) > 1 else label
        for k, label in enumerate(plain)
    ]


def _label(trace: Trace) -> str:
    if trace.learner.startswith("RandomSet"):
        return "random set"
    if not trace.learner.startswith("FixedSet"):
        return trace.learner
    chosen = np.flatnonzero(trace.final_points[0])
    if chosen.size in (0, len(trace.items)):
        return "full set" if chosen.size else "empty set"
    if chosen.size > 3:
        return f"fixed set of {chosen.size} items"
    return "fixed set {" + ", ".join(str(trace.items[i]) for i in chosen) + "}"


def _result(trace: Trace, label: str) -> TraceResult:
    reference, private = is_reference(trace.learner), trace.guarantee.private
    curve = regret_curve(trace, legend(label, private), Look(), reference=reference)
    epsilon = trace.guarantee.epsilon
    known = epsilon is not None and not reference and 0 < epsilon < math.inf
    cost, best = (
        significant(float(total[:, -1].mean() / trace.checkpoints[-1]), *trace.cost_range)
        for total in (trace.cost, trace.best)
    )
    return TraceResult(
        **vars(curve),
        environment=trace.environment,
        learner=label,
        n=len(trace.items),
        epsilon=epsilon if known else None,
        seeds=len(trace.seeds),
        private=private,
        cost=cost,
        best=best,
        trace=trace,
    )
