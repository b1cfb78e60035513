"""The rollback guard in PostgreSQL: its cost, and who finds it. `test_rollback_guard` has the contract."""

import contextlib
import pathlib
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from service_helpers import DAY, Clock, bandit, functions, opened, rounds, told

from discreet.errors import InvalidArgument, StaleState, StoreError
from discreet.service import admin
from discreet.service.postgres_guard import PostgresGuard
from discreet.set_functions import Modular
from discreet.storage.postgres_engine import postgres_url
from postgres_server import Server, programs

A, B = "a" * 32, "b" * 32


@pytest.fixture(autouse=True)
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.delenv("DISCREET_ROLLBACK_GUARD", raising=False)


@contextlib.contextmanager
def guard_at(address: str, store: str = "store") -> Iterator[PostgresGuard]:
    with contextlib.closing(PostgresGuard(postgres_url(address), store)) as guard:
        yield guard


def test_numbers_of_bandits_are_written_together(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand records take a statement or two; new learners of others are looked up together."""
    with guard_at(postgres) as guard, guard_at(postgres) as other:
        guard.begin()
        statements: list[str] = []
        sa.event.listen(
            guard._engine, "before_cursor_execute", lambda c, u, text, *_: statements.append(text)
        )
        monkeypatch.setattr("discreet.service.rollback_guard.RollbackGuard.every", 3600.0)
        guard.record(A, 0, durable=False)
        del statements[:]
        for count in range(1, 1001):
            guard.record(A, count, durable=False)
        assert statements == []
        guard.sync()
        assert sum("INSERT" in each for each in statements) == 1
        other.settle({f"{number:032x}": 0 for number in range(100)})
        monkeypatch.setattr("discreet.service.rollback_guard.RollbackGuard.every", -1.0)
        guard._is_recorded(B, 0)
        monkeypatch.setattr("discreet.service.rollback_guard.RollbackGuard.every", 3600.0)
        del statements[:]
        for number in range(100):
            guard.record(f"{number:032x}", 0, durable=False)
        assert statements == []


def test_a_guard_that_cannot_be_written_keeps_things_hidden(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What secret learners release is not shown; it is recorded once the table can be written again."""
    with guard_at(postgres) as guard, psycopg.connect(postgres, autocommit=True) as connection:
        guard.begin()
        guard.record(A, 1, durable=True)
        connection.execute("ALTER TABLE discreet_guard.rollback_guard RENAME TO away")
        with pytest.raises(StoreError, match="rollback guard cannot be written"):
            guard.record(B, 1, durable=False)
        with pytest.raises(StoreError, match="rollback guard cannot be written"):
            guard.record(A, 2, durable=True)
        assert guard.lineages == {A}
        monkeypatch.setattr("discreet.service.rollback_guard.RollbackGuard.every", 3600.0)
        guard.record(A, 3, durable=False)
        connection.execute("ALTER TABLE discreet_guard.away RENAME TO rollback_guard")
        guard.sync()
        with guard_at(postgres) as again:
            assert again.is_behind(A, 2)


def test_stores_share_a_table(postgres: str) -> None:
    """Each sees its own learners, and is missing until it begins; schemas are apart."""
    with guard_at(postgres, "one") as one:
        one.begin()
        one.record(A, 1, durable=True)
    with guard_at(postgres, "one") as one, guard_at(postgres, "two") as two:
        assert (one.fresh, two.fresh, two.lineages) == (False, True, frozenset())
    with guard_at(f"{postgres}&schema=elsewhere", "one") as elsewhere:
        assert elsewhere.fresh
        assert elsewhere.where.endswith("schema elsewhere")
    with pytest.raises(InvalidArgument, match="schema"):
        PostgresGuard(postgres_url(f"{postgres}&schema=a;drop"), "one")


def test_a_new_machine_starts_without_manual_work(
    postgres: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finds the guard beside the store. Two share learners, and each sees what the other has released."""
    with opened(postgres) as first:
        bandit(first)
        functions(first)
        told(first, "shop", first.ask("shop", 3), cost=0.5)
        assert rounds(first) == 3
        monkeypatch.setenv("HOME", str(tmp_path / "another machine"))
        with opened(postgres) as second:
            told(second, "shop", second.ask("shop", 4), cost=0.5)
            told(second, "plan", second.ask("plan", 40), function=Modular([0.5, -0.2, 0.1]))
            bandit(second, "later")
            assert rounds(second) == 7
            assert rounds(second, "plan") == 40
            assert rounds(first) == 7
            assert told(first, "later", first.ask("later"), cost=0.5)
            assert {view.status for view in first.learners()} == {"active"}
    with opened(postgres) as third:
        assert {view.status for view in third.learners()} == {"active"}


def test_the_guard_of_an_sqlite_store_may_be_a_table(
    postgres: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then an old backup is refused wherever it is restored."""
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", postgres)
    store, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with opened(store) as service:
        bandit(service)
        told(service, "shop", service.ask("shop"), cost=0.5)
    shutil.copy(store, copy)
    with opened(store) as service:
        told(service, "shop", service.ask("shop"), cost=0.5)
    with opened(copy) as service:
        assert service.learner("shop").status == "stale"
    with opened(store) as service:
        assert service.learner("shop").status == "active"


def test_a_dump_does_not_bring_the_guard_with_it(postgres_server: Server, postgres: str) -> None:
    """A restored guard may be as old as the restored store: it counts as missing until that is adopted."""
    with opened(postgres) as service:
        bandit(service)
        told(service, "shop", service.ask("shop"), cost=0.5)
        assert rounds(service) == 1
    dump = subprocess.run([programs() / "pg_dump", postgres], capture_output=True, check=True).stdout
    restored = postgres_server.new_database()
    subprocess.run([programs() / "psql", "-q", restored], input=dump, capture_output=True, check=True)
    with pytest.raises(StaleState, match="comes from a dump"):
        opened(restored)
    assert admin.adopt(restored, latest=True).active == ("shop",)
    with opened(restored) as service:
        assert rounds(service) == 1


def test_a_phase_that_another_process_closes_meanwhile(
    postgres: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its release is not taken for one that is missing in the state that an update has just read."""
    with opened(postgres, clock) as one, opened(postgres, clock) as two:
        functions(one)
        told(one, "plan", one.ask("plan", 40), function=Modular([0.5, -0.2, 0.1]))
        hosted = one.registry.named("plan")
        assert one.maintenance._apply_all([hosted]) == 40  # complete, and not closed
        clock.now += 8 * DAY
        told(one, "plan", one.ask("plan", 5), function=Modular([0.5, -0.2, 0.1]))
        other, look = two.registry.named("plan"), two._guard.is_behind
        before = hosted.generation

        def slow(*state: Any, **options: Any) -> bool:
            if options.get("look"):
                one.maintenance._close_phases()
            return look(*state, **options)

        monkeypatch.setattr(two._guard, "is_behind", slow)
        assert two.maintenance._apply_all([other]) == 5
        assert not other.stale
        one.maintenance._close_phases()
        assert hosted.generation > before
        two.maintenance.refresh()
        assert (other.generation, other.stale) == (hosted.generation, False)


def test_an_old_backup_is_not_continued(postgres: str) -> None:
    """A store that was restored below its guard, as from a dump without the guard's schema."""
    with opened(postgres) as service:
        bandit(service)
        with service._store.reading() as reading:
            old = reading.state(service.registry.named("shop").id)
        told(service, "shop", service.ask("shop"), cost=0.5)
        assert rounds(service) == 1
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("UPDATE learners SET generation = %s, state = %s", old)
    with opened(postgres) as service:
        assert service.learner("shop").status == "stale"
        with pytest.raises(StaleState):
            service.ask("shop")
    assert admin.adopt(postgres).restarted == ("shop",)


def test_the_schema_may_be_made_by_somebody_else(postgres_server: Server, postgres: str) -> None:
    """For a user who may not; otherwise the error says which place and why, and no password."""
    role = f"modest_{secrets.token_hex(4)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        address = postgres.replace("postgres@", f"{role}:hunter2@")
        with guard_at(address) as guard:
            with pytest.raises(StoreError, match=r"schema discreet_guard.*InsufficientPrivilege") as caught:
                guard.begin()
            assert "hunter2" not in str(caught.value)
            connection.execute(f"CREATE SCHEMA discreet_guard AUTHORIZATION {role}")
            guard.begin()
            guard.record(A, 1, durable=True)
    with guard_at(address) as again:
        assert again.lineages == {A}
