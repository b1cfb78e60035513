"""Errors of databases as errors of the store: why, but no statement, parameter or address."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from discreet.errors import CannotKeep, Conflict, StoreError

#: SQLSTATEs of transactions rolled back because of others: serialization failure, deadlock, lock timeout.
_CONFLICTS = {"40001", "40P01", "55P03"}
#: SQLSTATEs, or how they begin, and primary codes of SQLite.
_STATES = {
    "53100": "disk full",
    "53": "out of resources",
    "25006": "read-only",
    "57014": "timeout",
    "25P03": "timeout",
    "08": "unreachable",
    "57P": "unreachable",
    "XX": "damaged",
    "58": "disk error",
}
_CODES = {
    sqlite3.SQLITE_FULL: "disk full",
    sqlite3.SQLITE_IOERR: "disk error",
    sqlite3.SQLITE_CANTOPEN: "disk error",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_BUSY: "timeout",
}
#: Whether a transaction was committed is unknown if the connection was lost.
_UNKNOWN = ("timeout", "unreachable")


def reason(error: BaseException | None) -> str:
    """Why a database failed: a class such as "disk full", or else the kind of the error.

    Examples:
        >>> reason(sqlite3.OperationalError("no such table: secrets"))
        'OperationalError'
    """
    if isinstance(error, sqlite3.Error):
        found = _CODES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    else:
        state = getattr(error, "sqlstate", None) or ""
        found = next((why for begin, why in _STATES.items() if state.startswith(begin)), None)
        if not state and "OperationalError" in [kind.__name__ for kind in type(error).__mro__]:
            found = "timeout" if "timeout" in str(error) else "unreachable"
    return found or type(error).__name__


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Raise errors of the database as errors of the store, without parameters of statements."""
    try:
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _CONFLICTS:
            raise Conflict("Others wrote to the same rows; nothing was changed here.") from error
        why = reason(error.orig)
        if error.connection_invalidated or why in _UNKNOWN:
            raise StoreError(
                f"The database does not answer ({why}); all or nothing of what was under way is stored."
            ) from error
        refused = isinstance(error, DataError | IntegrityError)
        raise (CannotKeep if refused else StoreError)(
            f"The database refused the transaction ({why}); nothing was changed."
        ) from error
    except sqlite3.Error as error:  # while a connection was made
        raise StoreError(f"The database cannot be opened ({reason(error)}).") from error
    except SQLAlchemyError as error:
        raise StoreError(
            f"The database is not reachable ({type(error).__name__}); nothing was changed."
        ) from error
