"""Copies of an SQLite store, made while it is in use, and put back when it is not.

Copying the files by hand goes wrong in two ways: a copy made while somebody writes is torn, and a copy that
is put in place of a database whose journal is still there has that journal replayed into it.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3

from discreet.atomic_files import errors_name, name_beside, real_path, sync_folder
from discreet.errors import InvalidArgument, StoreError
from discreet.storage.sqlite import locked

Path = str | os.PathLike[str]


def back_up(store: Path, target: Path) -> None:
    """Write a consistent copy to a new file, which only its owner can read; others may write meanwhile."""
    copy = real_path(target)
    if copy.exists():
        raise InvalidArgument(f"There is a file {copy} already.")
    _copied(real_path(store), copy)


def put_back(backup: Path, store: Path) -> None:
    """Put a copy in place of a store that no process has open; its journal goes with it.

    Raises:
        StoreInUse: A server has the store.
    """
    place = real_path(store)
    handle = locked(place)
    try:
        _copied(real_path(backup), place)
    finally:
        os.close(handle)


def _copied(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copy a whole database beside its place, look at it, and put it there."""
    if not source.exists():
        raise InvalidArgument(f"There is no store {source}.")
    beside = name_beside(target)
    with errors_name(target):
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            contextlib.closing(_read_only(source)) as old,
            contextlib.closing(sqlite3.connect(beside)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode=DELETE")  # one file
            sound = new.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            known = new.execute("SELECT count(*) FROM sqlite_master WHERE name = 'learners'").fetchone() == (
                1,
            )
        if not (sound and known):
            raise StoreError(f"{source} is damaged, or is no store; nothing was changed.")
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        _empty_journal(target)
        for journal in ("-wal", "-shm"):
            pathlib.Path(f"{target}{journal}").unlink(missing_ok=True)
        os.replace(beside, target)
    except sqlite3.Error:
        raise StoreError(f"{source} is damaged, or is no store; nothing was changed.") from None
    finally:
        for name in (beside, *(pathlib.Path(f"{beside}{end}") for end in ("-wal", "-shm", "-journal"))):
            name.unlink(missing_ok=True)
    sync_folder(target.parent)


def _empty_journal(path: pathlib.Path) -> None:
    """Have all in the database itself, so that removing its journal loses nothing if the rest fails."""
    if path.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a damaged one is replaced all the same


def _read_only(path: pathlib.Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
