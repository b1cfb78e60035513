"""The key: made once, for its owner only, never replaced in silence; sealed bytes open where they belong."""

import contextlib
import pathlib
import sqlite3
import stat

import pytest
from service_helpers import bandit, functions, opened, rounds, told
from sqlalchemy import insert, select

from another_process import started
from commands import run
from discreet.errors import StoreInUse, WrongKey
from discreet.service import admin
from discreet.service.encryption import KeyRing
from discreet.service.records import Code
from discreet.service.sealing import Seals
from discreet.set_functions import Modular
from discreet.storage import tables
from discreet.storage.writing import Writing


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    monkeypatch.delenv("DISCREET_ROLLBACK_GUARD", raising=False)


def test_a_key_file_is_made_beside_the_database(tmp_path: pathlib.Path) -> None:
    """Once, readable by its owner only, and its contents are in no other file."""
    with opened(tmp_path / "service.db") as service:
        functions(service)
        key = (tmp_path / "service.db.key").read_text()
        assert stat.S_IMODE((tmp_path / "service.db.key").stat().st_mode) == 0o600
        for file in tmp_path.iterdir():
            if file.name != "service.db.key":
                data = file.read_bytes()
                assert key.strip().encode() not in data
                assert bytes.fromhex(key) not in data
    with opened(tmp_path / "service.db"):
        assert (tmp_path / "service.db.key").read_text() == key


@pytest.mark.parametrize("kind", ["bandit", "functions"])
def test_a_lost_key_is_a_clear_error(tmp_path: pathlib.Path, kind: str) -> None:
    """No new one is created; with the old one everything continues."""
    path = tmp_path / "service.db"
    with opened(path) as service:
        (bandit if kind == "bandit" else functions)(service, "x")
    key = tmp_path / "service.db.key"
    key.rename(tmp_path / "elsewhere")
    with pytest.raises(WrongKey, match="cannot be read"):
        opened(path)
    assert not key.exists()
    with opened(path, key_file=tmp_path / "elsewhere") as service:
        assert len(service.ask("x")) == 1


