"""Options that several commands share."""

import decimal
import re
import sys
from typing import Annotated, Any

import typer

#: No count is larger.
MOST = 2**63 - 1


def Count(help: str) -> Any:  # noqa: A002 # as typer.Option has it
    """An option for an integer that may be large: 1e6 and 1,000,000 are understood."""
    return typer.Option(help=help, parser=integer, metavar="<int>")


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


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask; nobody is asked where there is no terminal.")]
Store = Annotated[str, typer.Option("--store", help="A path (SQLite) or postgresql://user@host/database.")]
KeyFile = Annotated[
    str | None,
    typer.Option("--key-file", help="The encryption key, unless DISCREET_KEY has it; beside an SQLite file."),
]


def confirm(question: str, yes: bool) -> None:
    """Go on only if whoever sits at a terminal says so; scripts are not asked."""
    if yes or not sys.stdin.isatty():
        return
    if not typer.confirm(question):
        print("Nothing was changed.")
        raise typer.Exit(1)
