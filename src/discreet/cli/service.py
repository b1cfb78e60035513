"""The commands ``discreet store ...`` and ``discreet keys ...``, for a store that no server has open."""

from __future__ import annotations

import contextlib
import datetime
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from discreet.cli.app import Json, app, examples, new_group, show, table

if TYPE_CHECKING:
    from discreet.service.api_keys import ApiKeys

store_app = new_group("Administer a store that no server has open.")
keys_app = new_group("API keys of a store. While a server has an SQLite store open, use its route /v1/keys.")
app.add_typer(store_app, name="store")
app.add_typer(keys_app, name="keys")

#: What a check shows of each learner.
COLUMNS = ["learner", "epoch", "status", "generation", "rounds", "asked", "told", "expired", "open"]
File = Annotated[str, Argument(help="A file of JSON lines.")]
Copy = Annotated[str, Argument(help="A copy of an SQLite store.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask; nobody is asked where there is no terminal.")]
Store = Annotated[
    str,
    Option("--store", envvar="DISCREET_STORE", help="A path (SQLite) or postgresql://user@host/database."),
]
KeyFile = Annotated[
    str | None,
    Option(
        "--key-file",
        envvar="DISCREET_KEY_FILE",
        help="The encryption key, unless DISCREET_KEY has it; beside an SQLite file.",
    ),
]


