"""Old backups: no learner must go on from one; the witness knows."""

import os
import pathlib
import shutil
import time
from concurrent.futures import Future
from typing import Any

import pytest
from desk_helpers import Clock, bandit, functions, opened, rounds, told
from sqlalchemy import text

from discreet.errors import StaleState, StoreError
from discreet.service.desk import Desk
from discreet.service.records import Code, Feedback
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
        assert told(desk, "shop", desk.ask("shop"), cost=0.5) == [Code.ACCEPTED]  # had released nothing since
        fresh = desk.restart("plan")
        assert (fresh.status, fresh.epoch, fresh.summary.point) == ("active", 2, point)
        play(desk, 10)
        assert rounds(desk, "plan") == 10


def test_a_cost_is_not_released_twice_by_an_old_backup(tmp_path: pathlib.Path) -> None:
    """A bandit's decision that was told about after the backup cannot be told about again."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        bandit(desk, rounds_per_person=1)
        choices = desk.ask("shop", 2)
        told(desk, "shop", choices[:1], cost=0.5, person="ann")
    copy = backup(path)
    with opened(path) as desk:
        assert told(desk, "shop", choices[1:], cost=0.5, person="bob") == [Code.ACCEPTED]
    shutil.copy(copy, path)
    with opened(path) as desk:
        assert desk.learner("shop").status == "stale"
        for call in (lambda: told(desk, "shop", choices[1:], cost=0.5), lambda: desk.ask("shop")):
            with pytest.raises(StaleState, match="old backup must not be continued"):
                call()
        assert desk.housekeeping.expire() == 0
        desk.restart("shop")
        assert told(desk, "shop", choices[1:], cost=0.5) == [Code.FOREIGN]


def test_a_ledger_does_not_forget_what_was_spent(tmp_path: pathlib.Path) -> None:
    """A backup from before a learner was made is refused as a whole: its people's loss is not in it."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        desk.set_population("town", 1.5)
        bandit(desk, population="town")
    copy = backup(path)
    with opened(path) as desk:
        desk.set_population("town", 3.0)
        bandit(desk, "more", population="town")
    shutil.copy(copy, path)
    with pytest.raises(StaleState, match="1 learners or epochs that its witness knows are not"):
        opened(path)


