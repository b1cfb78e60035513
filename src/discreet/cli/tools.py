"""The commands ``discreet plan | audit | minimize | serve | list``. Heavy imports wait until one runs."""

from __future__ import annotations

import inspect
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from discreet.cli.app import Count, Epsilon, Json, Quiet, app, command, require_place, show, table, wrapped
from discreet.cli.service import KeyFile, Store
from discreet.errors import InvalidArgument
from discreet.formatting import counted


@command(
    app,
    "discreet plan --n 8 --epsilon 1 --rounds 1000000 --effect 0.2",
    "discreet plan --n 20 --epsilon 0.1 --rounds 100000 --local --low 0 --high 5",
    note="The effect decides most. Without one, a plan shows what several would need.",
)
def plan(
    n: Annotated[int, Option(help="Items.")],
    epsilon: Epsilon,
    rounds: Annotated[int, Count(help="Rounds.")],
    low: Annotated[float, Option(help="Least cost.")] = -1.0,
    high: Annotated[float, Option(help="Largest cost.")] = 1.0,
    full: Annotated[bool, Option("--full", help="The whole cost function is seen.")] = False,
    local: Annotated[bool, Option("--local", help="No exact sums may be kept.")] = False,
    rounds_per_person: Annotated[int, Option(help="Rounds in which one person may appear.")] = 1,
    delta: Annotated[float, Option(help="For local bandits: with which probability more may be lost.")] = 0.0,
    effect: Annotated[
        float | None,
        Option(help="How much better the best set is than the empty, the full and random ones, in costs."),
    ] = None,
    json: Json = False,
) -> None:
    """What to expect before the first round, and which learner to take."""
    import discreet

    found = discreet.plan(
        n=n,
        epsilon=epsilon,
        rounds=rounds,
        cost_range=(low, high),
        feedback="full information" if full else "bandit",
        local=local,
        rounds_per_person=rounds_per_person,
        delta=delta,
        effect=effect,
    )
    show(json, vars(found) | {"enough": found.enough}, wrapped(str(found)))


