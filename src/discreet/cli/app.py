"""The commands and their options. What they do is elsewhere; heavy parts are imported when a command runs."""

from __future__ import annotations

import pathlib
from typing import Annotated

import typer

import discreet
from discreet.cli import keys, store
from discreet.cli.commands import Commands
from discreet.cli.options import Count, Json, KeyFile, Store

app = typer.Typer(
    name="discreet",
    help="Private online decisions over sets: simulate, compare, plan, audit, serve.",
    add_completion=False,
    no_args_is_help=True,
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(store.app, name="store")
app.add_typer(keys.app, name="keys")

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")]
Report = Annotated[pathlib.Path | None, typer.Option("--report", help="Where the HTML report goes.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.")]
Parameter = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the environment, such as gap=0.1."),
]


def _version(wanted: bool) -> None:
    if wanted:
        print(discreet.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of all commands."""


@app.command(
    epilog="""Examples:

discreet demo

discreet demo --epsilon 0.5 --seeds 8 --report shop.html"""
)
def demo(
    epsilon: Annotated[float, typer.Option(help="Privacy loss.")] = 1.0,
    n: Annotated[int, typer.Option(help="Products.")] = 8,
    rounds: Annotated[int, Count(help="Customers.")] = 2**19,
    seeds: Annotated[int, typer.Option(help="Independent runs.")] = 4,
    report: Annotated[pathlib.Path, typer.Option(help="Where the report goes.")] = pathlib.Path(
        "discreet-demo.html"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer customers and runs.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """A shop learns in private which products to offer at checkout."""
    from discreet.cli.demo import run

    run(epsilon, n, 2**16 if quick else rounds, 2 if quick else seeds, report, not quiet, json)


@app.command(
    epilog="""Examples:

discreet simulate modular --learner bandit --n 8 --epsilon 1 --rounds 100000

discreet simulate checkout -l bandit -l bandit-central -l random --report out.html

discreet simulate baskets --set path=groceries.csv --n 10 -l full"""
)
def simulate(
    stream: Annotated[
        str, typer.Argument(help="An environment; 'discreet list' names them. MODULE:NAME is your own.")
    ],
    learner: Annotated[
        list[str] | None, typer.Option("--learner", "-l", help="A learner; may be given several times.")
    ] = None,
    n: Annotated[int | None, typer.Option(help="Items; by default as many as the environment has.")] = None,
    epsilon: Annotated[float, typer.Option(help="Privacy loss.")] = 1.0,
    rounds: Annotated[
        int | None, Count(help="Rounds; by default 65536, or as many as there are data for.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Independent runs.")] = 5,
    parameters: Parameter = None,
    report: Report = pathlib.Path("discreet-simulate.html"),
    no_report: NoReport = False,
    frame: Annotated[
        pathlib.Path | None, typer.Option("--out", help="Write the curves to this Parquet file.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play learners against an environment and print their regret."""
    from discreet.cli.simulate import run

    shown = None if no_report else report
    chosen = learner or ["bandit"]
    run(stream, chosen, n, epsilon, rounds, seeds, parameters or [], shown, frame, json, not quiet)


@app.command(
    epilog="""Examples:

discreet compare sweep.toml --out sweep.parquet --report sweep.html

discreet compare --stream modular --stream priced-cuts -l bandit -l paper-bandit --n 4 --n 8 --out a.parquet

discreet compare sweep.toml --out sweep.parquet --cluster dask://10.0.0.1:8786

A sweep file has the same settings: streams, learners, n, epsilon, rounds, seeds, checkpoints, title."""
)
def compare(
    file: Annotated[pathlib.Path | None, typer.Argument(help="A TOML file with the sweep.")] = None,
    stream: Annotated[
        list[str] | None, typer.Option("--stream", "-s", help="An environment, or MODULE:NAME.")
    ] = None,
    learner: Annotated[list[str] | None, typer.Option("--learner", "-l", help="A learner.")] = None,
    n: Annotated[list[int] | None, typer.Option(help="Items.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="Privacy loss.")] = None,
    rounds: Annotated[list[int] | None, Count(help="Rounds.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Independent runs.")] = None,
    out: Annotated[
        pathlib.Path, typer.Option(help="The Parquet file; continued if it exists.")
    ] = pathlib.Path("sweep.parquet"),
    report: Annotated[
        pathlib.Path | None,
        typer.Option(help="Where the HTML report goes; beside the Parquet file by default."),
    ] = None,
    no_report: NoReport = False,
    cluster: Annotated[
        str | None, typer.Option(help="dask://HOST:PORT or ray://HOST:PORT, instead of this machine.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes on this machine.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run environments x learners x n x epsilon x rounds x seeds, and compare."""
    from discreet.cli.compare import run

    given = {
        "streams": stream,
        "learners": learner,
        "n": n,
        "epsilon": epsilon,
        "rounds": rounds,
        "seeds": seeds,
    }
    shown = None if no_report else report or out.with_suffix(".html")
    run(file, given, out, shown, cluster, workers, json, not quiet)


@app.command(
    epilog="""Example:

discreet report sweep.parquet --report sweep.html"""
)
def report(
    file: Annotated[pathlib.Path, typer.Argument(help="The Parquet file of a finished sweep.")],
    report: Annotated[
        pathlib.Path | None, typer.Option(help="Where the page goes; beside the file by default.")
    ] = None,
    title: Annotated[str, typer.Option(help="Its headline.")] = "Comparison",
) -> None:
    """Draw a sweep again, from its file alone."""
    from discreet.cli.output import command_line, require_place
    from discreet.report import write_sweep_report
    from discreet.simulation.compare import read

    target = report or file.with_suffix(".html")
    held = read(file)
    require_place(target)
    write_sweep_report(target, held, title=title, command=command_line())
    print(f"The report: {target}")


@app.command(
    epilog="""Examples:

discreet plan --n 8 --epsilon 1 --rounds 1000000 --effect 0.2

discreet plan --n 20 --epsilon 0.1 --rounds 100000 --local --low 0 --high 5

The effect decides most. Without one, a plan shows what several would need."""
)
def plan(
    n: Annotated[int, typer.Option(help="Items.")],
    epsilon: Annotated[float, typer.Option(help="Privacy loss.")],
    rounds: Annotated[int, Count(help="Rounds.")],
    low: Annotated[float, typer.Option(help="Least cost.")] = -1.0,
    high: Annotated[float, typer.Option(help="Largest cost.")] = 1.0,
    full: Annotated[bool, typer.Option("--full", help="The whole cost function is seen.")] = False,
    local: Annotated[bool, typer.Option("--local", help="No exact sums may be kept.")] = False,
    rounds_per_person: Annotated[int, typer.Option(help="Rounds in which one person may appear.")] = 1,
    gradient_bound: Annotated[float | None, typer.Option(help="A declared bound on gradients.")] = None,
    effect: Annotated[
        float | None,
        typer.Option(
            help="How much better the best set is than the empty, the full and random ones, in costs."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """What to expect before the first round, and which learner to take."""
    from discreet.cli.output import plain, print_json, wrapped
    from discreet.planning import plan as made

    found = made(
        n=n,
        epsilon=epsilon,
        rounds=rounds,
        cost_range=(low, high),
        feedback="full information" if full else "bandit",
        local=local,
        rounds_per_person=rounds_per_person,
        gradient_bound=gradient_bound,
        effect=effect,
    )
    if json:
        print_json(plain(found) | {"enough": found.enough})
    else:
        print(wrapped(str(found)))


@app.command(
    epilog="""Examples:

discreet audit bandit full --epsilon 0.5

discreet audit --plot audits.svg

discreet audit paper-bandit-published

discreet audit mymodule:MyMechanism --runs 1000000 --json

Without names everything private in this package is audited. The exit code is 1 if a claim was refuted."""
)
def audit(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="What to audit; 'discreet list' names them. MODULE:NAME is a custom target."),
    ] = None,
    n: Annotated[int, typer.Option(help="Items.")] = 3,
    epsilon: Annotated[float, typer.Option(help="The loss that each claims.")] = 1.0,
    runs: Annotated[int, Count(help="Runs for each; what is not compiled is run less often.")] = 1_000_000,
    confidence: Annotated[float, typer.Option(help="Of all lower bounds together.")] = 0.95,
    seed: Annotated[int | None, typer.Option(help="Makes the audit repeatable.")] = None,
    plot: Annotated[
        pathlib.Path | None, typer.Option(help="Draw claimed against measured (svg, png, pdf).")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for documentation.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to refute privacy claims: a lower bound on epsilon, with a stated confidence."""
    from discreet.cli.audit import run

    code = run(names or [], n, epsilon, runs, confidence, seed, plot, markdown, json, not quiet)
    raise typer.Exit(code)


@app.command(
    epilog="""Example:

echo '{"kind": "Modular", "weights": [1, -2, 3]}' > f.json; discreet minimize f.json"""
)
def minimize(
    file: Annotated[pathlib.Path, typer.Argument(help="A set function as JSON, as f.to_dict() gives it.")],
    json: Json = False,
) -> None:
    """The set of least value, with a certificate."""
    from discreet.cli.minimize import run

    run(file, json)


@app.command(
    epilog="""Examples:

discreet serve

discreet serve --store /var/lib/discreet/shop.db --port 8710 --key-file /etc/discreet/shop.key

discreet serve --store postgresql://discreet@db.internal/shop --workers 4 --key-file /etc/discreet/shop.key

The first start of a store prints an admin key on standard output, once. Logs go to standard error, one JSON
object per line. SIGTERM ends the server after running requests were answered."""
)
def serve(
    store: Store = "discreet.db",
    host: Annotated[
        str, typer.Option(help="Where to listen. Beyond 127.0.0.1 put a proxy with TLS in front.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 for any free port.")] = 8710,
    workers: Annotated[int, typer.Option(help="Processes; more than one needs PostgreSQL.")] = 1,
    key_file: KeyFile = None,
    log_level: Annotated[
        str, typer.Option(help="debug, info (with a line for each request), warning or error.")
    ] = "info",
    rate: Annotated[
        float | None,
        typer.Option(help="Requests per second of one API key, in each process; 10,000 by default."),
    ] = None,
    max_body: Annotated[int | None, typer.Option(help="Bytes of a request's body; 4 MiB by default.")] = None,
    connections: Annotated[
        int | None, typer.Option(help="Open connections, in each process; 1,000 by default.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=MODULE:NAME", help="A custom policy that learners can be made with."),
    ] = None,
    json: Json = False,
) -> None:
    """Serve learners over HTTP: durable, private, for many workers."""
    from discreet.cli.serve import run

    run(
        store=store,
        host=host,
        port=port,
        workers=workers,
        key_file=key_file,
        log_level=log_level,
        rate=rate,
        max_body=max_body,
        connections=connections,
        json=json,
        policies=tuple(policy or ()),
    )


@app.command(
    name="list",
    epilog="""Example:

discreet list --json""",
)
def names(json: Json = False) -> None:
    """The environments, learners and audits that can be named."""
    from discreet.cli.names import run

    run(json)
