"""The commands ``discreet store check | backup | restore | adopt | export | import | migrate``."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import Json, KeyFile, Store, Yes, confirm

app = typer.Typer(
    help="Look after a store that no server has open.",
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
    """Is the store sound, does its key fit, can every learner go on? Exit code 1 if not."""
    from discreet.cli.output import print_json, table
    from discreet.service import upkeep

    found = upkeep.check(store, key_file)
    if json:
        print_json(found)
    else:
        inspection = found.inspection
        print(f"{inspection.backend}, schema {inspection.schema}; the key fits")
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
        print("\n" + ("\n".join(found.problems) or "Everything is sound."))
    if found.problems:
        raise typer.Exit(1)


@app.command(
    epilog="""Example:

discreet store backup shop-backup.db --store shop.db

Also while a server has the store. The key and the witness are not in it: keep the key elsewhere, and do not
back up the witness."""
)
def backup(file: Copy, store: Store = "discreet.db") -> None:
    """Copy an SQLite store to a new file, consistently."""
    from discreet.service import upkeep

    upkeep.backup(store, file)
    print(f"The store {store} was copied to {file}.")


@app.command(
    epilog="""Example:

discreet store restore shop-backup.db --store shop.db

What the store was before is kept beside it, as shop.db.before-restore: delete it when you need it no more.
On a terminal you are asked first, unless --yes is given. An old backup is refused by the witness: `discreet
store check` says what is older than it should be, `discreet store adopt` lets the rest go on."""
)
def restore(file: Copy, store: Store = "discreet.db", yes: Yes = False) -> None:
    """Put a copy in the place of an SQLite store that no server has open."""
    from discreet.service import upkeep

    confirm(f"Put {file} in the place of the store {store}?", yes)
    replaced = upkeep.restore(store, file)
    if replaced is not None:
        print(f"What the store was before is kept as {replaced}.")
    print(f"The store {store} is what {file} was. Next: discreet store check --store {store}")


@app.command(
    epilog="""Examples:

discreet store adopt --store shop.db

discreet store adopt --store postgresql://discreet@db.internal/shop --key-file shop.key --latest

For a store restored from an old backup, or one whose witness file is lost: learners that may have released
more than the store knows (without a witness: all) are restarted from their last point, each at the price of
its epsilon, or archived where their population's limit does not allow that. What was told and waits is
dropped. Learners made after the backup are gone, and so is the count of what people lost to them: lower the
limits of populations.

--latest restarts nothing. It is for a new machine beside others at one PostgreSQL database, and for a store
of which you know that nothing was released after this state."""
)
def adopt(
    store: Store = "discreet.db",
    key_file: KeyFile = None,
    latest: Annotated[
        bool, typer.Option("--latest", help="This is the latest state: restart nothing.")
    ] = False,
) -> None:
    """Let a store go on whose witness is gone, or knows more than is in it."""
    from discreet.service import upkeep

    done = upkeep.adopt(store, key_file, latest=latest)
    for name in done.restarted:
        print(f"The learner {name!r} was restarted from its last point, which costs its epsilon once more.")
    for name in done.archived:
        print(f"The learner {name!r} was archived: the limit of its population allows no new epoch.")
    if done.active:
        print(f"The store has a new witness. What can go on here: {', '.join(done.active)}.")
    else:
        print("The store has a new witness. No learner can go on here: all were archived or handed over.")


@app.command(
    epilog="""Example:

discreet store export shop.jsonl --store shop.db

What is written is public, randomised or sealed; the key is not in it. The learners end in this store, since
two of them going on from one state would release the same data twice: import the file once, where they shall
go on, and delete it. On a terminal you are asked first, unless --yes is given."""
)
def export(file: File, store: Store = "discreet.db", key_file: KeyFile = None, yes: Yes = False) -> None:
    """Write the store to a file, and hand its learners over: they end here."""
    from discreet.service import upkeep

    confirm(f"All learners of {store} end here, and go on where {file} is imported. Export it?", yes)
    done = upkeep.export(store, file, key_file)
    print(f"{done.rows} rows were written to {file}.")
    for name in done.handed_over:
        print(f"The learner {name!r} was handed over: it has ended here.")


@app.command(
    name="import",
    epilog="""Example:

discreet store import shop.jsonl --store postgresql://discreet@db.internal/shop --key-file shop.key""",
)
def import_(file: File, store: Store = "discreet.db", key_file: KeyFile = None) -> None:
    """Fill an empty store from a file. It needs the key of the store that was exported."""
    from discreet.service import upkeep

    print(f"{upkeep.import_(store, file, key_file)} rows were read from {file}.")


@app.command(
    epilog="""Example:

discreet store migrate --store shop.db"""
)
def migrate(store: Store = "discreet.db") -> None:
    """Bring the store to the schema of this release, as starting a server does. Back it up before."""
    from discreet.service import upkeep

    print(f"The store has version {upkeep.migrate(store).schema} of the schema.")
