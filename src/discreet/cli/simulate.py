"""The command ``discreet simulate``."""

from __future__ import annotations

import json as json_module
import pathlib
import sys
from typing import Any

from discreet import checks
from discreet.cli.output import command_line, print_json, require_place, table, wrapped
from discreet.environments import Environment, as_environment
from discreet.errors import InvalidArgument
from discreet.formatting import counted, decimals
from discreet.simulation import Trace, simulate
from discreet.simulation.builtin_learners import Setting, find_learner, template_of
from discreet.simulation.compare import write_parquet
from discreet.simulation.sweep import ROUNDS
from discreet.simulation.trace import about_data


def run(
    stream: str,
    learners: list[str],
    n: int | None,
    epsilon: float,
    rounds: int | None,
    seeds: int,
    parameters: list[str],
    report: pathlib.Path | None,
    frame: pathlib.Path | None,
    json: bool,
    progress: bool,
) -> None:
    """Simulate each learner, print a table, write what was asked for."""
    require_place(report, frame)
    items = None if n is None else range(checks.integer(stream, "n", n, 1))
    environment = as_environment(stream, items=items, rounds=rounds or ROUNDS, parameters=parsed(parameters))
    if n is not None and environment.n != n:
        raise InvalidArgument(f"The environment {stream} has {environment.n} items, not {n}.")
    length = min(ROUNDS, environment.most_rounds or ROUNDS) if rounds is None else rounds
    traces = traces_of(environment, learners, epsilon, length, seeds, progress)
    if json:
        print_json([summary_of(trace) for trace in traces])
    else:
        print(regret_table(traces))
    if frame is not None:
        import polars

        write_parquet(frame, polars.concat([trace.to_frame() for trace in traces]))
    if report is not None:
        from discreet.report import write_report

        title = f"{stream}: {', '.join(learners)}"
        write_report(report, title=title, traces=traces, command=command_line())
    for path, what in ((report, "report"), (frame, "curves")):
        if path is not None and not json:
            print(f"The {what}: {path}")


def traces_of(
    environment: Environment, learners: list[str], epsilon: float, rounds: int, seeds: int, progress: bool
) -> list[Trace]:
    """A trace for each learner. After Ctrl-C those that were finished; all names are checked first."""
    chosen = [find_learner(name) for name in learners]
    traces: list[Trace] = []
    for entry in chosen:
        setting = Setting(environment.items, epsilon, environment.cost_range, rounds)
        learner = template_of(entry, setting)
        traces.append(simulate(environment, learner, rounds=rounds, seeds=seeds, progress=progress))
        if traces[-1].interrupted:
            print("interrupted: only the runs that were finished are shown", file=sys.stderr)
            break
    return traces


def regret_table(traces: list[Trace]) -> str:
    """One line per learner: regret per round, half its 95% interval where there are several seeds, cost.

    Below it who would be private, and a warning where the data are real.
    """
    several = any(len(trace.seeds) > 1 for trace in traces)
    rows = []
    for trace in traces:
        last = trace.checkpoints[-1]
        half = float(trace.band()[1][-1] - trace.mean_regret[-1]) / last
        rows.append(
            [
                trace.learner,
                decimals(trace.mean_regret[-1] / last),
                *([decimals(half) if len(trace.seeds) > 1 else ""] if several else []),
                decimals(trace.cost[:, -1].mean() / last),
            ]
        )
    head = traces[0]
    size = ", ".join(
        counted(count, noun)
        for count, noun in (
            (len(head.items), "item"),
            (int(head.checkpoints[-1]), "round"),
            (len(head.seeds), "seed"),
        )
    )
    title = f"{head.environment}, {size}; regret and {head.kind} per round"
    header = ["learner", "regret", *(["±95%"] if several else []), head.kind]
    notes = [
        f"{words}: {', '.join(names)}."
        for words, private in (("Would be private when used", True), ("NOT PRIVATE", False))
        if (names := [trace.learner for trace in traces if trace.guarantee.private == private])
    ]
    notes.append(about_data(trace.parameters for trace in traces))
    return "\n".join([title, table(header, rows), *(wrapped(note) for note in notes if note)])


def summary_of(trace: Trace) -> dict[str, Any]:
    """The last checkpoint of a trace, as data."""
    low, high = trace.band()
    return {
        "environment": trace.environment,
        "learner": trace.learner,
        "n": len(trace.items),
        "rounds": trace.checkpoints[-1],
        "seeds": trace.seeds,
        "regret": trace.mean_regret[-1],
        "regret_interval": [low[-1], high[-1]],
        trace.kind: trace.cost[:, -1].mean(),
        "best": trace.best[:, -1].mean(),
        "final_point": dict(zip(map(str, trace.items), trace.final_points.mean(axis=0), strict=True)),
        "would_be_private": trace.guarantee.private,
        "would_promise": str(trace.guarantee),
        "about_data": about_data([trace.parameters]),
    }


def parsed(parameters: list[str]) -> dict[str, Any]:
    """``name=value`` pairs; a value is a JSON value where it looks like one, else text.

    Examples:
        >>> parsed(["gap=0.1", "path=a.csv"])
        {'gap': 0.1, 'path': 'a.csv'}
    """
    found = {}
    for entry in parameters:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise InvalidArgument(f"A parameter is written NAME=VALUE. Got {entry!r} instead.")
        try:
            found[name] = json_module.loads(value)
        except ValueError:
            found[name] = value
    return found
