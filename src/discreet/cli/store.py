"""The commands ``discreet store check | backup | restore | adopt | export | import | migrate``."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import Json, KeyFile, Store, Yes, confirm

app = typer.Typer(
    help="Administer a store that no server has open.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[str, typer.Argument(help="A file of JSON lines.")]
Copy = Annotated[str, typer.Argument(help="A copy of an SQLite store.")]


@app.command(
    epilog="""Examples:

discreet store check

discreet store check --store postgresql://discreet@db.internal/shop --key-file shop.key --json"""
)
def check(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """Check the store, its key and every learner. Exit code 1 if there are problems."""
    from discreet.cli.output import print_json, table
    from discreet.service import admin

    found = admin.check(store, key_file)
    if json:
        print_json(found)
    else:
        inspection = found.inspection
        print(f"{inspection.backend}, schema {inspection.schema}; the key is right")
        print(table(["table", "rows"], [[name, str(rows)] for name, rows in inspection.rows.items()]))
        if found.learners:
            print()
            header = [
                "learner",
                "epoch",
                "status",
                "generation",
                "rounds",
                "asked",
                "told",
                "expired",
                "open",
            ]
            rows = [
                [a.name, a.epoch, a.status, a.generation, a.rounds, a.asked, a.told, a.expired, a.pending]
                for a in found.learners
            ]
            print(table(header, [[str(cell) for cell in row] for row in rows]))
        print("\n" + ("\n".join(found.problems) or "No problems were found."))
    if found.problems:
        raise typer.Exit(1)


@app.command(
    epilog="""Example:

discreet store backup shop-backup.db --store shop.db

This works while a server has the store open. The key and the rollback guard are not in the copy: keep the key
elsewhere, and do not back up the rollback guard."""
)
def backup(file: Copy, store: Store = "discreet.db") -> None:
    """Copy an SQLite store to a new file."""
    from discreet.service import admin

    admin.backup(store, file)
    print(f"The store {store} was copied to {file}.")


@app.command(
    epilog="""Example:

discreet store restore shop-backup.db --store shop.db

The replaced store is kept as shop.db.before-restore: delete it when you do not need it any more. On a
terminal you are asked first, unless --yes is given. The rollback guard refuses an old backup: `discreet store
check` shows which learners are too old, `discreet store adopt` continues anyway."""
)
def restore(file: Copy, store: Store = "discreet.db", yes: Yes = False) -> None:
    """Replace an SQLite store that no server has open by a copy."""
    from discreet.service import admin

    confirm(f"Replace the store {store} by {file}?", yes)
    replaced = admin.restore(store, file)
    if replaced is not None:
        print(f"The replaced store is kept as {replaced}.")
    print(f"The store {store} was restored from {file}. Next: discreet store check --store {store}")


@app.command(
    epilog="""Examples:

discreet store adopt --store shop.db

discreet store adopt --store postgresql://discreet@db.internal/shop --key-file shop.key --latest

For a store restored from an old backup, or one whose rollback guard is lost: learners that may have released
more than the store knows (without a rollback guard: all) are restarted from their last point, which costs
their epsilon again, or archived if their population's limit does not allow that. Queued feedback is dropped.
Learners created after the backup are gone, and their privacy loss is not counted: lower the limits of
populations.

--latest restarts nothing. Use it for another machine at the same PostgreSQL database, or if you know that
nothing was released after this state of the store."""
)
def adopt(
    store: Store = "discreet.db",
    key_file: KeyFile = None,
    latest: Annotated[
        bool, typer.Option("--latest", help="This is the latest state: restart nothing.")
    ] = False,
) -> None:
    """Continue a store whose rollback guard is missing, or has recorded more than is in the store."""
    from discreet.service import admin

    done = admin.adopt(store, key_file, latest=latest)
    for name in done.restarted:
        print(f"The learner {name!r} was restarted from its last point, which costs its epsilon again.")
    for name in done.archived:
        print(f"The learner {name!r} was archived: the limit of its population does not allow a new epoch.")
    if done.active:
        print(f"The store has a new rollback guard. These learners can continue: {', '.join(done.active)}.")
    else:
        print("The store has a new rollback guard. No learner can continue: all have ended.")


@app.command(
    epilog="""Example:

discreet store export shop.jsonl --store shop.db

The file contains only what is public, randomised or sealed, and not the key. The learners end in this store,
since two copies of one state would release the same data twice: import the file once, where they should
continue, and delete it. On a terminal you are asked first, unless --yes is given."""
)
def export(file: File, store: Store = "discreet.db", key_file: KeyFile = None, yes: Yes = False) -> None:
    """Write the store to a file and hand its learners over: they end here."""
    from discreet.service import admin

    confirm(f"All learners of {store} end here, and continue where {file} is imported. Export it?", yes)
    done = admin.export(store, file, key_file)
    print(f"{done.rows} rows were written to {file}.")
    for name in done.handed_over:
        print(f"The learner {name!r} was handed over: it has ended here.")


@app.command(
    name="import",
    epilog="""Example:

discreet store import shop.jsonl --store postgresql://discreet@db.internal/shop --key-file shop.key""",
)
def import_(file: File, store: Store = "discreet.db", key_file: KeyFile = None) -> None:
    """Import a file into an empty store. It needs the key of the exported store."""
    from discreet.service import admin

    print(f"{admin.import_(store, file, key_file)} rows were read from {file}.")


@app.command(
    epilog="""Example:

discreet store migrate --store shop.db"""
)
def migrate(store: Store = "discreet.db") -> None:
    """Migrate the store to the schema of this release, as starting a server does. Back it up first."""
    from discreet.service import admin

    print(f"The store has version {admin.migrate(store).schema} of the schema.")
