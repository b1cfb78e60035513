"""What simulations, sweeps and audits found, as tables and as data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from discreet import checks
from discreet.auditing.builtin import find
from discreet.auditing.report import Audit
from discreet.cli.app import table, wrapped
from discreet.environments import Environment, as_environment
from discreet.errors import InvalidArgument
from discreet.formatting import counted
from discreet.simulation import Trace, simulate
from discreet.simulation.builtin_learners import Setting, find_learner, named_values, template_of
from discreet.simulation.trace import about_data

if TYPE_CHECKING:
    import polars

    from discreet.simulation.sweep import Sweep


def environment_of(name: str, n: int | None, rounds: int, parameters: list[str]) -> Environment:
    """The environment of this name with so many items."""
    items = None if n is None else range(checks.integer(name, "n", n, 1))
    environment = as_environment(name, items=items, rounds=rounds, parameters=named_values(parameters))
    if n is not None and environment.n != n:
        raise InvalidArgument(f"The environment {name} has {environment.n} items, not {n}.")
    return environment


def traces_of(
    environment: Environment, learners: list[str], epsilon: float, rounds: int, seeds: int, *, progress: bool
) -> list[Trace]:
    """A trace for each learner. After Ctrl-C those that were finished; all names are checked first."""
    setting = Setting(environment.items, epsilon, environment.cost_range, rounds)
    traces: list[Trace] = []
    for entry in [find_learner(name) for name in learners]:
        learner = template_of(entry, setting)
        traces.append(simulate(environment, learner, rounds=rounds, seeds=seeds, progress=progress))
        if traces[-1].interrupted:
            print("interrupted: only the runs that were finished are shown", file=sys.stderr)
            break
    return traces


def regret_table(traces: list[Trace]) -> str:
    """One line per learner; below it who would be private, and a warning where the data are real."""
    several = any(len(trace.seeds) > 1 for trace in traces)
    rows = []
    for trace in traces:
        last = trace.checkpoints[-1]
        regret = trace.mean_regret[-1] / last
        half = f"{trace.band()[1][-1] / last - regret:z.4f}" if len(trace.seeds) > 1 else ""
        cost = trace.cost[:, -1].mean() / last
        rows.append([trace.learner, f"{regret:z.4f}", *[half] * several, f"{cost:z.4f}"])
    head = traces[0]
    sizes = ((len(head.items), "item"), (int(head.checkpoints[-1]), "round"), (len(head.seeds), "seed"))
    size = ", ".join(counted(count, noun) for count, noun in sizes)
    title = f"{head.environment}, {size}; regret and {head.kind} per round"
    notes = []
    for words, private in (("Would be private when used", True), ("NOT PRIVATE", False)):
        names = [trace.learner for trace in traces if trace.guarantee.private == private]
        notes += [f"{words}: {', '.join(names)}."] if names else []
    notes.append(about_data(trace.parameters for trace in traces))
    shown = table(["learner", "regret", *["±95%"] * several, head.kind], rows)
    return "\n".join([title, shown, *(wrapped(note) for note in notes if note)])


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


def sweep_table(frame: polars.DataFrame, sweep: Sweep) -> str:
    """One line per configuration, and a warning where the data are real."""
    from discreet.report.results import told_apart

    rows = [
        [
            f"{row['environment']} / {row['learner']}",
            str(row["n"]),
            "" if row["epsilon"] is None else f"{row['epsilon']:g}",
            str(row["rounds"]),
            f"{row['regret_a_round']:z.4f}",
            str(row["seeds"]),
        ]
        for row in sweep_summary(told_apart(frame))
    ]
    shown = table(["environment / learner", "n", "epsilon", "rounds", "regret per round", "seeds"], rows)
    warning = about_data(dict(parameters) for _, parameters in sweep.streams)
    return f"{shown}\n{wrapped(warning)}" if warning else shown


def sweep_summary(frame: polars.DataFrame) -> list[dict[str, Any]]:
    """Mean regret per round at the end of each configuration."""
    import polars

    keys = ["environment", "parameters", "learner", "n", "epsilon", "rounds"]
    ended = frame.filter(polars.col("round") == polars.col("rounds"))
    grouped = ended.group_by(keys, maintain_order=True).agg(
        (polars.col("regret") / polars.col("rounds")).mean().alias("regret_a_round"),
        polars.len().alias("seeds"),
    )
    return grouped.sort(keys, nulls_last=False).to_dicts()


def audit_table(audits: list[Audit], confidence: float) -> str:
    """One line per audit, and how many claims were refuted."""
    rows = [
        [audit.name, *_figures(audit), audit.score, "not refuted" if audit.passed else "VIOLATED"]
        for audit in audits
    ]
    header = ["audited", "claimed", "delta", "proved at least", "finds noise / x", "runs", "score", "verdict"]
    failed = sum(not audit.passed for audit in audits) or "none"
    verdict = f"{failed} of {len(audits)} claims refuted"
    return f"{table(header, rows)}\n{verdict}; all bounds together hold with {100 * confidence:g}% confidence"


def markdown_table(audits: list[Audit]) -> str:
    """The same for a page of documentation."""
    lines = [
        "| audited | what | claimed ε | δ | proved: ε ≥ | would find noise too small by | runs | score |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{audit.name}` | {find(audit.name).about} | {' | '.join(_figures(audit))} | {audit.score} |"
        for audit in audits
    ]
    return "\n".join(lines)


def _figures(audit: Audit) -> list[str]:
    factor = audit.to_dict()["finds_factor"]
    found = "-" if factor is None else f"{factor:g}"
    return [f"{audit.claimed:.3g}", f"{audit.delta:g}", f"{audit.lower_bound:.3f}", found, f"{audit.runs:,}"]
