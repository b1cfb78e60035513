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
#: Added to the name of a store that something was put in the place of.
REPLACED = ".before-restore"


def back_up(store: Path, target: Path) -> None:
    """Write a consistent copy to a new file, which only its owner can read; others may write meanwhile."""
    copy = real_path(target)
    if copy.exists():
        raise InvalidArgument(f"There is a file {copy} already.")
    _copied(real_path(store), copy)


def put_back(backup: Path, store: Path) -> pathlib.Path | None:
    """Put a copy in place of a store that no process has open.

    What was there is kept beside it, with its journal, damaged or not. It must not go on after the copy did,
    and does not: the witness knows what the copy released since, and which epochs began.

    Returns:
        Where that is; None if there was nothing.

    Raises:
        StoreInUse: A server has the store.
        InvalidArgument: A store that was replaced before is still there.
    """
    place = real_path(store)
    aside = pathlib.Path(f"{place}{REPLACED}")
    if aside.exists():
        raise InvalidArgument(f"There is a file {aside} already, of an earlier restore: move it away first.")
    there = place.exists()
    handle = locked(place)
    try:
        _copied(real_path(backup), place, aside)
    finally:
        os.close(handle)
    return aside if there else None


def _copied(source: pathlib.Path, target: pathlib.Path, aside: pathlib.Path | None = None) -> None:
    """Copy a whole database beside its place, look at it, move aside what is there, and put it there."""
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
        if aside is not None:
            _empty_journal(target)
            _keep(target, aside)
        for journal in ("-wal", "-shm"):
            pathlib.Path(f"{target}{journal}").unlink(missing_ok=True)
        os.replace(beside, target)
        aside = None
    except sqlite3.Error:
        raise StoreError(f"{source} is damaged, or is no store; nothing was changed.") from None
    finally:
        for name in (beside, aside) if aside is not None else (beside,):  # the old one is still in its place
            for end in ("", "-wal", "-shm", "-journal"):
                pathlib.Path(f"{name}{end}").unlink(missing_ok=True)
    sync_folder(target.parent)


def _keep(target: pathlib.Path, aside: pathlib.Path) -> None:
    """Another name for what is in a place, until the copy is: who is interrupted loses nothing."""
    for end in ("", "-wal"):  # a journal that could not be emptied goes along
        pathlib.Path(f"{aside}{end}").unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.link(f"{target}{end}", f"{aside}{end}")


def _empty_journal(path: pathlib.Path) -> None:
    """Have all in the database itself, so that removing its journal loses nothing if the rest fails."""
    if path.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a damaged one is replaced all the same


def _read_only(path: pathlib.Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