@command(
    app,
    "discreet audit bandit full --epsilon 0.5",
    "discreet audit --plot audits.svg",
    "discreet audit paper-bandit-published",
    "discreet audit mymodule:MyMechanism --runs 1000000 --json",
    note="Without names everything private in this package is audited. The exit code is 1 if a claim was "
    "refuted.",
)
def audit(
    names: Annotated[
        list[str] | None,
        Argument(help="What to audit; 'discreet list' names them. MODULE:NAME is a custom target."),
    ] = None,
    n: Annotated[int, Option(help="Items.")] = 3,
    epsilon: Annotated[float, Option(help="The loss that each claims.")] = 1.0,
    runs: Annotated[int, Count(help="Runs for each; what is not compiled is run less often.")] = 1_000_000,
    confidence: Annotated[float, Option(help="Of all lower bounds together.")] = 0.95,
    seed: Annotated[int | None, Option(help="Makes the audit repeatable.")] = None,
    plot: Annotated[Path | None, Option(help="Draw claimed against measured (svg, png, pdf).")] = None,
    markdown: Annotated[bool, Option("--markdown", help="Print a table for documentation.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to refute privacy claims: a lower bound on epsilon, with a stated confidence."""
    from discreet.auditing.builtin import LeftOut, audit_named
    from discreet.cli.results import audit_table, markdown_table

    if plot is not None:
        from discreet.plots.canvas import kind_of

        kind_of(plot)  # or refused
    require_place(plot)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        audits = audit_named(
            names or [], n=n, epsilon=epsilon, runs=runs, confidence=confidence, seed=seed, progress=not quiet
        )
    for warning in warned:
        print(warning.message, file=sys.stderr)
    text = str(audits[0]) if len(audits) == 1 else audit_table(audits, confidence)
    show(json, [found.to_dict() for found in audits], markdown_table(audits) if markdown else text)
    if plot is not None:
        from discreet.auditing import plot_audits
        from discreet.plots.canvas import save

        save(plot_audits(audits), plot)
    if not (json or markdown):
        if plot is not None:
            print(f"The picture: {plot}")
        left_out = [warning.message for warning in warned if isinstance(warning.message, LeftOut)]
        if left_out:
            extras = ",".join(sorted({missed.extra for missed in left_out}))
            print(f"{counted(len(left_out), 'audit')} left out: pip install 'discreet[{extras}]'")
    raise typer.Exit(0 if all(found.passed for found in audits) else 1)


@command(app, """echo '{"kind": "Modular", "weights": [1, -2, 3]}' > f; discreet minimize f""")
def minimize(
    file: Annotated[Path, Argument(help="A set function as JSON, as f.to_dict() gives it.")],
    at_most: Annotated[int | None, Option(help="How many items the set may have.")] = None,
    at_least: Annotated[int | None, Option(help="How many items the set must have.")] = None,
    required: Annotated[list[int] | None, Option(help="An item that must be in it.")] = None,
    forbidden: Annotated[list[int] | None, Option(help="An item that must not be in it.")] = None,
    json: Json = False,
) -> None:
    """The set of least value, with a certificate."""
    from json import loads

    from discreet import minimize
    from discreet.set_functions import SetFunction

    try:
        described = loads(file.read_text())
    except ValueError as error:
        raise InvalidArgument(f"The file {file} is not JSON: {error}.") from None
    if not isinstance(described, dict):
        raise InvalidArgument(f"The file {file} does not describe a set function: it holds no JSON object.")
    limits: dict[str, Any] = {"at_most": at_most, "at_least": at_least}
    found = minimize(SetFunction.from_dict(described), **limits, required=required, forbidden=forbidden)
    bound = f"{found.lower_bound:.12g} ({found.method}, {found.stopped})"
    show(json, found, f"set    {sorted(found.set)}\nvalue  {found.value:.12g}\nbound  {bound}")


def Setting(name: str, help: str, **more: Any) -> Any:  # noqa: A002 # as typer.Option has it
    """An option that may also be given in the environment: several values there are separated by spaces."""
    return Option(f"--{name}", envvar=f"DISCREET_{name.upper().replace('-', '_')}", help=help, **more)


@command(
    app,
    "discreet serve",
    "discreet serve --store /var/lib/discreet/shop.db --port 8710",
    "discreet serve --store postgresql://me@db/shop --key-file /etc/shop.key",
    note="The first start of a store prints an admin key on standard output, once; or it takes the one "
    "in DISCREET_ADMIN_KEY. Logs go to standard error, one JSON object per line. SIGTERM ends the server "
    "after running requests were answered.",
)
def serve(
    store: Store = "discreet.db",
    host: Annotated[
        str,
        Setting(
            "host",
            "Where to listen. Beyond 127.0.0.1 put a proxy with TLS in front.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, Setting("port", "0 for any free port.")] = 8710,
    uds: Annotated[
        str | None,
        Setting("uds", "The path of a Unix domain socket to listen on instead.", metavar="PATH"),
    ] = None,
    behind_proxy: Annotated[
        bool, Setting("behind-proxy", "A proxy stands in front: do not warn of other machines.")
    ] = False,
    tls_cert: Annotated[
        str | None, Setting("tls-cert", "A certificate with its chain (PEM).", metavar="PATH")
    ] = None,
    tls_key: Annotated[str | None, Setting("tls-key", "Its private key (PEM).", metavar="PATH")] = None,
    cors_origins: Annotated[
        list[str] | None,
        Setting(
            "cors-origin",
            "A website whose scripts may call the service, such as https://shop.example.",
            metavar="URL",
        ),
    ] = None,
    workers: Annotated[int, Setting("workers", "Processes; more than one needs PostgreSQL.")] = 1,
    key_file: KeyFile = None,
    log_level: Annotated[
        str,
        Setting(
            "log-level", "debug, info (with a line for each request), warning or error.", metavar="LEVEL"
        ),
    ] = "info",
    rate: Annotated[
        float | None,
        Setting("rate", "Requests per second of one API key, in each process; 10,000 by default."),
    ] = None,
    max_body: Annotated[
        int | None, Setting("max-body", "Bytes of a request's body; 4 MiB by default.")
    ] = None,
    policies: Annotated[
        list[str] | None,
        Setting("policy", "A custom policy that learners can be made with.", metavar="NAME=MODULE:NAME"),
    ] = None,
    json: Json = False,
) -> None:
    """Serve learners over HTTP: durable, private, for many workers."""
    given = {name: value for name, value in locals().items() if value is not None}
    from discreet.service.options import Options
    from discreet.service.server import serve

    lists = {"policies": tuple(policies or ()), "cors_origins": tuple(cors_origins or ())}
    serve(Options(**given | lists))


@command(app, "discreet list --json", name="list")
def list_(json: Json = False) -> None:
    """The environments, learners and audits that can be named."""
    from discreet.auditing.builtin import builtin_targets, find
    from discreet.environments import ENVIRONMENTS
    from discreet.simulation.builtin_learners import BUILTIN_LEARNERS

    streams: dict[str, Any] = {
        name: {"about": (inspect.getdoc(make) or "").splitlines()[0], "parameters": _parameters(make)}
        for name, make in sorted(ENVIRONMENTS.items())
    }
    builtin = BUILTIN_LEARNERS.values()
    learners = {c.name: {"about": c.about, "feedback": c.feedback} for c in builtin}
    targets = [find(name) for name in builtin_targets]
    audits = {target.name: {"about": target.about, "private": not target.published} for target in targets}
    rows = [
        row
        for name, entry in streams.items()
        for row in ([name, entry["about"]], ["", ", ".join(entry["parameters"])])
    ]
    tables = [
        table(["environment", "about, and its parameters"], rows),
        table(["learner", "feedback", "about"], [[c.name, c.feedback, c.about] for c in builtin]),
        table(["audit", "about"], [[target.name, target.about] for target in targets]),
    ]
    show(json, {"streams": streams, "learners": learners, "audits": audits}, "\n\n".join(tables))


def _parameters(make: Any) -> list[str]:
    return [
        name if parameter.default is parameter.empty else f"{name}={parameter.default}"
        for name, parameter in inspect.signature(make).parameters.items()
    ]