def test_a_wrong_key_is_a_clear_error(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file or from the environment; it is not quoted."""
    path = tmp_path / "service.db"
    opened(path).close()
    (tmp_path / "service.db.key").write_text("ab" * 32)
    with pytest.raises(WrongKey, match="another key"):
        opened(path)
    monkeypatch.setenv("DISCREET_KEY", "cd" * 32)
    with pytest.raises(WrongKey, match="another key"):
        opened(path)
    monkeypatch.setenv("DISCREET_KEY", "not hexadecimal")
    with pytest.raises(WrongKey, match="64 hexadecimal digits") as caught:
        opened(path)
    assert "not hexadecimal" not in str(caught.value)


def test_the_environment_can_hold_the_key(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then no file is made."""
    monkeypatch.setenv("DISCREET_KEY", "cd" * 32)
    with opened(tmp_path / "service.db") as service:
        functions(service)
        assert told(service, "plan", service.ask("plan"), function=Modular([0, 0, 1])) == [Code.ACCEPTED]
    assert not list(tmp_path.glob("*.key"))


def test_a_server_without_a_key_is_refused(postgres: str) -> None:
    """PostgreSQL has no file to put one beside."""
    with pytest.raises(WrongKey, match="DISCREET_KEY"):
        opened(postgres)


def test_sealed_bytes_open_where_they_belong() -> None:
    """Not under another lineage, kind, number or key, nor when a bit of them changed."""
    ring = KeyRing(b"k" * 32)
    sealed = ring.seal(b"secret", "line", "state", b"7")
    assert b"secret" not in sealed
    assert ring.unseal(sealed, "line", "state", b"7") == b"secret"
    assert ring.seal(b"secret", "line", "state", b"7") != sealed
    for names in (("other", "state", b"7"), ("line", "feedback", b"7"), ("line", "state", b"8")):
        with pytest.raises(WrongKey):
            ring.unseal(sealed, *names)
    for damaged in (sealed[:-1], b"", sealed[:20] + bytes([sealed[20] ^ 1]) + sealed[21:]):
        with pytest.raises(WrongKey):
            ring.unseal(damaged, "line", "state", b"7")
    with pytest.raises(WrongKey):
        KeyRing(b"l" * 32).unseal(sealed, "line", "state", b"7")
    with pytest.raises(WrongKey):
        KeyRing(b"short")


def test_a_key_ring_shows_no_key() -> None:
    """Printing it gives a fingerprint, which is not the key nor a part of it."""
    ring = KeyRing(bytes(range(32)))
    assert bytes(range(32)).hex()[:8] not in repr(ring)
    assert ring.fingerprint in repr(ring)
    assert len(Seals(ring, "line").person("\ud800odd")) == 16


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_the_key_is_rotated(
    backend: str,
    tmp_path: pathlib.Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Everything goes on with the new key: sums, queued feedback, counted people, retried requests."""
    where = tmp_path / "a.db" if backend == "sqlite" else request.getfixturevalue("postgres")
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    with opened(where, key_file=old) as service:
        functions(service)
        bandit(service, rounds_per_person=1)
        choices = service.ask("shop", 3, request_id="r")
        told(service, "shop", choices[:1], cost=0.5, person="ann")
        service.maintenance.apply_queued()
        bandit(service, "central", mode="central", method="model")
        told(service, "central", service.ask("central", 3), cost=0.5)
        assert rounds(service, "central") == 3  # in open sums
        told(service, "plan", service.ask("plan", 3), function=Modular([0.5, -0.2, 0.1]))  # sealed, queued
    line = ("store", "rotate-key", "--new-key-file", new, "--store", where, "--key-file", old)
    code, out, _ = run(capsys, *line)
    assert (code, "sealed again" in out, stat.S_IMODE(new.stat().st_mode)) == (0, True, 0o600)
    code, out, _ = run(capsys, *line)
    assert (code, "has this key already" in out) == (0, True)
    with pytest.raises(WrongKey, match="another key"):
        opened(where, key_file=old)
    with opened(where, key_file=new) as service:
        told(service, "central", service.ask("central", 2), cost=0.5)
        assert (rounds(service, "plan"), rounds(service, "central")) == (3, 5)
        assert {view.status for view in service.learners()} == {"active"}
        assert service.ask("shop", 3, request_id="r") == choices
        told(service, "shop", choices[1:2], cost=0.5, person="ann")
        assert rounds(service) == 1
    assert run(capsys, "store", "check", "--store", where, "--key-file", new)[0] == 0


def test_a_rotated_store_is_closed_to_the_old_key(tmp_path: pathlib.Path) -> None:
    """Whoever has it and the new database opens nothing, whatever is left on its pages."""
    path, keys = tmp_path / "a.db", tmp_path / "keys"
    with opened(path) as service:
        functions(service)
        told(service, "plan", service.ask("plan", 3), function=Modular([0.5, -0.2, 0.1]))
    key = bytes.fromhex((tmp_path / "a.db.key").read_text())
    before = sealed_values(path)
    assert admin.rotate_key(path, keys) == len(before) - 1
    after, content = sealed_values(path), path.read_bytes()
    assert len(after) == len(before)
    assert not set(before) & set(after)
    assert not any(value in content for value in before)
    with pytest.raises(WrongKey):
        KeyRing(key, after[0].decode())


def test_an_interrupted_rotation_changes_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be repeated, with the new key that it made."""
    path, new = tmp_path / "a.db", tmp_path / "new.key"
    with opened(path) as service:
        functions(service)
    before = sealed_values(path)
    with monkeypatch.context() as broken:
        broken.setattr(Writing, "note", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            admin.rotate_key(path, new)
    made = new.read_text()
    assert sealed_values(path) == before
    with opened(path) as service:
        assert service.ask("plan")
    assert admin.rotate_key(path, new) == 1
    assert new.read_text() == made


def test_a_store_that_is_served_is_not_rotated(postgres: str, key: None, tmp_path: pathlib.Path) -> None:
    """A server would go on sealing with the old key."""
    code = "import sys, discreet.storage as d; s = d.open_store(sys.argv[1]); print(s.others()); input()"
    opened(postgres).close()
    process = started(code, postgres)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        with pytest.raises(StoreInUse, match="stop them first"):
            admin.rotate_key(postgres, tmp_path / "new.key")
    finally:
        process.communicate("", timeout=30)


def test_sums_are_sealed_again(tmp_path: pathlib.Path) -> None:
    """As they are named: by their phase, and how many reports are in them."""
    path = tmp_path / "a.db"
    with opened(path) as service:
        functions(service)
        record = service.registry.named("plan").record
        sealed = service._ring.seal(b"sums", record.lineage, "sums", b"3 7")
        with service._store.writing() as writing:
            row = {"learner": record.id, "phase": 3, "applied": 7, "sums": sealed}
            writing.connection.execute(insert(tables.sums).values(row))
    admin.rotate_key(path, tmp_path / "new.key")
    with opened(path, key_file=tmp_path / "new.key") as service, service._store.reading() as reading:
        (found,) = reading.connection.execute(select(tables.sums.c.sums)).scalars()
        assert service._ring.unseal(found, record.lineage, "sums", b"3 7") == b"sums"


def sealed_values(path: pathlib.Path) -> list[bytes]:
    """The sealed keys, and all else that is sealed."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (keys,) = connection.execute("SELECT value FROM meta WHERE key = 'sealed keys'").fetchone()
        states = connection.execute("SELECT state FROM learners UNION ALL SELECT sums FROM sums").fetchall()
        payloads = connection.execute("SELECT payload FROM feedback").fetchall()
    return [keys.encode(), *(value for (value,) in states + payloads)]