def test_a_lost_witness_is_noticed(tmp_path: pathlib.Path) -> None:
    """Nobody could say whether the store is the latest, even if nothing was released in it yet."""
    path, witness = tmp_path / "desk.db", tmp_path / "desk.db.witness"
    with opened(path):
        assert witness.exists()
    witness.unlink()
    with opened(path) as desk:  # without any learner nothing can have been released
        bandit(desk)
        choices = desk.ask("shop", 5)
    copy = backup(path)
    with opened(path) as desk:
        told(desk, "shop", choices, cost=0.5)
    away = witness.rename(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(StaleState, match="is not there"):
            opened(path)
        assert not witness.exists()
        shutil.copy(copy, path)
    with opened(path, witness_file=away) as desk:
        assert desk.learner("shop").status == "stale"


def test_processes_notice_what_others_released(postgres: str, tmp_path: pathlib.Path) -> None:
    """A database that went back (a standby that lagged took over) is not gone on with by any of them."""
    key = tmp_path / "key"
    with opened(postgres, key_file=key) as one, opened(postgres, key_file=key) as two:
        bandit(one)
        two.learners()
        kept = one._registry.named("shop")
        told(one, "shop", one.ask("shop", 10), cost=0.5)
        assert rounds(one) == 10
        two.housekeeping.refresh()
        with one._store.reading() as reading:
            old = reading.state(kept.id)
        told(one, "shop", one.ask("shop", 10), cost=0.5)
        assert rounds(one) == 20
        with one._store.writing() as writing:
            writing._connection.exec_driver_sql("UPDATE learners SET generation = %s, state = %s", old)
        told(two, "shop", two.ask("shop", 10), cost=0.5)
        assert two.housekeeping.fold() == 0
        assert two.learner("shop").status == "stale"
        with pytest.raises(StaleState):
            two.ask("shop")


def test_what_is_stale_stays_so(tmp_path: pathlib.Path) -> None:
    """Also when somebody with another witness goes on until it has released more."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        bandit(desk)
        told(desk, "shop", desk.ask("shop", 5), cost=0.5)
    copy = backup(path)
    with opened(path) as desk:
        told(desk, "shop", desk.ask("shop", 5), cost=0.5)
        latest = desk._registry.named("shop")
        state = latest.shown.state()
    shutil.copy(copy, path)
    with opened(path) as desk:
        kept = desk._registry.named("shop")
        assert kept.stale
        kept.show(kept.generation + 10, state)
        assert kept.shown.releases == 10
        assert kept.stale


def test_nothing_is_acknowledged_that_the_witness_missed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry is answered once the witness can be written again, and then it knows."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        bandit(desk)
        choices = desk.ask("shop", 2)
        write = os.pwrite
        monkeypatch.setattr(os, "pwrite", _no_writing)
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be written"):
                told(desk, "shop", choices, cost=0.5)
        with pytest.raises(StoreError, match="witness"):
            desk.ask("shop")
        for look in (desk.learner, desk.minutes):  # nor is it seen in sums and means
            with pytest.raises(StoreError, match="witness"):
                look("shop")
        monkeypatch.setattr(os, "pwrite", write)
        assert desk.learner("shop").counts.asked == 2
        assert told(desk, "shop", choices, cost=0.5) == [Code.ACCEPTED] * 2
        assert rounds(desk) == 2
        assert desk._witness.knows_more(desk._registry.named("shop").record.lineage, 1)


def test_the_place_of_the_key_does_not_matter(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness is found, and an old backup refused, after the key moved to the environment."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        bandit(desk)
        told(desk, "shop", desk.ask("shop"), cost=0.5)
    copy = backup(path)
    with opened(path) as desk:
        told(desk, "shop", desk.ask("shop"), cost=0.5)
    shutil.copy(copy, path)
    key = tmp_path / "desk.db.key"
    monkeypatch.setenv("DISCREET_KEY", key.read_text())
    key.unlink()
    with opened(path) as desk:
        assert desk.learner("shop").status == "stale"


def test_a_store_made_anew_beside_an_old_witness_is_refused(tmp_path: pathlib.Path) -> None:
    """Removing the database forgets what people have lost, which should not happen unnoticed."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        bandit(desk)
    path.unlink()
    with pytest.raises(StaleState, match="another store"):
        opened(path)
    (tmp_path / "desk.db.witness").unlink()
    with opened(path) as desk:
        assert desk.learners() == []


def test_a_backup_restored_under_a_running_desk_is_not_continued(tmp_path: pathlib.Path) -> None:
    """The next ask or tell finds that the store went back, and so does the next fold."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        functions(desk)
        play(desk, 1)
        kept = desk._registry.named("plan")
        with desk._store.reading() as reading:
            old = reading.state(kept.id)
        play(desk, 60)
        choice = desk.ask("plan")[0]
        with desk._store.writing() as writing:
            table = writing._connection
            table.exec_driver_sql("UPDATE learners SET generation = ?, state = ?", old)
        with pytest.raises(StaleState):
            desk.tell("plan", [Feedback(choice.id, function=Modular([0, 0, 0]))])
        assert kept.stale
        with pytest.raises(StaleState):
            desk.ask("plan")
        with desk._store.reading() as reading:
            assert reading.state(kept.id) == old
            assert reading.waiting() == {}


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
    """Sealed bytes belong to their generation. Other learners go on, and this one can be started anew."""
    import sqlite3

    path = tmp_path / "desk.db"
    with opened(path) as desk:
        functions(desk)
        bandit(desk)
    with sqlite3.connect(path) as connection:
        old = connection.execute("SELECT state FROM learners").fetchone()[0]
    connection.close()
    with opened(path) as desk:
        play(desk, 30)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE learners SET state = ? WHERE name = 'plan'", (old,))
    connection.close()
    with opened(path) as desk:
        assert desk.learner("plan").status == "damaged"
        with pytest.raises(StaleState, match="damaged"):
            desk.ask("plan")
        told(desk, "shop", desk.ask("shop"), cost=0.5)
        assert desk.restart("plan").status == "active"
        play(desk, 2)
        assert rounds(desk, "plan") == 2


def test_the_witness_notes_before_anything_is_shown(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its line is synced to disk, asks still draw from the point before."""
    with opened(tmp_path / "desk.db") as desk:
        functions(desk)
        kept = desk._registry.named("plan")
        seen: list[int] = []
        sync = os.fdatasync

        def watched(handle: int) -> None:
            if handle == desk._witness._handle:
                seen.append(kept.shown.releases)
            sync(handle)

        monkeypatch.setattr(os, "fdatasync", watched)
        for _ in range(40):
            play(desk, 1)
        releases = kept.shown.releases
        assert seen == list(range(releases))
        assert releases > 1


def test_a_failed_commit_shows_nothing(tmp_path: pathlib.Path) -> None:
    """Point, state and rounds stay what the database has, and the next tell goes on from there."""
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


def test_a_backup_from_before_the_end_of_a_learner_is_not_continued(tmp_path: pathlib.Path) -> None:
    """What was archived stays so."""
    path = tmp_path / "desk.db"
    with opened(path) as desk:
        bandit(desk)
        told(desk, "shop", desk.ask("shop"), cost=0.5)
    copy = backup(path)
    with opened(path) as desk:
        desk.archive("shop")
    with opened(path) as desk:
        assert desk.learner("shop").status == "archived"
    shutil.copy(copy, path)
    with opened(path) as desk:
        assert desk.learner("shop").status == "stale"
        with pytest.raises(StaleState):
            desk.ask("shop")


def test_a_learner_that_housekeeping_goes_on_with_is_not_taken_for_old(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tell comes when the witness knows of a fold that is committed and not shown: it is tried again."""
    clock = Clock()
    with opened(tmp_path / "desk.db", clock) as desk:
        bandit(desk, deadline_seconds=60)
        desk.ask("shop", 3)
        clock.now += 61_000
        assert desk.housekeeping.expire() == 3
        choices = desk.ask("shop", 2)
        record, told_meanwhile = desk._witness.record, list[Future[Any]]()

        def slow(*arguments: Any, **options: Any) -> None:
            record(*arguments, **options)
            if not told_meanwhile:
                feedback = [Feedback(choice.id, cost=0.5) for choice in choices]
                told_meanwhile.append(desk.submit_tell("shop", feedback))
                time.sleep(0.3)  # for a committer that would not see what happens

        monkeypatch.setattr(desk._witness, "record", slow)
        assert desk.housekeeping.fold() == 3
        assert [outcome.code for outcome in told_meanwhile[0].result(20)] == [Code.ACCEPTED] * 2
        assert desk.learner("shop").status == "active"
        assert rounds(desk) == 5


def test_a_witness_that_cannot_be_written_stops_releases(
    postgres: str, key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where others fold what was told: at most what was under way is released, and nothing more is taken."""
    with opened(postgres) as desk:
        bandit(desk)
        for count in (2, 3):
            told(desk, "shop", desk.ask("shop", count), cost=0.5)
        with monkeypatch.context() as broken:
            broken.setattr(os, "pwrite", _no_writing)
            desk.housekeeping.fold()
            with pytest.raises(StoreError, match="witness"):
                desk.learner("shop")
            with pytest.raises(StoreError, match="witness"):
                desk.ask("shop")
            desk.housekeeping.fold()
            with desk._store.reading() as reading:
                kept = desk._registry.named("shop")
                assert reading.state(kept.id)[0] == kept.generation + 1
        desk.housekeeping.refresh()
        assert told(desk, "shop", desk.ask("shop"), cost=0.5) == [Code.ACCEPTED]
        assert rounds(desk) == 6


def test_a_database_put_back_takes_no_second_bit(postgres: str, key: None) -> None:
    """A server that had it open notices with the next tell, before anything is written."""
    with opened(postgres) as desk:
        bandit(desk)
        choices = desk.ask("shop", 5)
        with desk._store.reading() as reading:
            old = reading.state(desk._registry.named("shop").id)
        told(desk, "shop", choices, cost=0.5)
        assert rounds(desk) == 5
        with desk._store.writing() as writing:
            table = writing._connection
            back = {"generation": old[0], "state": old[1]}
            table.execute(text("UPDATE learners SET generation = :generation, state = :state"), back)
            table.execute(text("UPDATE decisions SET closed_at = NULL, how = NULL"))
        with pytest.raises(StaleState):
            told(desk, "shop", choices, cost=0.5)
        with desk._store.reading() as reading:
            assert not reading.waiting()
        assert desk.learner("shop").status == "stale"


def _no_writing(handle: int, data: bytes, place: int) -> int:
    raise OSError(5, "input/output error")
