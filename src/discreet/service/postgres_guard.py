"""A rollback guard in a table of PostgreSQL, which processes on all machines share.

The address is ``postgresql://user@host/database?schema=discreet_guard``: of another server, or of the store's
own in a schema apart.

The first row has the table's own id in the database. A table that was restored from a dump has another one,
and counts as missing: it may be as old as the store that was restored with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

from discreet.errors import InvalidArgument, StoreError
from discreet.service.rollback_guard import RollbackGuard
from discreet.storage.postgres_engine import new_engine, place
from discreet.storage.sql_errors import clear_errors

#: Where a store on PostgreSQL has its guard by default, in the store's own database.
SCHEMA = "discreet_guard"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
#: The first row's lineage.
_HEAD = ""
#: The key of an advisory lock.
_CREATING = 0x64697365


class PostgresGuard(RollbackGuard):
    """A rollback guard in a table.

    Args:
        address: Of the database; its query may name a ``schema``.
        store: The name of the store. Several stores may share a table.
        look_only: Whether to leave the table unchanged, until `settle`.

    Raises:
        StoreError: The database cannot be reached.
    """

    def __init__(self, address: URL, store: str, *, look_only: bool = False) -> None:
        schema = address.query.get("schema", SCHEMA)
        address = address.difference_update_query(["schema"])
        if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
            raise InvalidArgument("The schema of a rollback guard has lower-case letters, digits and '_'.")
        super().__init__(f"{place(address)}/{address.database}, schema {schema}", look_only=look_only)
        self._store, self._schema, self._table = store, schema, f"{schema}.rollback_guard"
        self._engine, self._begun = new_engine(address), False
        try:
            self._known = dict(self._read())
            self.fresh = self._table_id is None or self._known.pop(_HEAD, None) != self._table_id
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._engine.dispose()

    def _recorded(self, lineage: str) -> int | None:
        if self._table_id is None:
            return super()._recorded(lineage)
        with self._transaction() as connection:
            found: int | None = connection.scalar(
                text(f"SELECT releases FROM {self._table} WHERE store = :store AND lineage = :lineage"),
                {"store": self._store, "lineage": lineage},
            )
        return found

    def _read(self) -> dict[str, int]:
        with self._transaction() as connection:
            self._table_id = self._id(connection)
            rows = (
                connection.execute(
                    text(f"SELECT lineage, releases FROM {self._table} WHERE store = :store"),
                    {"store": self._store},
                ).all()
                if self._table_id is not None
                else []
            )
        return {row.lineage: row.releases for row in rows}

    def _id(self, connection: Connection) -> int | None:
        found: int | None = connection.scalar(text("SELECT to_regclass(:t)::oid::bigint"), {"t": self._table})
        return found

    def _create(self, connection: Connection) -> None:
        """Create the table if it is missing, and note its id."""
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_CREATING})"))
        if self._id(connection) is None:
            schema = {"schema": self._schema}
            if not connection.scalar(text("SELECT to_regnamespace(:schema) IS NOT NULL"), schema):
                connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {self._schema}"))
            connection.execute(
                text(
                    f"CREATE TABLE IF NOT EXISTS {self._table} "
                    "(store text, lineage text, releases bigint NOT NULL, PRIMARY KEY (store, lineage))"
                )
            )
        connection.execute(
            text(
                f"INSERT INTO {self._table} VALUES (:store, :head, :id) "
                "ON CONFLICT (store, lineage) DO UPDATE SET releases = excluded.releases"
            ),
            {"store": self._store, "head": _HEAD, "id": self._id(connection)},
        )

    def _raise(self, numbers: Mapping[str, int]) -> None:
        with self._transaction() as connection:
            if not self._begun:
                self._create(connection)
            if numbers:  # in the order of lineages, so that processes do not deadlock
                lineages = sorted(numbers)
                releases = [numbers[name] for name in lineages]
                connection.execute(
                    text(
                        f"INSERT INTO {self._table} AS t SELECT :store, lineage, number FROM "
                        "unnest(CAST(:lineages AS text[]), CAST(:releases AS bigint[])) "
                        "AS new (lineage, number) ON CONFLICT (store, lineage) DO UPDATE "
                        "SET releases = greatest(t.releases, excluded.releases)"
                    ),
                    {"store": self._store, "lineages": lineages, "releases": releases},
                )
        self._begun = True

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with clear_errors(), self._engine.begin() as connection:
                yield connection
        except StoreError as error:
            raise StoreError(f"The rollback guard in {self.where} cannot be used. {error}") from error
