"""The commands ``discreet store ...`` and ``discreet keys ...``, for a store that no server has open."""

from __future__ import annotations

import contextlib
import datetime
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from discreet.cli.app import Json, app, command, new_group, show, table

if TYPE_CHECKING:
    from discreet.service.api_keys import ApiKeys

store_app = new_group("Administer a store that no server has open.")
keys_app = new_group("API keys of a store. While a server has an SQLite store open, use its route /v1/keys.")
app.add_typer(store_app, name="store")
app.add_typer(keys_app, name="keys")

#: What a check shows of each learner.
COLUMNS = ["learner", "epoch", "status", "generation", "rounds", "asked", "told", "expired", "open"]
Copy = Annotated[str, Argument(help="A copy of an SQLite store.")]
Yes = Annotated[bool, Option("--yes", help="Do not ask; nobody is asked where there is no terminal.")]
Store = Annotated[
    str,
    Option(
        "--store",
        envvar="DISCREET_STORE",
        metavar="PATH",
        help="A file (SQLite), or postgresql://user@host/database.",
    ),
]
KeyFile = Annotated[
    str | None,
    Option(
        "--key-file",
        envvar="DISCREET_KEY_FILE",
        metavar="PATH",
        help="The encryption key, unless DISCREET_KEY has it; beside an SQLite file.",
    ),
]


