"""What is special to a backend: who may open it, and how processes that start at once get along."""

import pathlib
import sqlite3
import stat

import pytest
from test_store_contract import added

from another_process import output, started
from discreet.errors import InvalidArgument, StoreError, StoreInUse
from discreet.storage import open_store
from discreet.storage.postgres import PostgresStore
from discreet.storage.sqlite import SqliteStore

OPEN = """
import sys
from discreet.storage import open_store
store = open_store(sys.argv[1])
with store.writing() as writing:
    print(writing.note_once("first", sys.argv[2]))
store.close()
"""


def test_a_second_process_is_refused_clearly(tmp_path: pathlib.Path) -> None:
    """As long as the first has the file, by whatever name; afterwards it may."""
    path = tmp_path / "store.db"
    (tmp_path / "link.db").symlink_to(path)
    store = SqliteStore(path)
    with pytest.raises(StoreInUse, match="PostgreSQL"):
        SqliteStore(tmp_path / "link.db")
    process = started(OPEN, path, "x")
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "StoreInUse: Another process has the store" in complaints
    store.close()
    store.close()
    assert output(OPEN, path, "mine") == "mine\n"


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
        connection = writing._connection
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


def test_what_is_no_database_is_refused(tmp_path: pathlib.Path) -> None:
    """With an error of this package, and the file is left alone."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but a long enough text " * 50)
    with pytest.raises(StoreError):
        SqliteStore(path)
    assert path.read_text().startswith("not a database")
    with pytest.raises(InvalidArgument):
        open_store("mysql://somewhere/else")


def test_a_damaged_page_is_an_error_of_the_store(tmp_path: pathlib.Path) -> None:
    """Not one of the driver."""
    store = SqliteStore(tmp_path / "store.db")
    store.close()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("DROP TABLE minutes")
    connection.close()
    store = SqliteStore(tmp_path / "store.db")
    with pytest.raises(StoreError, match="OperationalError"), store.reading() as reading:
        reading.counts(1)
    store.close()


def test_processes_that_start_at_once_make_one_schema(postgres: str) -> None:
    """Six of them migrate an empty database together: all work, and the first fact is everybody's."""
    processes = [started(OPEN, postgres, number) for number in range(6)]
    printed = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 6, printed
    assert len({out for out, _ in printed}) == 1


def test_one_folds_at_a_time(postgres: str) -> None:
    """A second store finds the learner taken, or waits, until the first ends its transaction."""
    first, second = PostgresStore(postgres), PostgresStore(postgres)
    learner = added(first)
    with first.folding(learner) as fold:
        assert fold is not None
        with second.folding(learner) as other:
            assert other is None
        fold.put(b"second")
    with second.folding(learner, wait=True) as fold:
        assert fold is not None
        assert (fold.generation, fold.state) == (1, b"second")
    first.close()
    second.close()


def test_an_unreachable_server_is_an_error_of_the_store(tmp_path: pathlib.Path) -> None:
    """And one that names no password."""
    with pytest.raises(StoreError) as caught:
        PostgresStore(f"postgresql://me:hunter2@/x?host={tmp_path}")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(InvalidArgument):
        PostgresStore("postgresql")
