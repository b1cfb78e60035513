"""The application, and what its commands share: options, text for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import decimal
import json
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

import discreet
from discreet.atomic_files import check_place
from discreet.errors import InvalidArgument
from discreet.imports import missing, require_extra

F = TypeVar("F", bound=Callable[..., object])

#: What people may call a command.
MEANT = {
    "audit": {"check", "test"},
    "compare": {"benchmark", "sweep"},
    "list": {"ls"},
    "minimize": {"optimise", "optimize"},
    "plan": {"predict"},
    "report": {"draw", "plot"},
    "serve": {"server", "start"},
    "simulate": {"run"},
}


#: What a value is called in help texts.
PLAIN = {"float": "NUMBER", "int": "N", "path": "PATH", "str": "TEXT"}


class Group(TyperGroup):
    """A group of commands; its summary is its first sentence, however long."""

    def get_short_help_str(self, limit: int = 0) -> str:
        return super().get_short_help_str(1000)


class Commands(Group):
    """The commands by their names; other words that people try are answered with the right one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        for command, words in MEANT.items():
            if args[0] in words:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {command!r}?")
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command whose help names values as people do; its summary is a whole sentence, as that of a group."""

    def get_short_help_str(self, limit: int = 0) -> str:
        return super().get_short_help_str(1000)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}").upper() for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        shown = [(one.param_type_name, one.get_help_record(ctx)) for one in self.get_params(ctx)]
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            rows = [record for each, record in shown if each == kind and record is not None]
            if kind == "argument":
                rows = [(left.partition(" <")[0].upper(), text) for left, text in rows]
            rows = [(re.sub(r"<(?:list\[)?(\w+)( range)?\]?>", _in_words, left), text) for left, text in rows]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _in_words(found: re.Match[str]) -> str:
    return PLAIN.get(found[1], found[1].upper())


def command(group: typer.Typer, *examples: str, note: str = "", name: str | None = None) -> Callable[[F], F]:
    """Add a function to a group as a command; below its help are examples to copy, and a note."""
    title = "Example:" if len(examples) == 1 else "Examples:"
    kept = [re.sub("( --?[a-z-]+) (?!-)", r"\1\0", each) for each in examples]  # an option with its value
    copied = "\n".join(" \\\n".join(_lines(each, 74, "    ")) for each in kept).replace("\0", " ")
    epilog = "\n\n".join([title, f"\b\n{copied}", note]).rstrip()  # \b: lines are left as they are
    return group.command(name=name, cls=Command, epilog=epilog)


def new_group(about: str, cls: type[TyperGroup] = Group, **settings: Any) -> typer.Typer:
    """A group of commands that prints plain text, and its help if none of them is named."""
    return typer.Typer(
        help=about,
        cls=cls,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def Count(help: str) -> Any:  # noqa: A002 # as typer.Option has it
    """An option for an integer that may be large: 1e6 and 1,000,000 are understood."""
    return Option(help=help, parser=integer, metavar="<int>")


def integer(text: str | int) -> int:
    """An integer as people write it: 65536, 1e6, 2.5e3 or 1,000,000."""
    if isinstance(text, int):  # a default
        return text
    plain = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", text)
    try:
        number = decimal.Decimal(plain)
    except decimal.InvalidOperation:
        number = decimal.Decimal("nan")
    if not number.is_finite() or number.copy_abs() >= 2**63 or number != int(number):
        raise typer.BadParameter(f"an integer is needed, such as 65536, 1e6 or 1,000,000. Got {text!r}.")
    return int(number)


Epsilon = Annotated[float, Option(help="Privacy loss.")]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Show no progress bar.")]


def show(as_json: bool, data: Any, text: str) -> None:
    """Print what a command found: a text, or data as one JSON document; what is not finite is null there."""
    if as_json:
        finite = json.loads(json.dumps(data, default=_plain), parse_constant=lambda _: None)
        text = json.dumps(finite, indent=2)
    print(text)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, Set) else str(value)


def table(header: list[str], rows: list[list[str]]) -> str:
    """Rows as aligned text, numbers to the right; the last column continues below if a line is too wide."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    numeric = [all(re.fullmatch(r"[-\d.,e+]*", cell) for cell in column) for column in columns]
    widths = [max(map(len, (name, *column))) for name, column in zip(header, columns, strict=True)]
    left = sum(width + 2 for width in widths[:-1])
    room = _terminal_width() - left
    if numeric[-1] or room < 16:
        room = max(widths[-1], 1)
    lines = []
    for row in [header, *rows]:
        last, *more = _lines(row[-1], room) or [""]
        cells = zip([*row[:-1], last], widths, numeric, strict=True)
        lines.append("  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in cells).rstrip())
        lines += [" " * left + part for part in more]
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """Each line of a text as a paragraph that fits the terminal; what follows a dash is indented."""
    return "\n".join(
        part
        for line in text.splitlines()
        for part in _lines(line, _terminal_width(), "  " if line.startswith("- ") else "") or [""]
    )


def _terminal_width() -> int:
    return shutil.get_terminal_size((80, 24)).columns


def _lines(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def require_place(*files: Path | None) -> None:
    """Refuse files that cannot be written, before a run whose result would be lost; None is skipped."""
    for file in files:
        if file is not None:
            try:
                check_place(file)
            except OSError as error:
                raise InvalidArgument(f"Cannot write {file}: {error.strerror}.") from None


def report_at(given: Path | None, usual: str) -> Path | None:
    """Where a report goes. Without its extra there is none, which is refused if a place was named."""
    if given is not None:
        require_extra("report", "A report needs")
    elif missing("report"):
        print("No report is written: that needs pip install 'discreet[report]'.", file=sys.stderr)
        return None
    place = given or Path(usual)
    require_place(place)
    return place


def command_line() -> str:
    """The command line that is running, to be typed again."""
    return "discreet " + shlex.join(sys.argv[1:])


app = new_group(
    "Private online decisions over sets: simulate, compare, plan, audit, serve.",
    name="discreet",
    epilog="Begin with 'discreet demo'. The help of each command has examples.",
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
