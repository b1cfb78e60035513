"""Stores of learners, decisions and feedback: SQLite for one process, PostgreSQL for several.

`discreet.storage.store` has their contract. A store sees encoded bytes and public numbers; it knows nothing
about learners.
"""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.imports import require_extra

if TYPE_CHECKING:
    from discreet.storage.store import Store

__all__ = ["open_store", "serves_one_process"]

_POSTGRES = ("postgresql://", "postgresql+psycopg://", "postgres://")


def serves_one_process(where: str | os.PathLike[str]) -> bool:
    """Whether only one process can open the store at an address."""
    return not os.fspath(where).startswith(_POSTGRES)


def open_store(where: str | os.PathLike[str], *, patience: float | None = None) -> Store:
    """Open the store at an address; create it if necessary.

    Args:
        where: A path or ``sqlite:///path`` for SQLite, ``postgresql://user@host/database`` for PostgreSQL.
        patience: Seconds that a statement on PostgreSQL may take; 20 by default.
    """
    address = os.fspath(where)
    require_extra("service", "A store needs", "sqlalchemy")
    if not serves_one_process(address):
        require_extra("service", "A PostgreSQL store needs", "psycopg")
        from discreet.storage.postgres import PostgresStore

        return PostgresStore(address, patience) if patience is not None else PostgresStore(address)
    from discreet.storage.sqlite import SqliteStore

    if address.startswith("sqlite:///"):
        address = address.removeprefix("sqlite:///")
    elif "://" in address:
        raise InvalidArgument("A store is a path, sqlite:///path, or postgresql://user@host/database.")
    return SqliteStore(pathlib.Path(address))
