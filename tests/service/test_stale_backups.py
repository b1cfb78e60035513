"""Old backups: a learner that keeps secrets must not go on from one; the witness knows."""

import os
import pathlib
import shutil

import pytest
from desk_helpers import bandit, functions, opened, rounds, told

from discreet.errors import StaleState, WrongKey
from discreet.service.desk import Desk
from discreet.service.records import Code
from discreet.service.witness import Witness
from discreet.set_functions import Modular


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    monkeypatch.delenv("DISCREET_WITNESS", raising=False)


def play(desk: Desk, count: int) -> None:
    told(desk, "plan", desk.ask("plan", count), function=Modular([0.5, -0.2, 0.1]))
    desk.housekeeping.fold()


def backup(path: pathlib.Path) -> pathlib.Path:
    copy = path.with_name("backup.db")
    shutil.copy(path, copy)
    return copy


def test_an_old_backup_is_not_continued(tmp_path: pathlib.Path) -> None:
    """Asking and telling are refused; what it was is shown; other learners go on; a new epoch can begin."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        functions(desk)
        bandit(desk)
        play(desk, 40)
        kept = desk._registry.named("plan")
        before = kept.shown.releases
        point = desk.learner("plan").summary.point
    copy = backup(path)
    with opened(path) as desk:
        waiting = desk.ask("plan")
        play(desk, 200)
        assert desk._registry.named("plan").shown.releases > before
    shutil.copy(copy, path)
    with opened(path) as desk:
        assert desk.learner("plan").status == "stale"
        with pytest.raises(StaleState, match="old backup must not be continued"):
            desk.ask("plan")
        with pytest.raises(StaleState):
            told(desk, "plan", waiting, function=Modular([0, 0, 0]))
        with pytest.raises(StaleState):
            desk.submit_ask("plan")
        assert desk.housekeeping.expire() == 0
        assert told(desk, "shop", desk.ask("shop"), cost=0.5) == [Code.ACCEPTED]
        fresh = desk.restart("plan")
        assert (fresh.status, fresh.epoch, fresh.summary.point) == ("active", 2, point)
        play(desk, 10)
        assert rounds(desk, "plan") == 10


def test_a_backup_restored_under_a_running_desk_is_not_continued(tmp_path: pathlib.Path) -> None:
    """The next fold finds a state that has released less than the witness knows, and leaves it alone."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        functions(desk)
        play(desk, 1)
        kept = desk._registry.named("plan")
        with desk._store.reading() as reading:
            old = reading.state(kept.id)
        play(desk, 60)
        with desk._store.writing() as writing:
            table = writing._connection
            table.exec_driver_sql("UPDATE learners SET generation = ?, state = ?", old)
        told(desk, "plan", desk.ask("plan"), function=Modular([0, 0, 0]))
        assert desk.housekeeping.fold() == 0
        assert kept.stale
        with desk._store.reading() as reading:
            assert reading.state(kept.id) == old
        with pytest.raises(StaleState):
            desk.ask("plan")


def test_a_backup_with_the_same_releases_goes_on(tmp_path: pathlib.Path) -> None:
    """Feedback is lost with it, but nothing is released twice."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        functions(desk)
        play(desk, 2)
    copy = backup(path)
    with opened(path) as desk:
        play(desk, 2)
        assert desk._registry.named("plan").shown.releases == 0
    shutil.copy(copy, path)
    with opened(path) as desk:
        play(desk, 2)
        assert rounds(desk, "plan") == 4


def test_a_state_put_in_place_of_another_is_not_opened(tmp_path: pathlib.Path) -> None:
    """Sealed bytes belong to their generation."""
    import sqlite3

    path = tmp_path / "desk.db"
    with opened(path) as desk:
        functions(desk)
    with sqlite3.connect(path) as connection:
        old = connection.execute("SELECT state FROM learners").fetchone()[0]
    connection.close()
    with opened(path) as desk:
        play(desk, 30)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE learners SET state = ?", (old,))
    connection.close()
    with pytest.raises(WrongKey, match="sealed state"):
        opened(path)


def test_the_witness_notes_before_anything_is_shown(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its line is synced to disk, asks still draw from the point before."""
    with opened(tmp_path / "desk.db") as desk:
        functions(desk)
        kept = desk._registry.named("plan")
        seen: list[tuple[int, int]] = []
        sync = os.fdatasync

        def watched(handle: int) -> None:
            if handle == desk._witness._handle:
                seen.append((kept.shown.releases, desk._witness.releases(kept.record.lineage)))
            sync(handle)

        monkeypatch.setattr(os, "fdatasync", watched)
        for _ in range(40):
            play(desk, 1)
        releases = kept.shown.releases
        assert [shown for shown, _ in seen] == list(range(releases))
        assert releases > 1


def test_a_failed_commit_shows_nothing(tmp_path: pathlib.Path) -> None:
    """Point, state and rounds stay what the database has, and the next tell goes on from there."""
    from discreet.errors import StoreError
    from discreet.storage.sql_writing import SqlFold

    with opened(tmp_path / "desk.db") as desk:
        bandit(desk)
        choices = desk.ask("shop", 20)
        told(desk, "shop", choices[:10], cost=0.9)
        kept = desk._registry.named("shop")
        before = kept.shown.state()
        put = SqlFold.put

        def fail(self: SqlFold, state: bytes) -> None:
            put(self, state)
            raise StoreError("the disk is full")

        SqlFold.put = fail  # type: ignore[method-assign]
        try:
            with pytest.raises(StoreError, match="disk is full"):
                told(desk, "shop", choices[10:], cost=0.9)
        finally:
            SqlFold.put = put  # type: ignore[method-assign]
        assert kept.shown.state() == before
        assert desk.learner("shop").counts.told == 10
        assert told(desk, "shop", choices, cost=0.9) == [Code.ACCEPTED] * 20
        assert rounds(desk) == 20


def test_witness_files_are_read_back(tmp_path: pathlib.Path) -> None:
    """The greatest number counts; a line that was cut short does not; a second process may share the file."""
    path = tmp_path / "deep" / "witness"
    one, two = Witness(path), Witness(path)
    one.record("a", 3)
    one.record("a", 2)
    two.record("a", 5)
    two.record("b", 1)
    one.close()
    two.close()
    two.close()
    with open(path, "a") as file:
        file.write("a 9 and then the li")
    again = Witness(path)
    assert (again.releases("a"), again.releases("b"), again.releases("c")) == (5, 1, 0)
    assert path.read_text() == "a 5\nb 1\n"
    with open(path, "a") as file:
        file.write("b 4")  # by a process that died while another goes on
    again.record("c", 7)
    again.close()
    last = Witness(path)
    assert (last.releases("a"), last.releases("b"), last.releases("c")) == (5, 4, 7)
    last.close()
