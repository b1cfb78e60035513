"""A rollback guard in an SQLite file of its own, which processes of one machine share.

A commit is on disk before it ends (WAL, synchronous=FULL). The file belongs to one store: a new store beside
the guard of another would begin to count from zero.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Iterator, Mapping

from discreet.atomic_files import errors_name, name_beside, real_path, sync_folder
from discreet.errors import InvalidArgument, StaleState, StoreError
from discreet.service.rollback_guard import DamagedGuard, RollbackGuard
from discreet.storage.sql_errors import reason
from discreet.storage.sqlite import read_only

#: The lineage of the row that says which store the file belongs to.
_HEAD = ""
#: Seconds to wait for other processes.
_PATIENCE = 30.0
_CREATE = """
CREATE TABLE rollback_guard (
    store TEXT, lineage TEXT, releases INTEGER NOT NULL, PRIMARY KEY (store, lineage)
) WITHOUT ROWID
"""
_RAISE = """
INSERT INTO rollback_guard VALUES (?, ?, ?) ON CONFLICT (store, lineage)
DO UPDATE SET releases = excluded.releases WHERE excluded.releases > releases
"""


class SqliteGuard(RollbackGuard):
    """A rollback guard in an SQLite file.

    Args:
        path: Of the file, which `begin` creates.
        store: The name of the store.
        look_only: Whether to leave the file unchanged, until `settle`.
        repair: Whether to treat a damaged file as missing.

    Raises:
        DamagedGuard: The file is damaged.
        InvalidArgument: The file is another SQLite database.
        StaleState: The file belongs to another store.
        StoreError: The file cannot be read.
    """

    def __init__(
        self, path: str | os.PathLike[str], store: str, *, look_only: bool = False, repair: bool = False
    ) -> None:
        self.path = real_path(path)
        super().__init__(str(self.path), look_only=look_only)
        self._store = store
        self._connection: sqlite3.Connection | None = None
        self._damaged = False
        self._damaged = self._exists() and self._finds_damage()
        if self._damaged and not repair:
            raise DamagedGuard(
                f"The rollback guard {self.where} is damaged. Replace it by an undamaged one, or see "
                "`discreet store adopt --help`."
            )
        self._known = self._read()
        self.fresh = self._known.pop(_HEAD, None) is None

    def close(self) -> None:
        try:
            super().close()
        finally:
            with self._lock:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None

    def _recorded(self, lineage: str) -> int | None:
        if not self._exists():
            return None
        with self._clear_errors():
            key = self._store, lineage
            query = "SELECT releases FROM rollback_guard WHERE store = ? AND lineage = ?"
            row = self._open().execute(query, key).fetchone()
        return None if row is None else int(row[0])

    def _read(self) -> dict[str, int]:
        if not self._exists():
            return {}
        with self._clear_errors():
            query = "SELECT lineage, releases FROM rollback_guard WHERE store = ?"
            return dict(self._open().execute(query, (self._store,)).fetchall())

    def _raise(self, numbers: Mapping[str, int]) -> None:
        if not self._exists():
            self._create()
        with self._clear_errors(), self._open() as connection:  # which commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_RAISE, [(self._store, *entry) for entry in sorted(numbers.items())])

    def _exists(self) -> bool:
        """Whether there is a file that can be read; one without any bytes counts as none."""
        if self._connection is not None:
            return True
        return not self._damaged and self.path.exists() and self.path.stat().st_size > 0

    def _finds_damage(self) -> bool:
        with self._clear_errors():
            try:
                with read_only(self.path) as connection:
                    found: tuple[str] = connection.execute("PRAGMA integrity_check(1)").fetchone()
            except sqlite3.Error as error:
                if reason(error) != "damaged":
                    raise
                return True
            # SQLite reads what is missing of a page as zeros.
            return found != ("ok",) or self.path.stat().st_size % 512 > 0

    def _open(self) -> sqlite3.Connection:
        """The connection to the file, which exists."""
        if self._connection is None:
            address = f"{self.path.as_uri()}?mode=rw"
            connection = sqlite3.connect(
                address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("PRAGMA synchronous=FULL")
                self._check(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Require that the file is the guard of this store."""
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if tables != [("rollback_guard",)]:
            raise InvalidArgument(f"{self.where} is not a rollback guard: it is another SQLite database.")
        heads = connection.execute("SELECT store FROM rollback_guard WHERE lineage = ?", (_HEAD,)).fetchall()
        if heads != [(self._store,)]:
            raise StaleState(
                f"The rollback guard {self.where} belongs to another store. If that store is gone for good, "
                "remove the file; if this is an old backup, restore the latest state."
            )

    def _create(self) -> None:
        """Make the file: completely, and never in place of one that another process has just made."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = name_beside(self.path)
        with errors_name(self.path):
            os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with self._clear_errors(), contextlib.closing(sqlite3.connect(beside)) as connection, connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute(_CREATE)
                connection.execute("INSERT INTO rollback_guard VALUES (?, ?, 0)", (self._store, _HEAD))
            if self.path.exists() and not self._exists():  # damaged, or without any bytes
                for end in ("", "-wal", "-shm"):
                    pathlib.Path(f"{self.path}{end}").unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):
                os.link(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(self.path.parent)
        self._damaged = False

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"The rollback guard {self.where} cannot be used ({reason(error)}).") from error
