"""The report of simulated learners."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.atomic_files import write_atomically
from discreet.errors import InvalidArgument
from discreet.report.html import Html, element
from discreet.report.named import Named, by_environment
from discreet.report.numbers import interval, number
from discreet.report.page import page, paragraphs, repeat_section, section
from discreet.report.summary import (
    NOTHING_PROMISED,
    data_warning,
    has_intervals,
    meaning_of_regret,
    summary_of,
)
from discreet.report.sweep_charts import against_section
from discreet.report.sweep_frame import SweepFrame
from discreet.report.tables import Kind, badge, table
from discreet.report.trace_charts import charts_of
from discreet.simulation.canvas import drawing
from discreet.simulation.curves import bound_of
from discreet.simulation.trace import Trace

if TYPE_CHECKING:
    import polars


def write_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    traces: Sequence[Trace],
    summary: str = "",
    command: str = "",
    frame: polars.DataFrame | None = None,
) -> pathlib.Path:
    """Write one HTML file that needs nothing else: figures, what they mean, guarantees, tables.

    The same arguments give the same bytes. The file is written whole or not at all.

    Args:
        path: Where to; a file that is there is replaced.
        title: The headline.
        traces: What `simulate` returned; those of `RandomSet` and `FixedSet` are taken as references. Several
            environments get a section each.
        summary: Words of your own before the generated ones; empty lines separate paragraphs.
        command: How to repeat it, shown as it is.
        frame: Results of a sweep (see `write_sweep_report`), for a figure of regret against epsilon.

    Returns:
        The path.

    Examples:
        >>> import tempfile
        >>> from discreet import baselines, environments, simulate
        >>> trace = simulate(environments.modular(n=3), baselines.RandomSet(3), rounds=64, seeds=2)
        >>> path = pathlib.Path(tempfile.mkdtemp(), "report.html")
        >>> write_report(path, title="A random set", traces=[trace]).read_text()[:15]
        '<!DOCTYPE html>'
    """
    if not traces:
        raise InvalidArgument("The 'traces' of write_report must be at least one. Got none.")
    groups = by_environment(traces)
    with drawing():
        sections = [
            section(heading, charts_of(f"e{k}", group))
            for k, (heading, group) in enumerate(zip(_headings(groups), groups, strict=True))
        ]
        if frame is not None:
            sections += against_section("frame-epsilon", SweepFrame(frame), "epsilon")
        sections += [
            _guarantees(groups),
            section("Numbers", *(_results(group) for group in groups)),
            section("Parameters", *(_parameters(group) for group in groups)),
            repeat_section(command),
        ]
        header = [
            paragraphs(summary),
            *(summary_of(group) for group in groups),
            *data_warning(trace.parameters for trace in traces),
            element(
                "p",
                meaning_of_regret(
                    any(has_intervals(group) for group in groups),
                    sorted({group[0].trace.kind for group in groups}),
                ),
            ),
        ]
        write_atomically(path, page(title, header, sections).encode())
        return pathlib.Path(path)


def _headings(groups: Sequence[Sequence[Named]]) -> list[str]:
    """Environments by name; namesakes that were made differently get a number."""
    names = [group[0].trace.environment for group in groups]
    return [
        f"What happened in {name}" + (f" #{names[: k + 1].count(name)}" if names.count(name) > 1 else "")
        for k, name in enumerate(names)
    ]


def _guarantees(groups: Sequence[Sequence[Named]]) -> Html:
    """Each promise once, with the learners that give it."""
    said: dict[str, dict[str, bool]] = {}
    for group in groups:
        for named in group:
            promise = named.trace.guarantee
            said.setdefault(str(promise), {})[named.label] = promise.private
    parts = []
    for text, names in said.items():
        private = all(names.values())
        kind = "guarantee" if private else "guarantee not-private"
        heading = element("h3", ", ".join(names), " ", badge(private))
        parts.append(element("article", heading, element("p", text), class_=kind))
    return section("What would be promised", element("p", NOTHING_PROMISED), *parts)


def _results(group: Sequence[Named]) -> Html:
    several, kind = has_intervals(group), group[0].trace.kind
    columns: dict[str, Kind] = {
        "learner": "text",
        "would be private?": "text",
        "regret a round": "number",
        **({"95% interval": "number"} if several else {}),
        f"{kind} a round": "number",
        "best fixed set": "number",
        "proved bound": "number",
        "rounds": "number",
        "seeds": "number",
    }
    return table(
        f"Final numbers in {group[0].trace.environment}; {kind}s, regret and bounds are per round.",
        columns,
        [_row(named, several) for named in group],
    )


def _row(named: Named, several: bool) -> list[str]:
    trace = named.trace
    rounds = int(trace.checkpoints[-1])
    mean, low, high = named.final_regret
    bound = bound_of(trace)
    return [
        named.label,
        badge(trace.guarantee.private),
        number(mean),
        *([interval(low, high) if len(trace.seeds) > 1 else "one seed"] if several else []),
        number(float(trace.cost[:, -1].mean()) / rounds),
        number(float(trace.best[:, -1].mean()) / rounds),
        "–" if bound is None else number(float(bound[-1])),
        f"{rounds:,}",
        f"{len(trace.seeds)}",
    ]


def _parameters(group: Sequence[Named]) -> Html:
    trace = group[0].trace
    environment = {"items": len(trace.items), f"{trace.kind}_range": trace.cost_range} | dict(
        trace.parameters
    )
    rows = [[f"environment {trace.environment}", _settings(environment), _seeds(group[0])]]
    rows += [[named.label, _settings(dict(named.trace.arguments)), _seeds(named)] for named in group]
    rows[0][2] = ""
    columns: dict[str, Kind] = {"what": "text", "parameters that were given": "long text", "seeds": "text"}
    return table(f"How {trace.environment} and its learners were made.", columns, rows)


def _settings(given: dict[str, object], most: int = 80) -> str:
    shown = (f"{name}={value!r}" for name, value in given.items())
    return ", ".join(text if len(text) <= most else text[: most - 1] + "…" for text in shown) or "–"


def _seeds(named: Named) -> str:
    """Consecutive seeds as a range."""
    seeds = named.trace.seeds
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
