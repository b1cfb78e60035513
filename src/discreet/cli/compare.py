"""The command ``discreet compare``."""

from __future__ import annotations

import pathlib
import shlex
import sys
from typing import Any

from discreet.cli.output import command_line, print_json, require_place, table, wrapped
from discreet.errors import InvalidArgument
from discreet.formatting import decimals
from discreet.simulation.compare import compare, failures
from discreet.simulation.sweep import Sweep
from discreet.simulation.trace import about_data


def run(
    file: pathlib.Path | None,
    given: dict[str, Any],
    out: pathlib.Path,
    report: pathlib.Path | None,
    cluster: str | None,
    workers: int | None,
    json: bool,
    progress: bool,
) -> None:
    """Run what the file does not hold yet, print a table, say what failed."""
    flags = {name: value for name, value in given.items() if value is not None}
    if file is not None and flags:
        raise InvalidArgument(f"Give a file or flags, not both. Got {file} and --{next(iter(flags))}.")
    sweep = Sweep.from_file(file) if file is not None else Sweep.from_mapping(flags)
    require_place(out, report)
    try:
        frame = compare(sweep, out, workers=workers, cluster=cluster, progress=progress)
    except KeyboardInterrupt:
        if out.exists():
            print(f"what was finished is in {out}; the same command continues from there", file=sys.stderr)
        raise
    if json:
        print_json(summary(frame))
    else:
        from discreet.report.frames import told_apart

        rows = [
            [
                f"{row['environment']} / {row['learner']}",
                str(row["n"]),
                "" if row["epsilon"] is None else f"{row['epsilon']:g}",
                str(row["rounds"]),
                decimals(row["regret_a_round"]),
                str(row["seeds"]),
            ]
            for row in summary(told_apart(frame))
        ]
        print(table(["stream / learner", "n", "epsilon", "rounds", "regret per round", "seeds"], rows))
        warning = about_data(dict(parameters) for _, parameters in sweep.streams)
        if warning:
            print(wrapped(warning))
    failed = failures(frame)
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    if report is not None:
        _draw(frame, report, out, sweep.title)
    if not json:
        print(f"The sweep: {out}" + (f"; the report: {report}" if report else ""))
    if failed:
        sys.exit(1)


def _draw(frame: Any, report: pathlib.Path, out: pathlib.Path, title: str) -> None:
    from discreet.report import write_sweep_report

    try:
        write_sweep_report(report, frame, title=title, command=command_line())
    except OSError as error:
        again = shlex.join(["discreet", "report", str(out)])
        raise InvalidArgument(
            f"Cannot write {report}: {error.strerror}. The sweep is safe in {out}; '{again}' draws it."
        ) from None


def summary(frame: Any) -> list[dict[str, Any]]:
    """Mean regret per round at the end of each configuration."""
    import polars

    keys = ["environment", "parameters", "learner", "n", "epsilon", "rounds"]
    ended = frame.filter(polars.col("round") == polars.col("rounds"))
    grouped = ended.group_by(keys, maintain_order=True).agg(
        (polars.col("regret") / polars.col("rounds")).mean().alias("regret_a_round"),
        polars.len().alias("seeds"),
    )
    rows: list[dict[str, Any]] = grouped.sort(keys, nulls_last=False).to_dicts()
    return rows
