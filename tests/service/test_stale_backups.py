"""Old backups: no learner must go on from one; the rollback guard knows."""

import pathlib
import shutil
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from service_helpers import DAY, Clock, bandit, functions, opened, rounds, told
from sqlalchemy import text

from discreet.errors import StaleState, StoreError
from discreet.service.hosted_learner import Applied
from discreet.service.learner_service import LearnerService
from discreet.service.records import Code, Feedback
from discreet.service.rollback_guard import RollbackGuard
from discreet.service.sqlite_guard import SqliteGuard
from discreet.set_functions import Modular


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    monkeypatch.delenv("DISCREET_ROLLBACK_GUARD", raising=False)


def play(service: LearnerService, count: int, clock: Clock | None = None) -> None:
    """Ask and tell; with a clock, until what is due at the deadline is released."""
    told(service, "plan", service.ask("plan", count), function=Modular([0.5, -0.2, 0.1]))
    if clock is not None:
        clock.now += 8 * DAY
    service.maintenance.apply_queued()


def backup(path: pathlib.Path) -> pathlib.Path:
    copy = path.with_name("backup.db")
    shutil.copy(path, copy)
    return copy


def test_an_old_backup_is_not_continued(tmp_path: pathlib.Path, clock: Clock) -> None:
    """Asking and telling are refused; what it was is shown; other learners go on; a new epoch can begin."""
    path = tmp_path / "service.db"
    with opened(path, clock) as service:
        functions(service)
        bandit(service)
        play(service, 40, clock)
        hosted = service.registry.named("plan")
        before = hosted.host.releases(hosted.state)
        point = service.learner("plan").point
    copy = backup(path)
    with opened(path, clock) as service:
        waiting = service.ask("plan")
        play(service, 200, clock)
        assert service.registry.named("plan").host.releases(service.registry.named("plan").state) > before
    shutil.copy(copy, path)
    with opened(path, clock) as service:
        assert service.learner("plan").status == "stale"
        with pytest.raises(StaleState, match="old backup must not be continued"):
            service.ask("plan")
        with pytest.raises(StaleState):
            told(service, "plan", waiting, function=Modular([0, 0, 0]))
        with pytest.raises(StaleState):
            service.submit_ask("plan")
        assert service.maintenance.expire() == 0
        assert told(service, "shop", service.ask("shop"), cost=0.5) == [
            Code.ACCEPTED
        ]  # had released nothing since
        fresh = service.restart("plan")
        assert (fresh.status, fresh.epoch, fresh.point) == ("active", 2, point)
        play(service, 10)
        assert rounds(service, "plan") == fresh.rounds + 10


def test_a_cost_is_not_released_twice_by_an_old_backup(tmp_path: pathlib.Path) -> None:
    """A bandit's decision that was told about after the backup cannot be told about again."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service, rounds_per_person=1)
        choices = service.ask("shop", 2)
        told(service, "shop", choices[:1], cost=0.5, person="ann")
    copy = backup(path)
    with opened(path) as service:
        assert told(service, "shop", choices[1:], cost=0.5, person="bob") == [Code.ACCEPTED]
    shutil.copy(copy, path)
    with opened(path) as service:
        assert service.learner("shop").status == "stale"
        for call in (lambda: told(service, "shop", choices[1:], cost=0.5), lambda: service.ask("shop")):
            with pytest.raises(StaleState, match="old backup must not be continued"):
                call()
        assert service.maintenance.expire() == 0
        service.restart("shop")
        assert told(service, "shop", choices[1:], cost=0.5) == [Code.FOREIGN]


def test_a_ledger_does_not_forget_what_was_spent(tmp_path: pathlib.Path) -> None:
    """A backup from before a learner was made is refused as a whole: its people's loss is not in it."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        service.set_population("town", 1.5)
        bandit(service, population="town")
    copy = backup(path)
    with opened(path) as service:
        service.set_population("town", 3.0)
        bandit(service, "more", population="town")
    shutil.copy(copy, path)
    with pytest.raises(StaleState, match="1 learners or epochs that its rollback guard knows are not"):
        opened(path)


