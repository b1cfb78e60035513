"""Looking after a store: is it sound, does the key fit; copies, old backups, moving it elsewhere."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Iterable

from discreet.errors import BudgetExceeded, InvalidArgument, StaleState, StoreError, WrongKey
from discreet.service.clock import milliseconds
from discreet.service.keys import KeyRing
from discreet.service.opening import (
    FINGERPRINT,
    NAME,
    default_key_file,
    opened,
    require_latest,
    witness_path,
)
from discreet.service.registry import Registry
from discreet.service.witness import ENDED
from discreet.storage import Store, open_store, serves_one_process
from discreet.storage.inspection import Inspection, inspect
from discreet.storage.sql_store import SqlStore
from discreet.storage.sqlite_backup import back_up, put_back
from discreet.storage.transfer import Exported, export_store, import_store, noted_in

Where = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class CheckedLearner:
    """One epoch of a learner whose state could be read (and unsealed)."""

    name: str
    epoch: int
    status: str
    generation: int
    rounds: int
    asked: int
    told: int
    expired: int
    pending: int


@dataclasses.dataclass(frozen=True)
class Checked:
    """What was found.

    Attributes:
        inspection: Of the database.
        learners: The latest epoch of each.
        problems: What is wrong, in words; empty where nothing is.
    """

    inspection: Inspection
    learners: tuple[CheckedLearner, ...]
    problems: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Adopted:
    """The names of learners that were restarted, of those that were archived, and of all that can go on."""

    restarted: tuple[str, ...]
    archived: tuple[str, ...]
    active: tuple[str, ...]


def check(where: Where, key_file: Where | None = None) -> Checked:
    """Whether a store is sound. That its key fits and that every state can be read is seen by doing so."""
    require_store(where)
    store, ring, witness = opened(where, key_file, None, look_only=True)
    try:
        found = inspect(_sql(store))
        registry = Registry(store, ring, witness, milliseconds)
        problems = [f"The database is damaged: {line}." for line in found.damage]
        try:
            require_latest(store, witness)
        except StaleState as error:
            problems.append(str(error))
        learners = []
        for view in registry.views():
            counts, number = view.counts, registry.named(view.name).id
            learners.append(
                CheckedLearner(
                    name=view.name,
                    epoch=view.epoch,
                    status=view.status,
                    generation=view.generation,
                    rounds=view.summary.rounds,
                    asked=counts.asked,
                    told=counts.told,
                    expired=counts.expired,
                    pending=counts.pending,
                )
            )
            if view.status == "stale":
                problems.append(
                    f"The store is older than what {view.name!r} had released: an old backup, which must not "
                    "go on."
                )
            if view.status == "damaged":
                problems.append(f"The state of {view.name!r} is damaged.")
            if view.status == "active" and counts.pending != found.open.get(number, 0):
                problems.append(
                    f"Of {view.name!r} {found.open.get(number, 0)} decisions are open, and its counts say "
                    f"{counts.pending}."
                )
        return Checked(found, tuple(learners), tuple(problems))
    finally:
        witness.close()
        store.close()


def adopt(where: Where, key_file: Where | None = None, *, latest: bool = False) -> Adopted:
    """Let a store go on whose witness is gone, or knows more than is in it.

    Args:
        where: The store, which no process serves.
        key_file: Its key.
        latest: Whether you know that this is the latest state of the store: nothing was released after it.
            Otherwise learners that may have released more are restarted, each at the price of its epsilon,
            or archived if the ledger does not allow that. Without a witness that is all of them.

    Raises:
        StaleState: With `latest`, a witness that knows of more: learners, or what they had released.
    """
    require_store(where)
    store, ring, witness = opened(where, key_file, None, look_only=True, repair=True)
    try:
        if inspect(_sql(store)).damage:
            raise StoreError("The database is damaged. Restore a backup that is not.")
        if latest and not witness.fresh:
            require_latest(store, witness)
        registry = Registry(store, ring, witness, milliseconds)
        restarted, archived = [], []
        for kept in registry.active():
            if latest and not witness.fresh:
                kept.check()  # the witness knows better
            if latest or not (kept.stale or witness.fresh):
                continue
            kept.stale = True  # what waits may have been released before: it is dropped
            try:
                registry.restart(kept.record.name)
                restarted.append(kept.record.name)
            except BudgetExceeded:
                registry.archive(kept.record.name)
                archived.append(kept.record.name)
        witness.settle(registry.releases())
        active = sorted(kept.record.name for kept in registry.active())
        return Adopted(tuple(sorted(restarted)), tuple(sorted(archived)), tuple(active))
    finally:
        witness.close()
        store.close()


def backup(where: Where, file: Where) -> None:
    """Write a consistent copy of an SQLite store, which a server may have open, to a new file."""
    back_up(_sqlite_file(where), file)


def restore(where: Where, file: Where) -> pathlib.Path | None:
    """Put a copy in the place of an SQLite store that no server has open; where the replaced one is now."""
    return put_back(file, _sqlite_file(where))


def export(where: Where, file: Where, key_file: Where | None = None) -> Exported:
    """Write a store to a file, and hand its learners over: they end here, as its witness knows, too."""
    require_store(where)
    store, ring, witness = opened(where, key_file, None)
    try:
        require_latest(store, witness)
        witness.begin()
        for kept in Registry(store, ring, witness, milliseconds).active():
            kept.check()

        def ended(lineages: Iterable[str]) -> None:
            for lineage in lineages:
                witness.record(lineage, ENDED, durable=True)

        return export_store(_sql(store), file, ended)
    finally:
        witness.close()
        store.close()


def import_(where: Where, file: Where, key_file: Where | None = None) -> int:
    """Fill an empty store from a file. The key that the file was made with must be there first."""
    fingerprint, name = noted_in(file, FINGERPRINT), noted_in(file, NAME)
    store = open_store(where)
    try:
        given = pathlib.Path(key_file) if key_file is not None else default_key_file(store)
        if fingerprint is not None and _fingerprint(given) != fingerprint:
            raise WrongKey(
                "The export needs the key of the store that it was made from: name its file with --key-file, "
                "or set DISCREET_KEY."
            )
        path = witness_path(store, name or "", None)
        if path.exists():
            raise InvalidArgument(
                f"There is a witness {path} already: of another store, or of this one, which must not be "
                "imported twice. If it is of the store that was exported, name another in DISCREET_WITNESS."
            )
        rows = import_store(_sql(store), file)
    finally:
        store.close()
    adopt(where, key_file, latest=True)
    return rows


def migrate(where: Where) -> Inspection:
    """Bring a store to this release's schema, which opening it does."""
    require_store(where)
    store = open_store(where)
    try:
        return inspect(_sql(store))
    finally:
        store.close()


def require_store(where: Where) -> None:
    """Complain if there is no store: opening makes one, but who looks after one means one that is there."""
    if serves_one_process(where) and not os.path.exists(_sqlite_file(where)):
        raise InvalidArgument(f"There is no store {_sqlite_file(where)}.")


def _fingerprint(key_file: pathlib.Path | None) -> str | None:
    """Of the key that is given; None if there is none."""
    try:
        return KeyRing.found(key_file, create=False).fingerprint
    except WrongKey:
        return None


def _sqlite_file(where: Where) -> str:
    if not serves_one_process(where):
        raise InvalidArgument("A PostgreSQL database is backed up with its own means: pg_dump, pg_restore.")
    return os.fspath(where).removeprefix("sqlite:///")


def _sql(store: Store) -> SqlStore:
    assert isinstance(store, SqlStore)
    return store
