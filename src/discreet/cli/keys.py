"""The commands ``discreet keys create | list | revoke``."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.options import Json, KeyFile, Store

if TYPE_CHECKING:
    from discreet.service.bearers import Bearers

app = typer.Typer(
    help="Bearer keys of a store. A running server on SQLite has its file: use its route /v1/keys then.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(
    epilog="""Examples:

discreet keys create --role ask_tell --label checkout

discreet keys create --role admin --store postgresql://discreet@db.internal/shop --key-file shop.key"""
)
def create(
    role: Annotated[str, typer.Option(help="read, ask_tell or admin; each may do what those before may.")],
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Make a key, and print it this once."""
    with _bearers(store, key_file) as bearers:
        print(bearers.create(role, label)[1])


@app.command(
    name="list",
    epilog="""Example:

discreet keys list --json""",
)
def list_(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """The keys that have not been revoked: their ids, never themselves."""
    from discreet.cli.output import print_json, table

    with _bearers(store, key_file) as bearers:
        found = bearers.listed()
    if json:
        print_json(found)
        return
    rows = [[b.id, b.role.value, _day(b.created_at), b.label] for b in found]
    print(table(["id", "role", "made", "label"], rows))


@app.command(
    epilog="""Example:

discreet keys revoke c80c7c967f53d537"""
)
def revoke(
    key: Annotated[str, typer.Argument(help="The id of a key, as the list shows it.")],
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Make a key useless. Running servers notice within three seconds."""
    with _bearers(store, key_file) as bearers:
        bearers.revoke(key)
    print(f"The key {key} is revoked.")


@contextlib.contextmanager
def _bearers(store: str, key_file: str | None) -> Iterator[Bearers]:
    from discreet.service.desk import Desk
    from discreet.service.upkeep import require_store

    require_store(store)
    with Desk.open(store, key_file=key_file, housekeeping=False) as desk:
        yield desk.bearers


def _day(milliseconds: int) -> str:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).strftime("%Y-%m-%d")
