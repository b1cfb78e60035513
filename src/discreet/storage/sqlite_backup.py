"""Back up an SQLite store while it is in use, and restore it when it is not.

Copying the files by hand fails in two ways: a copy made during a write is torn, and a journal that is left
behind is replayed into the restored copy.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3

from discreet.atomic_files import errors_name, name_beside, real_path, sync_folder
from discreet.errors import InvalidArgument, StoreError
from discreet.storage.sqlite import locked, read_only

Path = str | os.PathLike[str]
#: Suffix of a store that was replaced by a restore.
REPLACED = ".before-restore"


def back_up(store: Path, target: Path) -> None:
    """Write a consistent copy to a new file that only its owner can read; others may write meanwhile."""
    copy = real_path(target)
    if copy.exists():
        raise InvalidArgument(f"The file {copy} already exists.")
    _copied(real_path(store), copy)


def put_back(backup: Path, store: Path) -> pathlib.Path | None:
    """Replace a store that no process has open by a copy.

    The replaced store is kept beside it, with its journal, damaged or not. It must not continue once the copy
    has, and the rollback guard refuses it then.

    Returns:
        The path of the replaced store; None if there was none.

    Raises:
        StoreInUse: A server has the store open.
        InvalidArgument: The store replaced by an earlier restore is still there.
    """
    place = real_path(store)
    aside = pathlib.Path(f"{place}{REPLACED}")
    if aside.exists():
        raise InvalidArgument(f"The file {aside} of an earlier restore already exists: move it away first.")
    there = place.exists()
    handle = locked(place)
    try:
        _copied(real_path(backup), place, aside)
    finally:
        os.close(handle)
    return aside if there else None


def _copied(source: pathlib.Path, target: pathlib.Path, aside: pathlib.Path | None = None) -> None:
    """Copy a database beside its target, check it, keep what it replaces, and move it into place."""
    if not source.exists():
        raise InvalidArgument(f"The store {source} does not exist.")
    beside = name_beside(target)
    with errors_name(target):
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with read_only(source) as old, contextlib.closing(sqlite3.connect(beside)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode=DELETE")  # one file
            sound = new.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            known = new.execute("SELECT count(*) FROM sqlite_master WHERE name = 'learners'").fetchone() == (
                1,
            )
        if not (sound and known):
            raise StoreError(f"{source} is damaged or not a store; nothing was changed.")
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        if aside is not None:
            _empty_journal(target)
            _keep(target, aside)
        for journal in ("-wal", "-shm"):
            pathlib.Path(f"{target}{journal}").unlink(missing_ok=True)
        os.replace(beside, target)
        aside = None
    except sqlite3.Error:
        raise StoreError(f"{source} is damaged or not a store; nothing was changed.") from None
    finally:
        for name in (beside, aside) if aside is not None else (beside,):  # the old one is still in place
            for end in ("", "-wal", "-shm", "-journal"):
                pathlib.Path(f"{name}{end}").unlink(missing_ok=True)
    sync_folder(target.parent)


def _keep(target: pathlib.Path, aside: pathlib.Path) -> None:
    """Give the old store a second name before it is replaced: an interruption loses nothing."""
    for end in ("", "-wal"):  # with a journal that could not be emptied
        pathlib.Path(f"{aside}{end}").unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.link(f"{target}{end}", f"{aside}{end}")


def _empty_journal(path: pathlib.Path) -> None:
    """Write the journal back into the database, so that removing it loses nothing."""
    if path.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a damaged one is replaced anyway
