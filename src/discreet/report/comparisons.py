"""Who did better: learners against choices that do not learn, and all learners of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.formatting import counted, listed, number, percent
from discreet.intervals import mean_interval
from discreet.report.panels import from_the_middle, longest, panels_of
from discreet.report.results import Result, TraceResult
from discreet.simulation.trace import Trace


def compared(group: Sequence[TraceResult]) -> list[tuple[TraceResult, str]]:
    """The learners, private ones first, and sentences that compare them with what does not learn."""
    learners = [result for result in group if not result.reference]
    references = [result for result in group if result.reference] if learners else []
    ordered = sorted(learners or group, key=lambda r: (not r.private, float(r.trace.mean_regret[-1])))
    return [(result, " ".join(_comparisons(result, references))) for result in ordered]


def ranking(group: Sequence[Result]) -> tuple[str, str]:
    """A heading, and all learners of an environment, for a middle number of items and a middle epsilon."""
    panel = from_the_middle(panels_of(group, "rounds"))[0]
    members = sorted(longest(panel.results), key=lambda result: result.regret)
    rounds = max(result.rounds for result in members)
    texts = [
        f"{r.learner} {number(r.regret)}" + (f" (after {r.rounds:,})" if r.rounds < rounds else "")
        for r in members
    ]
    return f"{panel.title}, {counted(rounds, 'round')}", listed(texts)


def _comparisons(result: TraceResult, references: Sequence[TraceResult]) -> list[str]:
    """Whether it did better than choices that do not learn, by what share of their regret."""
    names: dict[int, list[str]] = {1: [], -1: [], 0: []}
    for other in references:
        if other.rounds == result.rounds:
            sign = _sign_of_difference(result.trace, other.trace)
            by = ""
            if sign > 0 and other.regret > 0 and result.regret > 0:
                by = f" (by {percent(1 - result.regret / other.regret)})"
            names[sign].append(f"the {other.learner}{by}")
    words = {1: "Less regret than", -1: "MORE regret than", 0: "No clear difference from"}
    return [f"{words[sign]} {listed(found)}." for sign, found in names.items() if found]


def _sign_of_difference(trace: Trace, other: Trace) -> int:
    """1 if the other's regret is larger, -1 if it is smaller, 0 if the 95% interval leaves that open.

    The interval is that of the difference over the seeds that both have, which met the same stream.
    """
    common = [seed for seed in trace.seeds if seed in other.seeds]
    if not common:
        (low, high), (other_low, other_high) = trace.band(), other.band()
        return int(other_low[-1] > high[-1]) - int(other_high[-1] < low[-1])
    mine = trace.regret[[trace.seeds.index(seed) for seed in common], -1:]
    theirs = other.regret[[other.seeds.index(seed) for seed in common], -1:]
    _, least, most = mean_interval(theirs - mine)
    return int(least[0] > 0) - int(most[0] < 0)
