"""What is special to a backend: who may open it, and how processes that start at once get along."""

import pathlib
import re
import secrets
import sqlite3
import stat
import time
import traceback
from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from test_store_contract import added

from another_process import output, started
from discreet.errors import InvalidArgument, StoreError, StoreInUse
from discreet.storage import open_store
from discreet.storage.postgres import PostgresStore
from discreet.storage.sqlite import SqliteStore
from postgres_server import Server

OPEN = """
import sys
from discreet.storage import open_store
store = open_store(sys.argv[1])
with store.writing() as writing:
    print(writing.note_once("first", sys.argv[2]))
store.close()
"""


@pytest.mark.process
def test_a_second_process_is_refused_clearly(tmp_path: pathlib.Path) -> None:
    """As long as the first has the file, by whatever name; afterwards it may."""
    path = tmp_path / "store.db"
    (tmp_path / "link.db").symlink_to(path)
    store = SqliteStore(path)
    with pytest.raises(StoreInUse, match="stop the server first, or use its HTTP routes"):
        SqliteStore(tmp_path / "link.db")
    process = started(OPEN, path, "x")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "StoreInUse: Another process has the store" in errors
    store.close()
    store.close()
    assert output(OPEN, path, "mine") == "mine\n"


@pytest.mark.process
def test_a_killed_process_lets_go(tmp_path: pathlib.Path) -> None:
    """What it had committed is there, and what it had not is not."""
    code = """
import sys, time
from discreet.storage import open_store
store = open_store(sys.argv[1])
with store.writing() as writing:
    writing.note_once("committed", "yes")
with store.writing() as writing:
    writing.note_once("open", "yes")
    print("ready", flush=True)
    time.sleep(60)
"""
    path = tmp_path / "store.db"
    process = started(code, path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate()
    store = SqliteStore(path)
    with store.reading() as reading:
        assert (reading.meta("committed"), reading.meta("open")) == ("yes", None)
    store.close()


def test_sqlite_commits_are_synchronous(tmp_path: pathlib.Path) -> None:
    """WAL, and every commit waits for the disk: NORMAL would lose the last ones on a power cut."""
    store = SqliteStore(tmp_path / "store.db")
    with store.writing() as writing:
        connection = writing.connection
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


def test_sqlite_readers_do_not_wait_for_a_writer(tmp_path: pathlib.Path) -> None:
    """They see the last commit."""
    store = SqliteStore(tmp_path / "store.db")
    learner = added(store)
    with store.writing() as writing:
        writing.note_once("a", "b")
        with store.reading() as reading:
            assert reading.meta("a") is None
            assert reading.state(learner) == (0, b"first")
    store.close()


def test_the_file_is_for_its_owner(tmp_path: pathlib.Path) -> None:
    """Nobody else may read it, nor its journal."""
    store = SqliteStore(tmp_path / "store.db")
    added(store)
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file.name
    store.close()


def test_other_files_are_refused(tmp_path: pathlib.Path) -> None:
    """A text, a folder, a database of something else: they are named, left alone, and nothing is left."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but a long enough text " * 50)
    (tmp_path / "folder").mkdir()
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    for name, why in (
        ("notes.txt", "not an SQLite database"),
        ("folder", "directory"),
        ("other.db", "another"),
    ):
        with pytest.raises(StoreError, match=f"{name} is not a store: .*{why}"):
            SqliteStore(tmp_path / name)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before
    with pytest.raises(InvalidArgument):
        open_store("mysql://somewhere/else")


def test_an_empty_file_becomes_a_store(tmp_path: pathlib.Path) -> None:
    """As `mktemp` makes one; and so does a store that was killed while its tables were in the journal."""
    (tmp_path / "store.db").touch()
    store = SqliteStore(tmp_path / "store.db")
    left = {end: (tmp_path / f"store.db{end}").read_bytes() for end in ("", "-wal", "-shm")}
    store.close()
    for end, content in left.items():
        (tmp_path / f"copy.db{end}").write_bytes(content)
    SqliteStore(tmp_path / "copy.db").close()


def test_a_damaged_page_is_an_error_of_the_store(tmp_path: pathlib.Path) -> None:
    """Not one of the driver."""
    store = SqliteStore(tmp_path / "store.db")
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("DROP TABLE counts")
    connection.close()
    store = SqliteStore(tmp_path / "store.db")
    with pytest.raises(StoreError, match="OperationalError"), store.reading() as reading:
        reading.counts(1)
    store.close()


def test_errors_say_why(tmp_path: pathlib.Path) -> None:
    """A full disk, a database that must not be written, a damaged one: a class, and no more."""
    store = SqliteStore(tmp_path / "store.db")
    learner = added(store)

    def write() -> None:
        with store.writing() as writing:
            writing.note_once("fact", "x" * 100_000)

    store._connection.exec_driver_sql("PRAGMA max_page_count=1")
    store._connection.rollback()
    with pytest.raises(StoreError, match=r"refused the transaction \(disk full\); nothing was changed"):
        write()
    store._connection.exec_driver_sql("PRAGMA query_only=1")
    store._connection.rollback()
    with pytest.raises(StoreError, match=r"\(read-only\)"):
        write()
    store.close()
    path = tmp_path / "store.db"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * (size - 4096))
    with pytest.raises(StoreError, match=r"\(damaged\)") as caught:
        SqliteStore(path).state(learner)  # type: ignore[attr-defined]
    assert "SELECT" not in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("SELECT 1 / 0", "DivisionByZero"),
        ("SET TRANSACTION READ ONLY; CREATE TABLE t (x int)", "read-only"),
        ("DO $$ BEGIN RAISE SQLSTATE '53100'; END $$", "disk full"),
        ("DO $$ BEGIN RAISE SQLSTATE 'XX001'; END $$", "damaged"),
        ("SELECT pg_terminate_backend(pg_backend_pid())", "unreachable"),
    ],
)
def test_errors_of_postgres_say_why(statement: str, why: str, postgres: str) -> None:
    """From the state that the server sends, not from its words."""
    store = PostgresStore(postgres)
    with pytest.raises(StoreError, match=rf"\({why}\)"), store.reading() as reading:
        reading.connection.exec_driver_sql(statement)
    with store.reading() as reading:
        assert reading.meta("a") is None
    store.close()


def test_processes_that_start_at_once_make_one_schema(postgres: str) -> None:
    """Six of them open an empty database together: all work, and the first fact is everybody's."""
    processes = [started(OPEN, postgres, number) for number in range(6)]
    printed = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 6, printed
    assert len({out for out, _ in printed}) == 1


def test_one_updates_at_a_time(postgres: str) -> None:
    """A second store finds the learner taken, or waits, until the first ends its transaction."""
    first, second = PostgresStore(postgres), PostgresStore(postgres)
    learner = added(first)
    with first.writing() as writing:
        update = writing.start_update(learner)
        assert update is not None
        with second.writing() as other:
            assert other.start_update(learner) is None
        first_generation = update.generation
        writing.put_states({learner: (first_generation, b"second")})
    with second.writing() as writing:
        update = writing.start_update(learner, wait=True)
        assert update is not None
        assert (update.generation, update.state) == (1, b"second")
    first.close()
    second.close()


def test_postgres_commits_are_synchronous_whatever_the_defaults(postgres: str) -> None:
    """Defaults of the database and of the role are off; the store's own connections wait for the disk."""
    role = f"hasty_{secrets.token_hex(4)}"
    database = make_url(postgres).database
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
        connection.execute(f"ALTER ROLE {role} SET synchronous_commit = off")
        connection.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
    address = postgres.replace("postgres@", f"{role}@")
    with psycopg.connect(address) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
    store = PostgresStore(address)
    try:
        with store.writing() as one, store.writing() as two:
            for writing in (one, two):
                assert writing.connection.scalar(text("SHOW synchronous_commit")) == "on"
                assert writing.connection.scalar(text("SELECT current_user")) == role
    finally:
        store.close()


def test_a_server_without_fsync_gives_a_warning(
    postgres_server: Server, postgres: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No commit survives a power failure there, and nothing that the store sets can change that."""
    PostgresStore(postgres).close()
    assert "fsync" not in caplog.text
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:

        def is_now(value: str) -> bool:
            with psycopg.connect(postgres) as fresh:
                return fresh.execute("SHOW fsync").fetchone() == (value,)

        try:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: is_now("off"))
            PostgresStore(postgres).close()
        finally:
            connection.execute("ALTER SYSTEM RESET fsync")
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: is_now("on"))
    assert "fsync off" in caplog.text


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("where", ["nowhere", "closed port", "no database"])
def test_an_unreachable_server_is_named(where: str, tmp_path: pathlib.Path, postgres: str) -> None:
    """Its host and port, and why; never a password, not even in what led to the error."""
    address, named = {
        "nowhere": (f"postgresql://me:hunter2@/x?host={tmp_path}", f"{tmp_path}:5432: no socket"),
        "closed port": ("postgresql://me:hunter2@127.0.0.1:9/x", "127.0.0.1:9: connection refused"),
        "no database": (
            re.sub(r"postgres@/\w+", "postgres:hunter2@/missing", postgres),
            ":5432: no such database",
        ),
    }[where]
    with pytest.raises(StoreError, match=re.escape(named)) as caught:
        PostgresStore(address)
    assert str(caught.value).startswith("Cannot connect to the PostgreSQL server at ")
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_invalid_addresses_are_refused() -> None:
    """Before anything is tried."""
    with pytest.raises(InvalidArgument):
        PostgresStore("postgresql")
