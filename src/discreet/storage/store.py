"""The contract of a store, and what SQLite and PostgreSQL share. One test suite checks both.

* **Durable.** When `writing()` ends without an error, everything written in it survives a crash of the
  process and of the machine. When it ends with an error, nothing was written.
* **Exactly once.** `close_decisions` and `expire` give a decision to one caller only, among all threads and
  processes.
* **One line of states.** `put_states` replaces the state of the generation that was read, or raises
  `Conflict`. At most one process at a time updates a learner.
* **Encoded.** A store sees bytes and public numbers. It never interprets a state, a draw or a payload.
* Decision ids and hashes of people have 16 bytes.
* Times are integer milliseconds, given by the caller.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import ClassVar

from sqlalchemy import Engine

from discreet.errors import StoreError
from discreet.storage.reading import Reading
from discreet.storage.sql_errors import clear_errors
from discreet.storage.writing import Writing


class Store:
    """Learners, their decisions and their feedback, behind SQLAlchemy engines.

    Args:
        writer: The engine for transactions that write.
        reader: The engine for transactions that only read.

    Attributes:
        one_process: Whether no other process can open the store, so that feedback may be applied by the
            transaction that brings it.
    """

    one_process: ClassVar[bool]

    def __init__(self, writer: Engine, reader: Engine) -> None:
        self._writer, self._reader = writer, reader
        self._closed = False
        #: Names this process in the rows of counts it writes.
        self._name = secrets.token_hex(4)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reading]:
        """Read without waiting for writers."""
        self._check_open()
        with clear_errors(), self._reader.begin() as connection:
            yield Reading(connection)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Writing]:
        """A transaction: durable at the end, or rolled back."""
        self._check_open()
        with clear_errors(), self._writer.begin() as connection:
            yield Writing(connection, self._name)

    def others(self) -> int:
        """How many connections other processes have to this store."""
        return 0

    def _check_open(self) -> None:
        """A disposed engine would reconnect by itself, when another process may have the store."""
        if self._closed:
            raise StoreError("This store has been closed.")

    def close(self) -> None:
        """Close files and connections."""
        self._closed = True
        self._writer.dispose()
        self._reader.dispose()
