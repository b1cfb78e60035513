"""Connections to PostgreSQL, directly or through a pooler such as PgBouncer.

Nothing outlives a transaction: a pooler may give the next one another connection. So settings are sent with
BEGIN, locks end with their transaction, and statements are prepared on direct connections only.

A server may also hang: then its own timeouts do not work, and the connection is given up here.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from discreet.errors import InvalidArgument, StoreError

#: Seconds that a statement of the service may take.
PATIENCE = 20.0
#: Seconds to connect; libpq takes no less than two.
_CONNECT = 10

#: Ways of reading whole tables, and compiling for that. Statements of the service look up rows by an index,
#: and a plan that was made for a small table outlives its size.
_NEVER = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit")

#: Names the connections of this process.
_NAME = f"discreet {secrets.token_hex(8)}"
#: How many connections to the same database other processes have.
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    f"AND application_name LIKE 'discreet %' AND application_name <> '{_NAME}'"
)

#: Parts of the driver's messages, which are not repeated themselves: they may quote the address.
_REASONS = {
    "refused": "connection refused",
    "no such file": "no socket",
    "translate host name": "unknown host",
    "timeout": "no answer",
    "password": "wrong user or password",
    "pg_hba": "this user may not connect from here",
    "does not exist": "no such database or user",
}


class _PatientConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server does not answer in time."""

    patience = PATIENCE

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        # Somewhat later than the server, which can end a statement that is merely slow.
        end = time.monotonic() + self.patience + 1
        try:
            return super().wait(gen, interval, timeout or self.patience + 1)
        except psycopg.OperationalError:
            if timeout is None and time.monotonic() >= end:
                self.pgconn.finish()
                raise psycopg.OperationalError("timeout") from None
            raise


def new_engine(address: URL, patience: float = PATIENCE) -> Engine:
    """An engine whose transactions are durable, and fail if a statement takes longer than `patience` seconds.

    Raises:
        StoreError: There is no connection.
    """
    connect = max(2, min(_CONNECT, int(patience)))
    engine = create_engine(
        address.set(drivername="postgresql+psycopg"),
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=16,
        connect_args={
            "autocommit": True,  # transactions are begun below, in one message with their settings
            "application_name": _NAME,
            "connect_timeout": connect,
            "keepalives_idle": connect,
            "keepalives_interval": connect,
            "keepalives_count": 2,
            "tcp_user_timeout": round(1000 * patience),
        },
    )
    limits = {
        "statement_timeout": patience,
        "lock_timeout": patience / 2,
        "idle_in_transaction_session_timeout": 3 * patience,  # a process may load compiled code meanwhile
    }
    settings = "; ".join(f"SET LOCAL {name} = {round(1000 * value)}" for name, value in limits.items())
    settings += "".join(f"; SET LOCAL {name} = off" for name in _NEVER)
    begin = f"BEGIN; {settings}; SET LOCAL synchronous_commit = on"
    look = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {settings}"

    @event.listens_for(engine, "do_connect")
    def connected(_: Any, __: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        connection = _PatientConnection.connect(*arguments, **options)
        connection.patience = patience
        ((process,),) = connection.execute("SELECT pg_backend_pid()")
        if process != connection.info.backend_pid:  # a pooler is between: what is prepared may be elsewhere
            connection.prepare_threshold = None
        return connection

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(look if connection.get_execution_options().get("snapshot") else begin)

    try:
        engine.connect().close()
    except DBAPIError as error:
        engine.dispose()
        raise StoreError(_unreachable(address, str(error.orig))) from None
    return engine


def postgres_url(text: str) -> URL:
    """The parts of an address; raises `InvalidArgument` if it is none, and does not quote it."""
    try:
        return make_url(text.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        raise InvalidArgument(
            "The address of a PostgreSQL store is postgresql://user@host/database."
        ) from None


def place(address: URL) -> str:
    """The server of an address, for messages: nothing else of it."""
    return f"{address.host or address.query.get('host') or 'its local socket'}:{address.port or 5432}"


def _unreachable(address: URL, words: str) -> str:
    """The message for a failed connection, with host and reason."""
    reason = next((why for word, why in _REASONS.items() if word in words.lower()), "no connection")
    return f"Cannot connect to the PostgreSQL server at {place(address)}: {reason}."
