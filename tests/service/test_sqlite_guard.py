"""The rollback guard in an SQLite file, and what it survives. `test_rollback_guard` has the contract."""

import contextlib
import pathlib
import sqlite3
import stat

import pytest
from service_helpers import bandit, opened, told

from another_process import started
from discreet.errors import InvalidArgument, StaleState, StoreError
from discreet.service.rollback_guard import DamagedGuard
from discreet.service.sqlite_guard import SqliteGuard

A, B = "a" * 32, "b" * 32


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    """Where a guard is, which has recorded three releases of a learner."""
    path = tmp_path / "rollback guard"
    with contextlib.closing(SqliteGuard(path, "store")) as guard:
        guard.record(A, 3, durable=True)
    return path


def test_reading_changes_nothing(tmp_path: pathlib.Path) -> None:
    """Not even whether there is a file."""
    looking = SqliteGuard(tmp_path / "rollback guard", "store", look_only=True)
    looking.record(A, 3, durable=True)
    looking.close()
    assert not list(tmp_path.iterdir())


def test_commits_are_synchronous(path: pathlib.Path) -> None:
    """WAL, and every commit waits for the disk; the files are for their owner, and one is left."""
    with contextlib.closing(SqliteGuard(path, "store")) as guard:
        guard.record(A, 4, durable=True)
        connection = guard._open()
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in path.parent.iterdir())
    assert list(path.parent.iterdir()) == [path]


RECORD = """
import sys
from discreet.service.sqlite_guard import SqliteGuard
guard = SqliteGuard(sys.argv[1], "store")
guard.begin()
for count in range(1, 10_000):
    guard.record(sys.argv[2], count, durable=True)
    print(count, flush=True)
"""


@pytest.mark.process
def test_processes_that_are_killed_have_recorded_what_they_said(tmp_path: pathlib.Path) -> None:
    """Four begin at once, write to one file, and are killed at any moment."""
    path, lineages = tmp_path / "rollback guard", [f"{number:032x}" for number in range(4)]
    processes = [started(RECORD, path, lineage) for lineage in lineages]
    said = []
    for process in processes:
        assert process.stdout is not None
        for _ in range(20):
            assert process.stdout.readline()
    for process in processes:
        process.kill()
        assert process.stdout is not None
        said.append(int(["20", *process.stdout.read().split("\n")[:-1]][-1]))
        _, errors = process.communicate()
        assert not errors
    with contextlib.closing(SqliteGuard(path, "store")) as guard:
        for lineage, count in zip(lineages, said, strict=True):
            assert guard.is_behind(lineage, count - 1)
            assert not guard.is_behind(lineage, count + 1)


def test_damage_is_refused(path: pathlib.Path) -> None:
    """Rather than taken for knowing nothing; adopting the store makes another file."""
    sound = path.read_bytes()
    for damaged in (sound[:-1], sound[: len(sound) // 2], b"y" + sound[1:], b"discreet guard of store"):
        path.write_bytes(damaged)
        with pytest.raises(DamagedGuard, match="is damaged"):
            SqliteGuard(path, "store")
        with contextlib.closing(SqliteGuard(path, "store", look_only=True, repair=True)) as repairing:
            assert repairing.fresh
            assert path.read_bytes() == damaged
            repairing.settle({B: 5})
        with contextlib.closing(SqliteGuard(path, "store")) as again:
            assert (again.fresh, again.lineages) == (False, {B})


def test_an_empty_file_counts_as_none(tmp_path: pathlib.Path) -> None:
    """As a full disk or `mktemp` leaves one."""
    path = tmp_path / "rollback guard"
    path.touch()
    with contextlib.closing(SqliteGuard(path, "store")) as guard:
        assert guard.fresh
        guard.record(A, 3, durable=True)
    with contextlib.closing(SqliteGuard(path, "store")) as again:
        assert again.is_behind(A, 2)


def test_other_databases_are_refused(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The guard of another store, also one that began meanwhile; the store itself; what is no address."""
    with pytest.raises(StaleState, match="another store"):
        SqliteGuard(path, "other")
    one, two = (SqliteGuard(tmp_path / "both", name) for name in ("one", "two"))
    one.begin()
    with pytest.raises(StaleState, match="another store"):
        two.begin()
    one.close()
    with opened(tmp_path / "a.db"):
        pass
    for wrong, message in (
        (tmp_path / "a.db", "another SQLite database"),
        ("s3://bucket/a", "postgresql://"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            opened(tmp_path / "a.db", guard_file=wrong)


def test_a_guard_that_cannot_be_written_keeps_things_hidden(path: pathlib.Path) -> None:
    """What there was no room for is as good as not recorded, and is written once there is room."""
    with contextlib.closing(SqliteGuard(path, "store")) as guard:
        guard._open().execute("PRAGMA max_page_count=1")
        guard._open().execute("PRAGMA query_only=1")
        with pytest.raises(StoreError, match="cannot be written"):
            guard.record(B, 1, durable=False)
        assert guard.lineages == {A}
        guard._open().execute("PRAGMA query_only=0")
        guard.record(B, 1, durable=False)
    with contextlib.closing(SqliteGuard(path, "store")) as again:
        assert again.lineages == {A, B}


def test_the_address_may_be_that_of_sqlite(tmp_path: pathlib.Path) -> None:
    """As for a store; an old backup is refused by a guard in another folder."""
    path, guard = tmp_path / "a.db", f"sqlite:///{tmp_path}/elsewhere/guard"
    with opened(path, guard_file=guard) as service:
        bandit(service)
    old = path.read_bytes()
    with opened(path, guard_file=guard) as service:
        told(service, "shop", service.ask("shop"), cost=0.5)
    path.write_bytes(old)
    with opened(path, guard_file=guard) as service:
        assert service.learner("shop").status == "stale"
    with sqlite3.connect(tmp_path / "elsewhere" / "guard") as connection:
        numbers = connection.execute("SELECT releases FROM rollback_guard WHERE lineage <> ''").fetchall()
    connection.close()
    assert numbers == [(1,)]