@store_app.command(
    epilog=examples(
        "discreet store check",
        "discreet store check --store postgresql://discreet@db.internal/shop --key-file shop.key --json",
    )
)
def check(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """Check the store, its key and every learner. Exit code 1 if there are problems."""
    from discreet.service import admin

    found = admin.check(store, key_file)
    inspection = found.inspection
    counts = table(["table", "rows"], [[name, str(rows)] for name, rows in inspection.rows.items()])
    parts = [f"{inspection.backend}, schema {inspection.schema}; the key is right\n{counts}"]
    if found.learners:
        rows = [
            [a.name, a.epoch, a.status, a.generation, a.rounds, a.asked, a.told, a.expired, a.pending]
            for a in found.learners
        ]
        parts.append(table(COLUMNS, [[str(cell) for cell in row] for row in rows]))
    parts.append("\n".join(found.problems) or "No problems were found.")
    show(json, found, "\n\n".join(parts))
    if found.problems:
        raise typer.Exit(1)


@store_app.command(
    epilog=examples(
        "discreet store backup shop-backup.db --store shop.db",
        note="This works while a server has the store open. The key and the rollback guard are not in the "
        "copy: keep the key elsewhere, and do not back up the rollback guard.",
    )
)
def backup(file: Copy, store: Store = "discreet.db") -> None:
    """Copy an SQLite store to a new file."""
    from discreet.service import admin

    admin.backup(store, file)
    print(f"The store {store} was copied to {file}.")


@store_app.command(
    epilog=examples(
        "discreet store restore shop-backup.db --store shop.db",
        note="The replaced store is kept as shop.db.before-restore: delete it when you do not need it any "
        "more. On a terminal you are asked first, unless --yes is given. The rollback guard refuses an old "
        "backup: `discreet store check` shows which learners are too old, `discreet store adopt` continues "
        "anyway.",
    )
)
def restore(file: Copy, store: Store = "discreet.db", yes: Yes = False) -> None:
    """Replace an SQLite store that no server has open by a copy."""
    from discreet.service import admin

    _confirm(f"Replace the store {store} by {file}?", yes)
    replaced = admin.restore(store, file)
    if replaced is not None:
        print(f"The replaced store is kept as {replaced}.")
    print(f"The store {store} was restored from {file}. Next: discreet store check --store {store}")


@store_app.command(
    epilog=examples(
        "discreet store adopt --store shop.db",
        "discreet store adopt --store postgresql://discreet@db.internal/shop --key-file shop.key --latest",
        note="""For a store restored from an old backup, or one whose rollback guard is lost: learners that
may have released more than the store knows (without a rollback guard: all) are restarted from their last
point, which costs their epsilon again, or archived if their population's limit does not allow that. Queued
feedback is dropped. Learners created after the backup are gone, and their privacy loss is not counted: lower
the limits of populations.

--latest restarts nothing. Use it for another machine at the same PostgreSQL database, or if you know that
nothing was released after this state of the store.""",
    )
)
def adopt(
    store: Store = "discreet.db",
    key_file: KeyFile = None,
    latest: Annotated[bool, Option("--latest", help="This is the latest state: restart nothing.")] = False,
) -> None:
    """Continue a store whose rollback guard is missing, or has recorded more than is in the store."""
    from discreet.service import admin

    done = admin.adopt(store, key_file, latest=latest)
    for name in done.restarted:
        print(f"The learner {name!r} was restarted from its last point, which costs its epsilon again.")
    for name in done.archived:
        print(f"The learner {name!r} was archived: the limit of its population does not allow a new epoch.")
    active = f"These learners can continue: {', '.join(done.active)}." if done.active else ""
    print(f"The store has a new rollback guard. {active or 'No learner can continue: all have ended.'}")


@store_app.command(
    epilog=examples(
        "discreet store export shop.jsonl --store shop.db",
        note="The file contains only what is public, randomised or sealed, and not the key. The learners end "
        "in this store, since two copies of one state would release the same data twice: import the file "
        "once, where they should continue, and delete it. On a terminal you are asked first, unless --yes is "
        "given.",
    )
)
def export(file: File, store: Store = "discreet.db", key_file: KeyFile = None, yes: Yes = False) -> None:
    """Write the store to a file and hand its learners over: they end here."""
    from discreet.service import admin

    _confirm(f"All learners of {store} end here, and continue where {file} is imported. Export it?", yes)
    done = admin.export(store, file, key_file)
    print(f"{done.rows} rows were written to {file}.")
    for name in done.handed_over:
        print(f"The learner {name!r} was handed over: it has ended here.")


@store_app.command(
    name="import",
    epilog=examples(
        "discreet store import shop.jsonl --store postgresql://discreet@db.internal/shop --key-file shop.key"
    ),
)
def import_(file: File, store: Store = "discreet.db", key_file: KeyFile = None) -> None:
    """Import a file into an empty store. It needs the key of the exported store."""
    from discreet.service import admin

    print(f"{admin.import_(store, file, key_file)} rows were read from {file}.")


@store_app.command(epilog=examples("discreet store migrate --store shop.db"))
def migrate(store: Store = "discreet.db") -> None:
    """Migrate the store to the schema of this release, as starting a server does. Back it up first."""
    from discreet.service import admin

    print(f"The store has version {admin.migrate(store).schema} of the schema.")


@keys_app.command(
    epilog=examples(
        "discreet keys create --role ask_tell --label checkout",
        "discreet keys create --role admin --store postgresql://discreet@db.internal/shop "
        "--key-file shop.key",
    )
)
def create(
    role: Annotated[str, Option(help="read, ask_tell or admin; each includes those before it.")],
    label: Annotated[str, Option(help="What it is for.")] = "",
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Create a key, and print it once."""
    with _api_keys(store, key_file) as api_keys:
        print(api_keys.create(role, label)[1])


@keys_app.command(
    epilog=examples(
        "discreet keys new",
        note="For DISCREET_ADMIN_KEY: a new store that is served with it takes it as its first admin key, "
        "and prints none.",
    )
)
def new() -> None:
    """Print a random key that no store knows yet."""
    from discreet.service.api_keys import new_key

    print(new_key())


@keys_app.command(name="list", epilog=examples("discreet keys list --json"))
def list_(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """List the ids of all keys that have not been revoked."""
    with _api_keys(store, key_file) as api_keys:
        found = api_keys.all()
    rows = [[key.id, key.role.value, _day(key.created_at), key.label] for key in found]
    show(json, found, table(["id", "role", "created", "label"], rows))


@keys_app.command(epilog=examples("discreet keys revoke c80c7c967f53d537"))
def revoke(
    key: Annotated[str, Argument(help="The id of a key, as the list shows it.")],
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Revoke a key. Running servers notice within three seconds."""
    with _api_keys(store, key_file) as api_keys:
        api_keys.revoke(key)
    print(f"The key {key} is revoked.")


def _confirm(question: str, yes: bool) -> None:
    """Go on only if whoever sits at a terminal says so; scripts are not asked."""
    if not yes and sys.stdin.isatty() and not typer.confirm(question):
        print("Nothing was changed.")
        raise typer.Exit(1)


@contextlib.contextmanager
def _api_keys(store: str, key_file: str | None) -> Iterator[ApiKeys]:
    from discreet.service.admin import require_store
    from discreet.service.learner_service import LearnerService

    require_store(store)
    with LearnerService.open(store, key_file=key_file, maintenance=False) as service:
        yield service.api_keys


def _day(milliseconds: int) -> str:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).strftime("%Y-%m-%d")
