"""The commands ``discreet keys create | list | revoke``."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.options import Json, KeyFile, Store

if TYPE_CHECKING:
    from discreet.service.api_keys import ApiKeys

app = typer.Typer(
    help="API keys of a store. While a server has an SQLite store open, use its route /v1/keys.",
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
    role: Annotated[str, typer.Option(help="read, ask_tell or admin; each includes those before it.")],
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Create a key, and print it once."""
    with _api_keys(store, key_file) as api_keys:
        print(api_keys.create(role, label)[1])


@app.command(
    name="list",
    epilog="""Example:

discreet keys list --json""",
)
def list_(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """List the ids of all keys that have not been revoked."""
    from discreet.cli.output import print_json, table

    with _api_keys(store, key_file) as api_keys:
        found = api_keys.all()
    if json:
        print_json(found)
        return
    rows = [[key.id, key.role.value, _day(key.created_at), key.label] for key in found]
    print(table(["id", "role", "created", "label"], rows))


@app.command(
    epilog="""Example:

discreet keys revoke c80c7c967f53d537"""
)
def revoke(
    key: Annotated[str, typer.Argument(help="The id of a key, as the list shows it.")],
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Revoke a key. Running servers notice within three seconds."""
    with _api_keys(store, key_file) as api_keys:
        api_keys.revoke(key)
    print(f"The key {key} is revoked.")


@contextlib.contextmanager
def _api_keys(store: str, key_file: str | None) -> Iterator[ApiKeys]:
    from discreet.service.admin import require_store
    from discreet.service.learner_service import LearnerService

    require_store(store)
    with LearnerService.open(store, key_file=key_file, maintenance=False) as service:
        yield service.api_keys


def _day(milliseconds: int) -> str:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).strftime("%Y-%m-%d")
