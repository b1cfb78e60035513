"""The application, and what its commands share: options, text for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import decimal
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer import Option

import discreet
from discreet.atomic_files import check_place
from discreet.errors import InvalidArgument
from discreet.imports import missing, require_extra

F = TypeVar("F", bound=Callable[..., object])


def command(group: typer.Typer, *examples: str, note: str = "", name: str | None = None) -> Callable[[F], F]:
    """Add a function to a group as a command; below its help are examples to copy, and a note."""
    title = "Example:" if len(examples) == 1 else "Examples:"
    copied = "\n".join([title, *(f"  {example}" for example in examples)])
    paragraphs = [" ".join(paragraph.split()) for paragraph in note.split("\n\n")]
    return group.command(name=name, epilog="\n\n".join([copied, *paragraphs]).rstrip())


def new_group(about: str, **settings: Any) -> typer.Typer:
    """A group of commands that prints its help if none of them is named."""
    return typer.Typer(
        help=about,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def Count(help: str) -> Any:  # noqa: A002 # as typer.Option has it
    """An option for an integer that may be large: 1e6 and 1,000,000 are understood."""
    return Option(help=help, parser=integer, metavar="INTEGER")


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
    """Rows as aligned text that fits the terminal, numbers to the right."""
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for name, *cells in zip(header, *rows, strict=True):
        numeric = all(re.fullmatch(r"[-\d.,e+]*", cell) for cell in cells)
        shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        shown.add_row(*row)
    return _as_text(shown)


def wrapped(text: str) -> str:
    """A text in lines that fit the terminal."""
    from rich.text import Text

    return _as_text(Text(text))


def _as_text(shown: Any) -> str:
    """What rich shows as plain text, as wide as the terminal; 80 columns where there is none."""
    from rich.console import Console

    width = shutil.get_terminal_size((80, 24)).columns
    console = Console(width=width, color_system=None, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(shown)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


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