def test_a_lost_guard_is_noticed(tmp_path: pathlib.Path) -> None:
    """Nobody could say whether the store is the latest, even if nothing was released in it yet."""
    path, guard = tmp_path / "service.db", tmp_path / "service.db.guard"
    with opened(path):
        assert guard.exists()
    guard.unlink()
    with opened(path) as service:  # without any learner nothing can have been released
        bandit(service)
        choices = service.ask("shop", 5)
    copy = backup(path)
    with opened(path) as service:
        told(service, "shop", choices, cost=0.5)
    away = guard.rename(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(StaleState, match="is missing"):
            opened(path)
        assert not guard.exists()
        shutil.copy(copy, path)
    with opened(path, guard_file=away) as service:
        assert service.learner("shop").status == "stale"


def test_processes_notice_what_others_released(postgres: str, tmp_path: pathlib.Path) -> None:
    """A database that went back (a standby that lagged took over) is not gone on with by any of them."""
    key = tmp_path / "key"
    with opened(postgres, key_file=key) as one, opened(postgres, key_file=key) as two:
        bandit(one)
        two.learners()
        hosted = one.registry.named("shop")
        told(one, "shop", one.ask("shop", 10), cost=0.5)
        assert rounds(one) == 10
        two.maintenance.refresh()
        with one._store.reading() as reading:
            old = reading.state(hosted.id)
        told(one, "shop", one.ask("shop", 10), cost=0.5)
        assert rounds(one) == 20
        one._guard.sync()  # as maintenance does every second
        with one._store.writing() as writing:
            writing.connection.exec_driver_sql("UPDATE learners SET generation = %s, state = %s", old)
        told(two, "shop", two.ask("shop", 10), cost=0.5)
        assert two.maintenance.apply_queued() == 0
        assert two.learner("shop").status == "stale"
        with pytest.raises(StaleState):
            two.ask("shop")


def test_stale_learners_stay_stale(tmp_path: pathlib.Path) -> None:
    """Also when a process with another rollback guard continues until it has released more."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service)
        told(service, "shop", service.ask("shop", 5), cost=0.5)
    copy = backup(path)
    with opened(path) as service:
        told(service, "shop", service.ask("shop", 5), cost=0.5)
        latest = service.registry.named("shop")
        state = latest.state
    shutil.copy(copy, path)
    with opened(path) as service:
        hosted = service.registry.named("shop")
        assert hosted.stale
        hosted.show(Applied(hosted.generation + 10, state, in_sums=0))
        assert hosted.host.releases(hosted.state) == 10
        assert hosted.stale


def test_nothing_is_acknowledged_before_the_guard_records_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry is answered once the rollback guard can be written again, and then it knows."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service)
        choices = service.ask("shop", 2)
        monkeypatch.setattr(RollbackGuard, "every", 0.0)
        write = SqliteGuard._raise
        monkeypatch.setattr(SqliteGuard, "_raise", _no_writing)
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be written"):
                told(service, "shop", choices, cost=0.5)
        with pytest.raises(StoreError, match="rollback guard"):
            service.ask("shop")
        for look in (service.learner, service.history):  # nor is it seen in sums and means
            with pytest.raises(StoreError, match="rollback guard"):
                look("shop")
        monkeypatch.setattr(SqliteGuard, "_raise", write)
        assert service.learner("shop").counts.asked == 2
        assert told(service, "shop", choices, cost=0.5) == [Code.ACCEPTED] * 2
        assert rounds(service) == 2
        assert service._guard.is_behind(service.registry.named("shop").record.lineage, 1)


def test_the_place_of_the_key_does_not_matter(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rollback guard is found, and an old backup refused, after the key moved to the environment."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service)
        told(service, "shop", service.ask("shop"), cost=0.5)
    copy = backup(path)
    with opened(path) as service:
        told(service, "shop", service.ask("shop"), cost=0.5)
    shutil.copy(copy, path)
    key = tmp_path / "service.db.key"
    monkeypatch.setenv("DISCREET_KEY", key.read_text())
    key.unlink()
    with opened(path) as service:
        assert service.learner("shop").status == "stale"


def test_a_new_store_beside_an_old_guard_is_refused(tmp_path: pathlib.Path) -> None:
    """Removing the database forgets what people have lost, which should not happen unnoticed."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service)
    path.unlink()
    with pytest.raises(StaleState, match="another store"):
        opened(path)
    (tmp_path / "service.db.guard").unlink()
    with opened(path) as service:
        assert service.learners() == []


def test_a_backup_restored_under_a_running_service_is_not_continued(
    tmp_path: pathlib.Path, clock: Clock
) -> None:
    """The next ask or tell finds that the store went back, and so does the next fold."""
    path = tmp_path / "service.db"
    with opened(path, clock) as service:
        functions(service)
        play(service, 1)
        hosted = service.registry.named("plan")
        with service._store.reading() as reading:
            old = reading.state(hosted.id)
        play(service, 60, clock)
        choice = service.ask("plan")[0]
        with service._store.writing() as writing:
            table = writing.connection
            table.exec_driver_sql("UPDATE learners SET generation = ?, state = ?", old)
        with pytest.raises(StaleState):
            service.tell("plan", [Feedback(choice.id, function=Modular([0, 0, 0]))])
        assert hosted.stale
        with pytest.raises(StaleState):
            service.ask("plan")
        with service._store.reading() as reading:
            assert reading.state(hosted.id) == old
            assert reading.queued() == {}


def test_a_backup_with_the_same_releases_continues(tmp_path: pathlib.Path) -> None:
    """Feedback is lost with it, but nothing is released twice."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        functions(service)
        play(service, 2)
    copy = backup(path)
    with opened(path) as service:
        play(service, 2)
        assert service.registry.named("plan").host.releases(service.registry.named("plan").state) == 0
    shutil.copy(copy, path)
    with opened(path) as service:
        play(service, 2)
        assert rounds(service, "plan") == 4


def test_a_state_put_in_place_of_another_is_not_opened(tmp_path: pathlib.Path, clock: Clock) -> None:
    """Sealed bytes belong to their generation. Other learners continue, and this one can be restarted."""
    import sqlite3

    path = tmp_path / "service.db"
    with opened(path, clock) as service:
        functions(service)
        bandit(service)
    with sqlite3.connect(path) as connection:
        old = connection.execute("SELECT state FROM learners").fetchone()[0]
    connection.close()
    with opened(path, clock) as service:
        play(service, 30, clock)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE learners SET state = ? WHERE name = 'plan'", (old,))
    connection.close()
    with opened(path, clock) as service:
        assert service.learner("plan").status == "damaged"
        with pytest.raises(StaleState, match="damaged"):
            service.ask("plan")
        told(service, "shop", service.ask("shop"), cost=0.5)
        assert service.restart("plan").status == "active"
        play(service, 2)
        assert rounds(service, "plan") == 2


def test_the_guard_records_before_anything_is_shown(
    tmp_path: pathlib.Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its number is written, asks still draw from the point before."""
    with opened(tmp_path / "service.db", clock) as service:
        functions(service)
        hosted = service.registry.named("plan")
        seen: list[int] = []
        write = SqliteGuard._raise

        def watched(guard: SqliteGuard, numbers: Mapping[str, int]) -> None:
            seen.append(hosted.host.releases(hosted.state))
            write(guard, numbers)

        monkeypatch.setattr(SqliteGuard, "_raise", watched)
        for _ in range(40):
            play(service, 1, clock)
        releases = hosted.host.releases(hosted.state)
        assert seen == list(range(releases))
        assert releases > 1


def test_a_failed_commit_shows_nothing(tmp_path: pathlib.Path) -> None:
    """Point, state and rounds stay what the database has, and the next tell continues from there."""
    from discreet.storage.writing import Writing

    with opened(tmp_path / "service.db") as service:
        bandit(service)
        choices = service.ask("shop", 20)
        told(service, "shop", choices[:10], cost=0.9)
        hosted = service.registry.named("shop")
        before = hosted.host.encode(hosted.state)
        put = Writing.put_states

        def fail(self: Writing, states: Mapping[int, tuple[int, bytes]]) -> None:
            put(self, states)
            raise StoreError("the disk is full")

        Writing.put_states = fail  # type: ignore[method-assign]
        try:
            with pytest.raises(StoreError, match="disk is full"):
                told(service, "shop", choices[10:], cost=0.9)
        finally:
            Writing.put_states = put  # type: ignore[method-assign]
        assert hosted.host.encode(hosted.state) == before
        assert service.learner("shop").counts.told == 10
        assert told(service, "shop", choices, cost=0.9) == [Code.ACCEPTED] * 20
        assert rounds(service) == 20


def test_a_backup_from_before_the_end_of_a_learner_is_not_continued(tmp_path: pathlib.Path) -> None:
    """What was archived stays so."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        bandit(service)
        told(service, "shop", service.ask("shop"), cost=0.5)
    copy = backup(path)
    with opened(path) as service:
        service.archive("shop")
    with opened(path) as service:
        assert service.learner("shop").status == "archived"
    shutil.copy(copy, path)
    with opened(path) as service:
        assert service.learner("shop").status == "stale"
        with pytest.raises(StaleState):
            service.ask("shop")


def test_a_learner_that_maintenance_updates_is_not_taken_for_old(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tell comes when an update is committed and recorded by the guard but not shown: it is retried."""
    clock = Clock()
    with opened(tmp_path / "service.db", clock) as service:
        bandit(service, deadline_seconds=60)
        service.ask("shop", 3)
        clock.now += 61_000
        assert service.maintenance.expire() == 3
        choices = service.ask("shop", 2)
        record, told_meanwhile = service._guard.record, list[Future[Any]]()

        def slow(*arguments: Any, **options: Any) -> None:
            record(*arguments, **options)
            if not told_meanwhile:
                feedback = [Feedback(choice.id, cost=0.5) for choice in choices]
                told_meanwhile.append(service.submit_tell("shop", feedback))
                time.sleep(0.3)  # for a committer that would not see what happens

        monkeypatch.setattr(service._guard, "record", slow)
        assert service.maintenance.apply_queued() == 3
        assert [outcome.code for outcome in told_meanwhile[0].result(20)] == [Code.ACCEPTED] * 2
        assert service.learner("shop").status == "active"
        assert rounds(service) == 5


def test_a_guard_that_cannot_be_written_stops_releases(
    postgres: str, key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where others fold what was told: at most what was under way is released, and nothing more is taken."""
    with opened(postgres) as service:
        bandit(service)
        for count in (2, 3):
            told(service, "shop", service.ask("shop", count), cost=0.5)
        with monkeypatch.context() as broken:
            broken.setattr(RollbackGuard, "every", 0.0)
            broken.setattr(SqliteGuard, "_raise", _no_writing)
            service.maintenance.apply_queued()
            with pytest.raises(StoreError, match="rollback guard"):
                service.learner("shop")
            with pytest.raises(StoreError, match="rollback guard"):
                service.ask("shop")
            service.maintenance.apply_queued()
            with service._store.reading() as reading:
                hosted = service.registry.named("shop")
                assert reading.state(hosted.id)[0] == hosted.generation + 1
        service.maintenance.refresh()
        assert told(service, "shop", service.ask("shop"), cost=0.5) == [Code.ACCEPTED]
        assert rounds(service) == 6


def test_a_restored_database_takes_no_second_bit(postgres: str, key: None) -> None:
    """A server that had it open notices with the next tell, before anything is written."""
    with opened(postgres) as service:
        bandit(service)
        choices = service.ask("shop", 5)
        with service._store.reading() as reading:
            old = reading.state(service.registry.named("shop").id)
        told(service, "shop", choices, cost=0.5)
        assert rounds(service) == 5
        with service._store.writing() as writing:
            table = writing.connection
            back = {"generation": old[0], "state": old[1]}
            table.execute(text("UPDATE learners SET generation = :generation, state = :state"), back)
            table.execute(text("UPDATE decisions SET closed_at = NULL, how = NULL"))
        with pytest.raises(StaleState):
            told(service, "shop", choices, cost=0.5)
        with service._store.reading() as reading:
            assert not reading.queued()
        assert service.learner("shop").status == "stale"


def _no_writing(guard: SqliteGuard, numbers: Mapping[str, int]) -> None:
    raise OSError(5, "input/output error")