@command(
    store_app,
    "discreet store check",
    "discreet store check --store postgresql://me@db/shop --key-file shop.key",
)
def check(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """Check the store, its key and every learner. Exit code 1 if there are problems."""
    from discreet.service import admin

    found = admin.check(store, key_file)
    parts = []
    if found.inspection is not None:
        inspection = found.inspection
        counts = table(["table", "rows"], [[name, str(rows)] for name, rows in inspection.rows.items()])
        parts.append(f"{inspection.backend}, schema {inspection.schema}; the key is right\n{counts}")
    if found.learners:
        parts.append(table(COLUMNS, [[str(cell) for cell in row.values()] for row in found.learners]))
    parts.append("\n".join(found.problems) or "No problems were found.")
    show(json, found, "\n\n".join(parts))
    if found.problems:
        raise typer.Exit(1)


@command(
    store_app,
    "discreet store backup shop-backup.db --store shop.db",
    note="This works while a server has the store open. The key and the rollback guard are not in the "
    "copy: keep the key elsewhere, and do not back up the rollback guard.",
)
def backup(file: Copy, store: Store = "discreet.db") -> None:
    """Copy an SQLite store to a new file."""
    from discreet.service import admin

    admin.backup(store, file)
    print(f"The store {store} was copied to {file}.")


@command(
    store_app,
    "discreet store restore shop-backup.db --store shop.db",
    note="The replaced store is kept as shop.db.before-restore: delete it when you do not need it any "
    "more. On a terminal you are asked first, unless --yes is given. The rollback guard refuses an old "
    "backup: `discreet store check` shows which learners are too old, `discreet store adopt` continues "
    "anyway.",
)
def restore(file: Copy, store: Store = "discreet.db", yes: Yes = False) -> None:
    """Replace an SQLite store that no server has open by a copy."""
    from discreet.service import admin

    _confirm(f"Replace the store {store} by {file}?", yes)
    replaced = admin.restore(store, file)
    if replaced is not None:
        print(f"The replaced store is kept as {replaced}.")
    print(f"The store {store} was restored from {file}. Next: discreet store check --store {store}")


@command(
    store_app,
    "discreet store adopt --store shop.db",
    "discreet store adopt --store shop.db --latest",
    note="""For a store restored from an old backup, or one whose rollback guard is lost: learners that
may have released more than the store knows (without a rollback guard: all) are restarted,
which costs their epsilon again, or archived if their population's limit does not allow that. Queued
feedback is dropped. Learners created after the backup are gone, and their privacy loss is not counted: lower
the limits of populations.

--latest restarts nothing. Use it if you know that nothing was released after this state of the store.""",
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
        print(f"The learner {name!r} was restarted, which costs its epsilon again.")
    for name in done.archived:
        print(f"The learner {name!r} was archived: the limit of its population does not allow a new epoch.")
    active = f"These learners can continue: {', '.join(done.active)}." if done.active else ""
    print(f"The store has a new rollback guard. {active or 'No learner can continue: all have ended.'}")


@command(
    store_app,
    "discreet store rotate-key --new-key-file new.key --store shop.db",
    note="""After a key has leaked, or as a matter of routine. Stop all servers first. Everything is
sealed with a new key in one transaction: if it is interrupted, nothing has changed, and it can be repeated.
Then start the servers with the new key. The old one opens nothing but old backups: destroy both. It cannot be
undone that whoever had it, and a copy of the store, knows what was sealed there, and can check guesses of
people's ids.""",
    name="rotate-key",
)
def rotate_key(
    new_key_file: Annotated[str, Option(metavar="PATH", help="The new key; created if missing.")],
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Replace the encryption key, and seal everything again."""
    from discreet.service import admin

    done = admin.rotate_key(store, new_key_file, key_file)
    what = "The store has this key already" if done is None else f"{done} sealed values were sealed again"
    print(f"{what}. Start the servers with --key-file {new_key_file}, and destroy the old key.")


@command(
    keys_app,
    "discreet keys create --role ask_tell --label checkout",
    "discreet keys create --role ask_tell --learner till --expires-in 90d",
    "discreet keys create --role admin --store shop.db --key-file shop.key",
)
def create(
    role: Annotated[
        str, Option(metavar="ROLE", help="read, ask_tell or admin; each includes those before it.")
    ],
    label: Annotated[str, Option(help="What it is for.")] = "",
    learner: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="The only learner it sees and is used for; may be repeated."),
    ] = None,
    expires_in: Annotated[
        str | None,
        Option(
            metavar="TIME", help="When it will be refused: a number of days (30d), hours (12h), minutes (5m)."
        ),
    ] = None,
    store: Store = "discreet.db",
    key_file: KeyFile = None,
) -> None:
    """Create a key, and print it once."""
    from discreet.service.clock import milliseconds

    expires_at = None
    if expires_in is not None:
        expires_at = milliseconds() + round(1000 * _seconds("expires-in", expires_in))
    with _api_keys(store, key_file) as api_keys:
        print(api_keys.create(role, label, learners=learner, expires_at=expires_at)[1])


@command(
    keys_app,
    "discreet keys new",
    note="For DISCREET_ADMIN_KEY: a new store that is served with it takes it as its first admin key, "
    "and prints none.",
)
def new() -> None:
    """Print a random key that no store knows yet."""
    from discreet.service.api_keys import new_key

    print(new_key())


@command(keys_app, "discreet keys list --json", name="list")
def list_(store: Store = "discreet.db", key_file: KeyFile = None, json: Json = False) -> None:
    """List the ids of all keys that have not been revoked."""
    with _api_keys(store, key_file) as api_keys:
        found = api_keys.all()
    rows = [
        [
            key.id,
            key.role.value,
            _minute(key.created_at)[:10],
            _minute(key.expires_at),
            "all" if key.learners is None else ", ".join(key.learners),
            key.label,
        ]
        for key in found
    ]
    show(json, found, table(["id", "role", "created", "expires", "learners", "label"], rows))


@command(keys_app, "discreet keys revoke c80c7c967f53d537")
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


def _minute(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "never"
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).strftime("%Y-%m-%d %H:%M")


def _seconds(option: str, text: str) -> float:
    """A length of time such as 30d."""
    found = re.fullmatch(r"(\d{1,9})([smhd])", text)
    if found is None:
        raise typer.BadParameter(f"--{option} is a number and a unit: 45s, 5m, 12h or 30d.")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[found[2]]
