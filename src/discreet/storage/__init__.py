"""Where learners, decisions and feedback are kept: SQLite for one process, PostgreSQL for several.

Both keep the contract of :class:`discreet.storage.base.Store`. A store sees encoded bytes and public numbers;
it knows nothing of learners.
"""

import os
import pathlib

from discreet.errors import InvalidArgument
from discreet.extras import require_extra
from discreet.storage.base import Store

__all__ = ["Store", "open_store", "serves_one_process"]

_POSTGRES = ("postgresql://", "postgresql+psycopg://", "postgres://")


def serves_one_process(where: str | os.PathLike[str]) -> bool:
    """Whether the store at an address can be opened by one process only."""
    return not os.fspath(where).startswith(_POSTGRES)


def open_store(where: str | os.PathLike[str]) -> Store:
    """The store at an address, made or migrated if need be.

    Args:
        where: A path or ``sqlite:///path`` for SQLite, ``postgresql://user@host/database`` for PostgreSQL.
    """
    address = os.fspath(where)
    require_extra("service", "A store needs", "alembic", "sqlalchemy")
    if not serves_one_process(address):
        require_extra("service", "A PostgreSQL store needs", "psycopg")
        from discreet.storage.postgres import PostgresStore

        return PostgresStore(address.replace("postgres://", "postgresql://", 1))
    from discreet.storage.sqlite import SqliteStore

    if address.startswith("sqlite:///"):
        address = address.removeprefix("sqlite:///")
    elif "://" in address:
        raise InvalidArgument("A store is a path, sqlite:///path, or postgresql://user@host/database.")
    return SqliteStore(pathlib.Path(address))
