"""PostgreSQL: several processes, also on several machines, serve the same learners."""

from __future__ import annotations

import logging

from sqlalchemy import text

from discreet.storage.postgres_engine import OTHERS, PATIENCE, new_engine, postgres_url
from discreet.storage.schema import create_tables
from discreet.storage.sql_errors import clear_errors
from discreet.storage.store import Store

#: The key of an advisory lock.
_CREATING = 0x64697364

log = logging.getLogger("discreet.storage")


class PostgresStore(Store):
    """A store in a PostgreSQL database.

    Args:
        url: ``postgresql://user@host/database``. The password is better left to ``PGPASSFILE``.
        patience: Seconds that a statement may take.
    """

    one_process = False

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self.address = postgres_url(url)
        engine = new_engine(self.address, patience)
        super().__init__(engine, engine.execution_options(snapshot=True))
        try:
            with clear_errors(), engine.begin() as connection:
                if connection.scalar(text("SHOW fsync")) == "off":
                    log.warning("The PostgreSQL server has fsync off: a power failure loses what was told.")
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _CREATING})
                create_tables(connection)
        except BaseException:
            self.close()
            raise

    def others(self) -> int:
        with self.reading() as reading:
            return int(reading.connection.scalar(text(OTHERS)) or 0)
