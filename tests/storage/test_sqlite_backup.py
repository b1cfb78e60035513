"""Copies of SQLite stores: consistent, private, and put back without the old journal."""

import pathlib
import shutil
import sqlite3

import pytest

from discreet.errors import InvalidArgument, StoreError, StoreInUse
from discreet.storage import open_store
from discreet.storage.sqlite_backup import back_up, put_back


def noted(path: pathlib.Path) -> str | None:
    store = open_store(path)
    try:
        with store.reading() as reading:
            return reading.meta("word")
    finally:
        store.close()


def test_a_store_in_use_is_copied(tmp_path: pathlib.Path) -> None:
    """With all that was committed, into one file that only its owner can read."""
    store = open_store(tmp_path / "a.db")
    with store.writing() as writing:
        writing.note_once("word", "first")
        writing.note_once("more", "x" * 100_000)
    back_up(tmp_path / "a.db", tmp_path / "copy.db")
    with pytest.raises(StoreInUse):
        put_back(tmp_path / "copy.db", tmp_path / "a.db")
    store.close()
    assert [path.name for path in tmp_path.glob("*copy*")] == ["copy.db"]
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert noted(tmp_path / "copy.db") == "first"
    with pytest.raises(InvalidArgument, match="already"):
        back_up(tmp_path / "a.db", tmp_path / "copy.db")


def test_a_copy_replaces_the_journal_of_a_killed_process(tmp_path: pathlib.Path) -> None:
    """What stands in that journal is not replayed into the copy."""
    place = tmp_path / "a.db"
    store = open_store(place)
    back_up(place, tmp_path / "copy.db")
    with store.writing() as writing:
        for k in range(200):
            writing.note_once(f"later {k}", "x" * 5_000)
        writing.note_once("word", "later")
    left = {name: (tmp_path / name).read_bytes() for name in ("a.db", "a.db-wal", "a.db-shm")}
    store.close()
    for name, content in left.items():  # as a killed process leaves them
        (tmp_path / name).write_bytes(content)
    assert put_back(tmp_path / "copy.db", place) == tmp_path / "a.db.before-restore"
    assert not (tmp_path / "a.db-wal").exists()
    assert noted(place) is None
    aside = tmp_path / "a.db.before-restore"
    with pytest.raises(InvalidArgument, match="earlier restore"):
        put_back(tmp_path / "copy.db", place)
    assert noted(aside) == "later"  # with its journal
    with sqlite3.connect(place) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_failed_restore_loses_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stood only in the journal of a killed process is in the database before the journal goes."""
    place = tmp_path / "a.db"
    store = open_store(place)
    back_up(place, tmp_path / "copy.db")
    with store.writing() as writing:
        writing.note_once("word", "later")
    left = {name: (tmp_path / name).read_bytes() for name in ("a.db", "a.db-wal", "a.db-shm")}
    store.close()
    for name, content in left.items():
        (tmp_path / name).write_bytes(content)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("discreet.storage.sqlite_backup.os.replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            put_back(tmp_path / "copy.db", place)
    assert noted(place) == "later"
    assert not (tmp_path / "a.db.before-restore").exists()


def test_a_copy_is_restored_where_nothing_was(tmp_path: pathlib.Path) -> None:
    """On a new machine."""
    open_store(tmp_path / "a.db").close()
    back_up(tmp_path / "a.db", tmp_path / "copy.db")
    assert put_back(tmp_path / "copy.db", tmp_path / "b.db") is None
    assert noted(tmp_path / "b.db") is None
    assert not (tmp_path / "b.db.before-restore").exists()


@pytest.mark.parametrize("content", [b"", b"no database at all " * 100, None])
def test_other_files_are_not_restored(tmp_path: pathlib.Path, content: bytes | None) -> None:
    """And the store stays what it was."""
    open_store(tmp_path / "a.db").close()
    before = (tmp_path / "a.db").read_bytes()
    if content is not None:
        (tmp_path / "copy.db").write_bytes(content)
    with pytest.raises((InvalidArgument, StoreError)):
        put_back(tmp_path / "copy.db", tmp_path / "a.db")
    assert (tmp_path / "a.db").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_damaged_store_is_not_copied(tmp_path: pathlib.Path) -> None:
    """A backup that cannot be restored is none."""
    open_store(tmp_path / "a.db").close()
    content = bytearray((tmp_path / "a.db").read_bytes())
    content[5000:9000] = b"\xff" * 4000
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        back_up(tmp_path / "a.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
    shutil.rmtree(tmp_path)
