"""The commands ``discreet demo | simulate | compare | report``. Heavy imports wait until one runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from discreet.cli.app import (
    Count,
    Epsilon,
    Json,
    Quiet,
    app,
    command,
    command_line,
    report_at,
    require_place,
    show,
)
from discreet.errors import InvalidArgument
from discreet.imports import require_extra

Seeds = Annotated[int, Option(help="Independent runs.")]
NoReport = Annotated[bool, Option("--no-report", help="Write no report.")]


@command(app, "discreet demo", "discreet demo --epsilon 0.5 --rounds 100000 --report shop.html")
def demo(
    epsilon: Epsilon = 1.0,
    n: Annotated[int, Option(help="Products.")] = 8,
    rounds: Annotated[int, Count(help="Customers.")] = 20_000,
    seeds: Seeds = 10,
    report: Annotated[
        Path | None, Option(help="Where the report goes; discreet-demo.html by default.")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Fewer customers and runs.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """A shop learns in private which products to offer at checkout."""
    from discreet.cli.demo import run

    page = report_at(report, "discreet-demo.html")
    run(epsilon, n, 4000 if quick else rounds, 2 if quick else seeds, page, not quiet, json)


@command(
    app,
    "discreet simulate modular --learner bandit --epsilon 1 --rounds 100000",
    "discreet simulate checkout -l bandit -l random --report out.html",
    "discreet simulate baskets --set path=groceries.csv --n 10 -l full",
    "discreet simulate substitutes -l 'bandit at_most=3' -l 'greedy at_most=3'",
)
def simulate(
    stream: Annotated[
        str, Argument(metavar="ENVIRONMENT", help="'discreet list' names them. MODULE:NAME is your own.")
    ],
    learners: Annotated[
        list[str] | None,
        Option(
            "--learner",
            "-l",
            metavar="NAME",
            help="A learner, and its arguments if any; may be given several times.",
        ),
    ] = None,
    n: Annotated[int | None, Option(help="Items; by default as many as the environment has.")] = None,
    epsilon: Epsilon = 1.0,
    rounds: Annotated[
        int | None, Count(help="Rounds; by default 65536, or as many as there are data for.")
    ] = None,
    seeds: Seeds = 5,
    parameters: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="A parameter of the environment, such as gap=0.1."),
    ] = None,
    report: Annotated[
        Path | None, Option(help="Where the HTML report goes; discreet-simulate.html by default.")
    ] = None,
    no_report: NoReport = False,
    frame: Annotated[Path | None, Option("--out", help="Write the curves to this Parquet file.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play learners against an environment and print their regret."""
    from discreet.cli.results import environment_of, regret_table, summary_of, traces_of
    from discreet.simulation.replicas import ROUNDS

    page = None if no_report else report_at(report, "discreet-simulate.html")
    if frame is not None:
        require_extra("report", "A Parquet file needs", "polars")
    require_place(frame)
    environment = environment_of(stream, n, rounds or ROUNDS, parameters or [])
    length = min(ROUNDS, environment.most_rounds or ROUNDS) if rounds is None else rounds
    names = learners or ["bandit"]
    traces = traces_of(environment, names, epsilon, length, seeds, progress=not quiet)
    show(json, [summary_of(trace) for trace in traces], regret_table(traces))
    if frame is not None:
        import polars

        from discreet.simulation.sweep import write_parquet

        write_parquet(frame, polars.concat([trace.to_frame("polars") for trace in traces]))
    if page is not None:
        from discreet.report import write_report

        title = f"{stream}: {', '.join(names)}"
        write_report(page, title=title, traces=traces, command=command_line())
    for path, what in ((page, "report"), (frame, "curves")):
        if path is not None and not json:
            print(f"The {what}: {path}")


@command(
    app,
    "discreet compare sweep.toml --out sweep.parquet --report sweep.html",
    "discreet compare -s modular -s cuts -l bandit -l random --out a.parquet",
    "discreet compare sweep.toml --cluster dask://10.0.0.1:8786",
    note="Streams, learners, n, epsilon and rounds may be given several times. A sweep file has the same "
    "settings: streams, learners, n, epsilon, rounds, seeds, checkpoints, title.",
)
def compare(
    file: Annotated[Path | None, Argument(help="A TOML file with the sweep.")] = None,
    streams: Annotated[
        list[str] | None, Option("--stream", "-s", metavar="NAME", help="An environment, or MODULE:NAME.")
    ] = None,
    learners: Annotated[
        list[str] | None, Option("--learner", "-l", metavar="NAME", help="A learner.")
    ] = None,
    n: Annotated[list[int] | None, Option(help="Items.")] = None,
    epsilon: Annotated[list[float] | None, Option(help="Privacy loss.")] = None,
    rounds: Annotated[list[int] | None, Count(help="Rounds.")] = None,
    seeds: Annotated[int | None, Option(help="Independent runs.")] = None,
    out: Annotated[Path, Option(help="The Parquet file; continued if it exists.")] = Path("sweep.parquet"),
    report: Annotated[
        Path | None, Option(help="Where the HTML report goes; beside the Parquet file by default.")
    ] = None,
    no_report: NoReport = False,
    cluster: Annotated[
        str | None,
        Option(metavar="URL", help="dask://HOST:PORT or ray://HOST:PORT, instead of this machine."),
    ] = None,
    workers: Annotated[int | None, Option(help="Processes on this machine.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play every combination of environments, learners, n, epsilon, rounds and seeds."""
    from discreet.cli.results import sweep_summary, sweep_table
    from discreet.simulation.sweep import Sweep, failures
    from discreet.simulation.sweep import compare as run

    given = {"streams": streams, "learners": learners, "n": n, "epsilon": epsilon, "rounds": rounds}
    flags = {name: value for name, value in (given | {"seeds": seeds}).items() if value is not None}
    if file is not None and flags:
        raise InvalidArgument(f"Give a file or flags, not both. Got {file} and --{next(iter(flags))}.")
    sweep = Sweep.from_mapping(flags) if file is None else Sweep.from_file(file)
    page = None if no_report else report or out.with_suffix(".html")
    require_place(out, page)
    try:
        frame = run(sweep, out, workers=workers, cluster=cluster, progress=not quiet)
    except KeyboardInterrupt:
        if out.exists():
            print(f"what was finished is in {out}; the same command continues from there", file=sys.stderr)
        raise
    show(json, sweep_summary(frame), sweep_table(frame, sweep))
    failed = failures(frame)
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    if page is not None:
        from discreet.report import write_sweep_report

        try:
            write_sweep_report(page, frame, title=sweep.title, command=command_line())
        except OSError as error:
            again = shlex.join(["discreet", "report", str(out)])
            raise InvalidArgument(
                f"Cannot write {page}: {error.strerror}. The sweep is safe in {out}; '{again}' draws it."
            ) from None
    if not json:
        print(f"The sweep: {out}" + (f"; the report: {page}" if page else ""))
    if failed:
        raise typer.Exit(1)


@command(app, "discreet report sweep.parquet --report sweep.html")
def report(
    file: Annotated[Path, Argument(help="The Parquet file of a finished sweep.")],
    report: Annotated[Path | None, Option(help="Where the page goes; beside the file by default.")] = None,
    title: Annotated[str, Option(help="Its headline.")] = "Comparison",
) -> None:
    """Draw a sweep again, from its file alone."""
    from discreet.report import write_sweep_report
    from discreet.simulation.sweep import read

    target = report or file.with_suffix(".html")
    held = read(file)
    require_place(target)
    write_sweep_report(target, held, title=title, command=command_line())
    print(f"The report: {target}")
