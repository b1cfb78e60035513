"""SQLite: one file, one process, one writer at a time; every commit is on disk before it is reported."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from discreet.atomic_files import errors_name, real_path
from discreet.errors import StoreError, StoreInUse
from discreet.storage.schema import create_tables
from discreet.storage.sql_errors import clear_errors
from discreet.storage.store import Store
from discreet.storage.writing import Writing

#: Suffix of the lock file.
LOCK = ".lock"
#: What every SQLite database begins with.
_MAGIC = b"SQLite format 3\0"


class SqliteStore(Store):
    """A store in an SQLite file, in WAL mode with synchronous=FULL.

    Args:
        path: The file; created if missing. A lock file beside it keeps other processes out.

    Raises:
        StoreInUse: Another process (or another object of this process) has the file open.
        StoreError: The file is not a store; it is not changed.
    """

    one_process = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = real_path(path)
        _require_store_or_nothing(self.path)
        with contextlib.ExitStack() as opening:
            opening.callback(os.close, locked(self.path))
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            super().__init__(_engine(self.path, "BEGIN IMMEDIATE"), _engine(self.path, "BEGIN"))
            opening.callback(super().close)
            self._one_writer = threading.Lock()
            with clear_errors():
                self._connection = opening.enter_context(self._writer.connect())
                with self._connection.begin():
                    create_tables(self._connection)
            self._opened = opening.pop_all()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Writing]:
        # Serialised here: SQLite's own busy handler polls, and starves some writers.
        with self._one_writer:
            self._check_open()
            with clear_errors(), self._connection.begin():
                yield Writing(self._connection, self._name)

    def close(self) -> None:
        with self._one_writer:
            self._opened.close()


def _engine(path: pathlib.Path, begin: str) -> Engine:
    writes = begin != "BEGIN"
    # In KiB: the writer should cache what is open and recent; there may be twenty readers.
    cache = 65_536 if writes else 4_096
    engine = create_engine(
        f"sqlite:///{path}",
        hide_parameters=True,
        connect_args={"timeout": 30, "check_same_thread": False},
        pool_size=1 if writes else 4,
        max_overflow=0 if writes else 16,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute(f"PRAGMA cache_size=-{cache}")
        cursor.execute("PRAGMA wal_autocheckpoint=4000")
        cursor.close()

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def locked(path: pathlib.Path) -> int:
    """Take the lock of a database; the returned handle holds it until it is closed or the process ends."""
    with errors_name(path):
        handle = os.open(f"{path}{LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise StoreInUse(
            f"Another process has the store {path} open: stop the server first, or use its HTTP routes. An "
            "SQLite store serves one process; for several use PostgreSQL."
        ) from None
    return handle


def read_only(path: pathlib.Path, how: str = "mode=ro") -> contextlib.closing[sqlite3.Connection]:
    """A connection to a database that others may have open, which writes nothing."""
    return contextlib.closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True))


def _require_store_or_nothing(path: pathlib.Path) -> None:
    """Refuse a file that is not a store, before anything is changed or created beside it."""
    if path.is_dir():
        raise StoreError(f"{path} is not a store: it is a directory.")
    if not path.exists() or path.stat().st_size == 0:
        return
    with open(path, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise StoreError(f"{path} is not a store: it is not an SQLite database.")
    # Read without its journal: a store whose tables are still in the journal looks empty, and passes.
    with read_only(path, "immutable=1") as connection:
        try:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        except sqlite3.Error:
            return  # damaged; opening it will report that
    if names and "schema_version" not in names:
        raise StoreError(f"{path} is not a store: it is another SQLite database.")
