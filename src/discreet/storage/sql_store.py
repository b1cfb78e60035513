"""What all SQL stores share: transactions."""

from __future__ import annotations

import contextlib
import secrets
from abc import abstractmethod
from collections.abc import Iterator

from sqlalchemy import Connection, Engine

from discreet.errors import StoreError
from discreet.storage.base import Store
from discreet.storage.sql_errors import clear_errors
from discreet.storage.sql_reading import SqlReading
from discreet.storage.sql_writing import SqlWriting


class SqlStore(Store):
    """A store behind SQLAlchemy engines.

    Args:
        writer: The engine for transactions that write.
        reader: The engine for transactions that only read.
    """

    def __init__(self, writer: Engine, reader: Engine) -> None:
        self._writer, self._reader = writer, reader
        self._closed = False
        #: Names this process in the rows of counts it writes.
        self._name = secrets.token_hex(4)

    @abstractmethod
    def _read(self, connection: Connection) -> SqlReading: ...

    @abstractmethod
    def _write(self, connection: Connection) -> SqlWriting: ...

    @contextlib.contextmanager
    def reading(self) -> Iterator[SqlReading]:
        self._check_open()
        with clear_errors(), self._reader.begin() as connection:
            yield self._read(connection)

    @contextlib.contextmanager
    def writing(self) -> Iterator[SqlWriting]:
        self._check_open()
        with clear_errors(), self._writer.begin() as connection:
            yield self._write(connection)

    def others(self) -> int:
        """How many connections other processes have to this store."""
        return 0

    def _check_open(self) -> None:
        """A disposed engine would reconnect by itself, when another process may have the store."""
        if self._closed:
            raise StoreError("This store has been closed.")

    def close(self) -> None:
        self._closed = True
        self._writer.dispose()
        self._reader.dispose()
