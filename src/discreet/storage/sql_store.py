"""What all SQL stores share: transactions, and database errors as store errors."""

from __future__ import annotations

import contextlib
import secrets
from abc import abstractmethod
from collections.abc import Iterator

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from discreet.errors import CannotKeep, Conflict, StoreError
from discreet.storage.base import Store
from discreet.storage.sql_reading import SqlReading
from discreet.storage.sql_writing import SqlWriting

#: SQLSTATEs of transactions rolled back because of others: serialization failure, deadlock, lock timeout.
_CONFLICTS = {"40001", "40P01", "55P03"}


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

    def _check_open(self) -> None:
        """A disposed engine would reconnect by itself, when another process may have the store."""
        if self._closed:
            raise StoreError("This store has been closed.")

    def close(self) -> None:
        self._closed = True
        self._writer.dispose()
        self._reader.dispose()


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Raise errors of the database as errors of the store, without parameters of statements."""
    try:
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _CONFLICTS:
            raise Conflict("Others wrote to the same rows; nothing was changed here.") from error
        kind = type(error.orig).__name__
        refused = isinstance(error, DataError | IntegrityError) and not error.connection_invalidated
        raise (CannotKeep if refused else StoreError)(
            f"The database refused the transaction ({kind}); nothing was changed."
        ) from error
    except SQLAlchemyError as error:
        kind = type(error).__name__
        raise StoreError(f"The database is not reachable ({kind}); nothing was changed.") from error
