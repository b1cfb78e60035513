"""SQLite: one file, one process, one writer at a time, every commit on disk before it is reported."""

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
from sqlalchemy.dialects.sqlite import insert

from discreet.atomic_files import real_path
from discreet.errors import StoreInUse
from discreet.storage.migrate import migrate
from discreet.storage.sql_reading import SqlReading
from discreet.storage.sql_store import SqlStore, clear_errors
from discreet.storage.sql_writing import SqlWriting

#: Added to the name of the database: the file whose lock says that a process has it.
LOCK = ".lock"


class _SqliteWriting(SqlWriting):
    def _insert(self, table: Any) -> Any:
        return insert(table)

    def _alone(self, learner: int, wait: bool) -> bool:
        return True  # there is one writer


class SqliteStore(SqlStore):
    """A store in an SQLite file, in WAL mode with synchronous=FULL.

    Args:
        path: The file; made if there is none. A lock beside it keeps other processes out.

    Raises:
        StoreInUse: Another process (or another object of this one) has the file.
    """

    one_process = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = real_path(path)
        self._lock = _locked(self.path)
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            super().__init__(_engine(self.path, "BEGIN IMMEDIATE"), _engine(self.path, "BEGIN"))
            self._one_writer = threading.Lock()
            try:
                with clear_errors(), self._writer.begin() as connection:
                    migrate(connection)
            except BaseException:
                super().close()
                raise
        except BaseException:
            os.close(self._lock)
            raise

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqlWriting]:
        # Queued here: SQLite itself would have writers ask again and again, and starve some.
        with self._one_writer, super().writing() as writing:
            yield writing

    def _read(self, connection: Connection) -> SqlReading:
        return SqlReading(connection)

    def _write(self, connection: Connection) -> SqlWriting:
        return _SqliteWriting(connection, self._name)

    def close(self) -> None:
        if self._lock >= 0:
            super().close()
            os.close(self._lock)
            self._lock = -1


def _engine(path: pathlib.Path, begin: str) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        hide_parameters=True,
        connect_args={"timeout": 30, "check_same_thread": False},
        pool_size=1 if begin != "BEGIN" else 4,
        max_overflow=0 if begin != "BEGIN" else 16,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not by guesses of the driver
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _locked(path: pathlib.Path) -> int:
    """A handle that holds the lock beside a database until it is closed; a killed process lets go of it."""
    handle = os.open(f"{path}{LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise StoreInUse(
            f"Another process has the store {path}. An SQLite store serves one process; for several use "
            "PostgreSQL."
        ) from None
    return handle
