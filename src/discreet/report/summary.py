"""What was simulated and what came out, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.report.html import Html, element, joined
from discreet.report.named import Named
from discreet.report.numbers import interval, listed, number, percent
from discreet.report.tables import badge
from discreet.simulation.data_files import about_data
from discreet.simulation.intervals import mean_interval
from discreet.simulation.short_numbers import counted
from discreet.simulation.trace import Trace

#: Learners whose results are told in words; the table has all.
MOST_LISTED = 6
#: What no page may leave open.
NOTHING_PROMISED = (
    "What is said about privacy is what each learner would promise when it is used. The simulated runs are "
    "seeded, so that they can be repeated, and this page has exact sums: neither promises anything."
)


def summary_of(group: Sequence[Named]) -> Html:
    """Sentences about the traces of one environment."""
    learners = [named for named in group if not named.reference]
    references = [named for named in group if named.reference]
    shown = sorted(
        learners or references,
        key=lambda named: (not named.trace.guarantee.private, float(named.trace.mean_regret[-1])),
    )
    results = [
        element(
            "li",
            element("strong", named.label),
            " ",
            badge(named.trace.guarantee.private),
            Html("<br>"),
            text,
        )
        for named in shown[:MOST_LISTED]
        for text in [_result(named, references if learners else [])]
    ]
    if len(shown) > MOST_LISTED:
        results.append(element("li", f"{len(shown) - MOST_LISTED} more are in the table below."))
    return joined(element("p", _setting(group)), element("ul", *results), *_warnings(group))


def meaning_of_regret(intervals: bool, kinds: Iterable[str] = ("cost",)) -> str:
    """What the numbers mean, and their intervals, if there are any."""
    verbs = [{"cost": ("paid more", "cost"), "reward": ("earned less", "earned")}[kind] for kind in kinds]
    texts = [
        f"Regret is what was {compared} than the best fixed set, chosen in hindsight, would have {had}."
        for compared, had in verbs
    ]
    if intervals:
        texts.append("Intervals are 95% confidence intervals of the mean over the seeds.")
    return " ".join(texts)


def data_warning(parameters: Iterable[Mapping[str, Any]]) -> list[Html]:
    """What to do with a page about people's data, for environments with such parameters."""
    warning = about_data(parameters)
    return [element("p", element("strong", warning))] if warning else []


def has_intervals(group: Sequence[Named]) -> bool:
    """Whether any trace has several seeds."""
    return any(len(named.trace.seeds) > 1 for named in group)


def _setting(group: Sequence[Named]) -> str:
    trace = group[0].trace
    low, high = trace.cost_range
    rounds = sorted({int(named.trace.checkpoints[-1]) for named in group})
    seeds = sorted({len(named.trace.seeds) for named in group})
    learners = sum(not named.reference for named in group)
    others = len(group) - learners
    who = [counted(learners, "learner")] if learners else []
    if others:
        who.append(f"{counted(others, 'choice')} that {'does' if others == 1 else 'do'} not learn")
    return (
        f"{listed(who)} played {_range(rounds, 'round')} in {trace.environment} "
        f"({counted(len(trace.items), 'item')}, {trace.kind}s from {number(low)} to {number(high)}), with "
        f"{_range(seeds, 'seed')} each. {trace.about}"
    ).strip()


def _range(counts: list[int], noun: str) -> str:
    first = f"{counts[0]:,} to " if len(counts) > 1 else ""
    return first + counted(counts[-1], noun)


def _result(named: Named, references: Sequence[Named]) -> str:
    trace = named.trace
    rounds = int(trace.checkpoints[-1])
    mean, low, high = named.final_regret
    text = f"Regret {number(mean)} a round"
    if len(trace.seeds) > 1:
        text += f" (95% interval {interval(low, high)})"
    text += f", {trace.kind} {number(float(trace.cost[:, -1].mean()) / rounds)} a round."
    return " ".join([text, *_comparisons(trace, references)])


def _comparisons(trace: Trace, references: Sequence[Named]) -> list[str]:
    """Whether it did better than choices that do not learn, by what share of their regret."""
    better: list[str] = []
    worse: list[str] = []
    unclear: list[str] = []
    for named in references:
        other = named.trace
        if other.checkpoints[-1] != trace.checkpoints[-1]:
            continue
        sign = _sign_of_difference(trace, other)
        name = f"the {named.label}"
        mine, theirs = float(trace.mean_regret[-1]), float(other.mean_regret[-1])
        if sign > 0 and theirs > 0 and mine > 0:
            better.append(f"{name} (by {percent(1 - mine / theirs)})")
        else:
            (better if sign > 0 else worse if sign < 0 else unclear).append(name)
    return [
        f"{words} {listed(names)}."
        for words, names in (
            ("Less regret than", better),
            ("MORE regret than", worse),
            ("No clear difference from", unclear),
        )
        if names
    ]


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


def _warnings(group: Sequence[Named]) -> list[Html]:
    """What a reader must know before trusting the numbers."""
    warnings = []
    stopped = [named.label for named in group if named.trace.interrupted]
    if stopped:
        warnings.append(f"Stopped before all seeds were done: {listed(stopped)}.")
    if any(len(named.trace.seeds) == 1 for named in group):
        warnings.append("With one seed there is no interval, and no telling what is chance.")
    loose = [named.label for named in group if _gap(named.trace) > 1e-3]
    if loose:
        warnings.append(
            "The best fixed set is only known up to a gap, so regret may be larger than shown, for "
            f"{listed(loose)}."
        )
    return [element("p", warning) for warning in warnings]


def _gap(trace: Trace) -> float:
    """How much larger regret may be in the end, as a share of it."""
    more = float((trace.regret_upper_bound[:, -1] - trace.regret[:, -1]).mean())
    return more / max(abs(float(trace.mean_regret[-1])), 1e-9 * float(trace.checkpoints[-1]))
