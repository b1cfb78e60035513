"""What stores that speak SQL share: transactions, and errors that say what to do."""

from __future__ import annotations

import contextlib
import secrets
from abc import abstractmethod
from collections.abc import Iterator

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from discreet.errors import CannotKeep, Conflict, StoreError
from discreet.storage.base import Fold, Store
from discreet.storage.sql_reading import SqlReading
from discreet.storage.sql_writing import SqlWriting

#: SQLSTATEs of transactions that were undone because others were in the way: serialization, deadlock, lock.
_IN_THE_WAY = {"40001", "40P01", "55P03"}


class SqlStore(Store):
    """A store behind SQLAlchemy engines.

    Args:
        writer: The engine for transactions that write.
        reader: The engine for those that do not.
    """

    def __init__(self, writer: Engine, reader: Engine) -> None:
        self._writer, self._reader = writer, reader
        self._closed = False
        #: The name of this process among those that write.
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

    @contextlib.contextmanager
    def folding(self, learner: int, *, wait: bool = False, most: int = 10_000) -> Iterator[Fold | None]:
        with self.writing() as writing:
            yield writing.fold(learner, wait=wait, most=most)

    def _check_open(self) -> None:
        """An engine would connect again by itself, after others were let in."""
        if self._closed:
            raise StoreError("This store has been closed.")

    def close(self) -> None:
        self._closed = True
        self._writer.dispose()
        self._reader.dispose()


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Report errors of the database as errors of the store. Parameters of statements are in neither."""
    try:
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _IN_THE_WAY:
            raise Conflict("Others wrote to the same rows; nothing was changed here.") from error
        kind = type(error.orig).__name__
        refused = isinstance(error, DataError | IntegrityError) and not error.connection_invalidated
        raise (CannotKeep if refused else StoreError)(
            f"The database could not do what was asked ({kind}); nothing was changed."
        ) from error
    except SQLAlchemyError as error:
        kind = type(error).__name__
        raise StoreError(f"The database is out of reach ({kind}); nothing was changed.") from error
