"""Administer a store: check it, back it up, restore it, adopt old backups, replace its key."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from discreet.errors import BudgetExceeded, InvalidArgument, StaleState, StoreError, WrongKey
from discreet.service.clock import milliseconds
from discreet.service.encryption import KeyRing, fingerprint, load_key
from discreet.service.management import Management
from discreet.service.opening import (
    FINGERPRINT,
    open_parts,
    require_latest,
)
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.rotation import rotate
from discreet.storage import open_store, serves_one_process
from discreet.storage.inspection import Inspection, damage, inspect
from discreet.storage.sqlite_backup import back_up, put_back
from discreet.storage.store import Store

Where = str | os.PathLike[str]

#: Seconds that a statement may take: those that go through whole tables do.
_PATIENCE = 3_600.0
#: What a check shows of each learner, by the names of its view and its counts.
CHECKED = ("name", "epoch", "status", "generation", "rounds", "asked", "told", "expired", "pending")


@dataclasses.dataclass(frozen=True)
class Checked:
    """The result of a check.

    Attributes:
        inspection: Of the database; None if it is damaged.
        learners: The latest epoch of each: see `CHECKED`.
        problems: One sentence for each problem.
    """

    inspection: Inspection | None
    learners: tuple[dict[str, Any], ...]
    problems: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Adopted:
    """Names of learners that were restarted, that were archived, and that can continue."""

    restarted: tuple[str, ...]
    archived: tuple[str, ...]
    active: tuple[str, ...]


def check(where: Where, key_file: Where | None = None) -> Checked:
    """Check a store: its database, and if that is sound its key, and that every state can be read."""
    require_store(where)
    damaged = damage(os.fspath(where))
    if damaged:
        problems = [f"The database is damaged: {line}." for line in damaged]
        return Checked(None, (), (*problems, "Stop the server, and restore the latest state."))
    with _parts(where, key_file, look_only=True) as (store, ring, guard):
        found = inspect(store)
        management = Management(store, ring, guard, milliseconds)
        problems = []
        try:
            require_latest(store, guard)
        except StaleState as error:
            problems.append(str(error))
        learners = []
        with store.reading() as reading:
            ids = {record.name: record.id for record in reading.latest()}
        for view in management.learners():
            counts, still_open = view.counts, found.open.get(ids[view.name], 0)
            shown = dict(view) | dict(counts)
            learners.append({name: shown[name] for name in CHECKED})
            if view.status == "stale":
                problems.append(
                    f"The store is older than what {view.name!r} has released: an old backup, which must not "
                    "be continued."
                )
            if view.status == "damaged":
                problems.append(f"The state of {view.name!r} is damaged.")
            if view.status == "active" and counts.pending != still_open:
                problems.append(
                    f"{view.name!r} has {still_open} open decisions, but its counts say {counts.pending}."
                )
        return Checked(found, tuple(learners), tuple(problems))


def adopt(where: Where, key_file: Where | None = None, *, latest: bool = False) -> Adopted:
    """Continue a store whose rollback guard is missing, or has recorded more than is in the store.

    Args:
        where: The store, which no process serves.
        key_file: Its encryption key.
        latest: Whether you know that this is the latest state of the store: nothing was released after it.
            Otherwise learners that may have released more (without a rollback guard: all) are restarted,
            which costs their epsilon again, or archived if the ledger does not allow that.

    Raises:
        StaleState: With `latest`, if the rollback guard has recorded more: learners, or releases.
    """
    require_store(where)
    if damage(os.fspath(where)):
        raise StoreError("The database is damaged. Restore a backup that is not.")
    with _parts(where, key_file, look_only=True, repair=True) as (store, ring, guard):
        if latest and not guard.fresh:
            require_latest(store, guard)
        management = Management(store, ring, guard, milliseconds)
        registry = management.registry
        restarted, archived = [], []
        for hosted in registry.every_active():
            if latest and not guard.fresh:
                hosted.check()
            if latest or not (hosted.stale or guard.fresh):
                continue
            hosted.stale = True  # queued feedback may have been released before: it is dropped
            try:
                management.restart(hosted.record.name)
                restarted.append(hosted.record.name)
            except BudgetExceeded:
                management.archive(hosted.record.name)
                archived.append(hosted.record.name)
        guard.settle(registry.releases())
        active = sorted(hosted.record.name for hosted in registry.every_active())
        return Adopted(tuple(sorted(restarted)), tuple(sorted(archived)), tuple(active))


def backup(where: Where, file: Where) -> None:
    """Copy an SQLite store, which a server may have open, to a new file."""
    back_up(_sqlite_file(where), file)


def restore(where: Where, file: Where) -> pathlib.Path | None:
    """Replace an SQLite store that no server has open by a copy; return where the replaced one is."""
    return put_back(file, _sqlite_file(where))


def rotate_key(where: Where, new_key_file: Where, key_file: Where | None = None) -> int | None:
    """Seal a store with another key, and everything in it with keys that the old one never opened.

    Args:
        where: The store, which no server has open.
        new_key_file: The new key; created if missing.
        key_file: The old one.

    Returns:
        How many sealed values were replaced; None if the store already has the new key.
    """
    require_store(where)
    file = pathlib.Path(new_key_file)
    if file.exists():
        with contextlib.closing(open_store(where, patience=_PATIENCE)) as store, store.reading() as reading:
            if reading.meta(FINGERPRINT) == _fingerprint(file, environment=False):
                return None
    with _parts(where, key_file, look_only=True) as (store, ring, _):
        new = load_key(file, create=True, environment=False)
        return rotate(store, ring, ring.rotated(new))


@contextlib.contextmanager
def _parts(
    where: Where, key_file: Where | None, **options: bool
) -> Iterator[tuple[Store, KeyRing, RollbackGuard]]:
    """The parts of a store that exists; closed at the end."""
    require_store(where)
    store, ring, guard = open_parts(where, key_file, None, patience=_PATIENCE, **options)
    try:
        yield store, ring, guard
    finally:
        guard.close()
        store.close()


def require_store(where: Where) -> None:
    """Require that there is a store: opening would create one."""
    if serves_one_process(where) and not os.path.exists(_sqlite_file(where)):
        raise InvalidArgument(f"The store {_sqlite_file(where)} does not exist.")


def _fingerprint(key_file: pathlib.Path | None, *, environment: bool = True) -> str | None:
    """Of the given key; None if there is none."""
    try:
        return fingerprint(load_key(key_file, create=False, environment=environment))
    except WrongKey:
        return None


def _sqlite_file(where: Where) -> str:
    if not serves_one_process(where):
        raise InvalidArgument("Back up a PostgreSQL database with its own tools: pg_dump, pg_restore.")
    return os.fspath(where).removeprefix("sqlite:///")
