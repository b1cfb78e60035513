"""The application that commands are added to, and the options that several of them share."""

from __future__ import annotations

import decimal
import re
import sys
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperGroup

import discreet

#: No count is larger.
MOST = 2**63 - 1
#: What people may call a command.
MEANT = {
    "benchmark": "compare",
    "check": "audit",
    "draw": "report",
    "ls": "list",
    "optimise": "minimize",
    "optimize": "minimize",
    "plot": "report",
    "predict": "plan",
    "run": "simulate",
    "server": "serve",
    "start": "serve",
    "sweep": "compare",
    "test": "audit",
}


class Commands(TyperGroup):
    """The commands by their names; other words that people try are answered with the right one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        meant = MEANT.get(args[0])
        if meant is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)


def new_group(help: str, **settings: Any) -> typer.Typer:  # noqa: A002 # as typer has it
    """A group of commands that prints plain text, and its help if none of them is named."""
    return typer.Typer(
        help=help,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def examples(*commands: str, note: str = "") -> str:
    """The end of a help text: commands to copy, and a note below them."""
    title = "Example:" if len(commands) == 1 else "Examples:"
    return "\n\n".join([title, *commands, note]).rstrip()


def Count(help: str) -> Any:  # noqa: A002 # as typer.Option has it
    """An option for an integer that may be large: 1e6 and 1,000,000 are understood."""
    return Option(help=help, parser=integer, metavar="<int>")


def integer(text: str | int) -> int:
    """An integer as people write it.

    Examples:
        >>> integer("65536"), integer("1e6"), integer("2.5e3"), integer("1,000,000")
        (65536, 1000000, 2500, 1000000)
    """
    if isinstance(text, int):  # a default
        return text
    plain = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", text)
    try:
        number = decimal.Decimal(plain)
    except decimal.InvalidOperation:
        number = decimal.Decimal("nan")
    if not number.is_finite() or number.copy_abs() > MOST or number != int(number):
        raise typer.BadParameter(f"an integer is needed, such as 65536, 1e6 or 1,000,000. Got {text!r}.")
    return int(number)


Epsilon = Annotated[float, Option(help="Privacy loss.")]
Seeds = Annotated[int, Option(help="Independent runs.")]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Show no progress bar.")]
NoReport = Annotated[bool, Option("--no-report", help="Write no report.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask; nobody is asked where there is no terminal.")]
Store = Annotated[str, Option("--store", help="A path (SQLite) or postgresql://user@host/database.")]
KeyFile = Annotated[
    str | None,
    Option("--key-file", help="The encryption key, unless DISCREET_KEY has it; beside an SQLite file."),
]


def confirm(question: str, yes: bool) -> None:
    """Go on only if whoever sits at a terminal says so; scripts are not asked."""
    if yes or not sys.stdin.isatty():
        return
    if not typer.confirm(question):
        print("Nothing was changed.")
        raise typer.Exit(1)


app = new_group(
    "Private online decisions over sets: simulate, compare, plan, audit, serve.",
    name="discreet",
    cls=Commands,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(discreet.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of all commands."""
