"""Options that several commands share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print data instead of words.")]
Store = Annotated[str, typer.Option("--store", help="A path (SQLite) or postgresql://user@host/database.")]
KeyFile = Annotated[
    str | None,
    typer.Option(
        "--key-file", help="The key that seals secrets, unless DISCREET_KEY has it; beside an SQLite file."
    ),
]
