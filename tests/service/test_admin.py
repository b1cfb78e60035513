"""Checking and restoring stores, and the commands that do so."""

import io
import json
import pathlib
import shutil
import sqlite3
import struct

import psycopg
import pytest
from service_helpers import bandit, functions, opened, rounds, told

from commands import run
from discreet.errors import StaleState
from discreet.service import admin
from discreet.service.learner_service import LearnerService
from discreet.service.records import Code
from discreet.set_functions import Modular


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    monkeypatch.delenv("DISCREET_ROLLBACK_GUARD", raising=False)


def filled(service: LearnerService) -> dict[str, str]:
    """A learner of each kind with some feedback; the ids of open decisions."""
    service.set_population("town", 5.0)
    bandit(service, population="town", rounds_per_person=2)
    functions(service)
    left = {}
    for name, feedback in (("shop", {"cost": 0.3}), ("plan", {"function": Modular([0.1, 0.2, 0.3])})):
        choices = service.ask(name, 3, request_id="r")
        told(service, name, choices[:2], person="somebody", **feedback)
        left[name] = choices[2].id
    service.maintenance.apply_queued()
    service.api_keys.create("admin", "me")
    return left


def test_the_check_finds_what_is_wrong(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts that do not fit, damage, a missing key; and says so when all is well."""
    store = tmp_path / "a.db"
    with opened(store) as service:
        filled(service)
    code, out, _ = run(capsys, "store", "check", "--store", store)
    assert code == 0
    assert "No problems were found." in out
    code, out, _ = run(capsys, "store", "check", "--store", store, "--json")
    found = json.loads(out)
    assert [learner["name"] for learner in found["learners"]] == ["plan", "shop"]
    assert [(a["asked"], a["told"], a["pending"]) for a in found["learners"]] == [(3, 2, 1)] * 2
    with sqlite3.connect(store) as connection:
        connection.execute("DELETE FROM decisions WHERE closed_at IS NULL")
    connection.close()
    code, out, _ = run(capsys, "store", "check", "--store", store)
    assert code == 1
    assert "'shop' has 0 open decisions, but its counts say 1." in out
    (tmp_path / "a.db.key").unlink()
    code, _, err = run(capsys, "store", "check", "--store", store)
    assert code == 2
    assert "key" in err


def test_a_damaged_database_is_reported(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever page it is, with exit code 1 and one line for each finding; nothing else is tried."""
    store = tmp_path / "a.db"
    with opened(store) as service:
        filled(service)
    sound = store.read_bytes()
    (size,) = struct.unpack(">H", sound[16:18])
    for first in (16, *range(size, len(sound), size)):
        store.write_bytes(
            sound[:first] + b"\xa5" * (size - first % size) + sound[first - first % size + size :]
        )
        code, out, err = run(capsys, "store", "check", "--store", store)
        if code == 0:  # a page that is not in use
            continue
        assert (code, "The database is damaged: " in out, "Traceback" in out + err) == (1, True, False), first
        code, _, err = run(capsys, "store", "adopt", "--store", store)
        assert (code, "damaged" in err) == (2, True)
        code, out, err = run(capsys, "keys", "list", "--store", store)  # may not need that page
        assert code in (0, 2)
        assert "Traceback" not in out + err
    code, out, _ = run(capsys, "store", "check", "--store", store, "--json")
    assert (code, json.loads(out)["inspection"]) == (1, None)
    store.write_bytes(sound)
    assert run(capsys, "store", "check", "--store", store)[0] == 0


def test_the_commands(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check, back up, restore; keys are made, listed and revoked."""
    store = tmp_path / "a.db"
    for command in ("check", "backup", "restore", "adopt"):
        code, out, _ = run(capsys, "store", command, "--help")
        assert (code, "Example" in out) == (0, True)
    for command in ("check", "adopt"):
        code, _, err = run(capsys, "store", command, "--store", store)
        assert (code, "does not exist" in err) == (2, True)
    code, _, err = run(capsys, "keys", "create", "--role", "read", "--store", store)
    assert (code, "does not exist" in err) == (2, True)
    assert not store.exists()
    with opened(store) as service:
        filled(service)
    copy = tmp_path / "copy.db"
    assert run(capsys, "store", "backup", copy, "--store", store)[0] == 0
    code, out, _ = run(capsys, "store", "restore", copy, "--store", store)
    assert (code, "discreet store check" in out) == (0, True)
    assert run(capsys, "store", "check", "--store", store)[0] == 0
    code, _, err = run(capsys, "store", "backup", tmp_path / "b", "--store", "postgresql://somewhere/shop")
    assert (code, "pg_dump" in err) == (2, True)
    with opened(store) as service:
        service.archive("plan")
        service.archive("shop")
    code, out, _ = run(capsys, "store", "adopt", "--store", store)
    assert (code, "No learner can continue" in out) == (0, True)
    code, out, _ = run(capsys, "keys", "create", "--role", "read", "--label", "till", "--store", store)
    name = out.split("_")[1]
    code, out, _ = run(capsys, "keys", "list", "--store", store, "--json")
    assert (name, "till") in [(entry["id"], entry["label"]) for entry in json.loads(out)]
    code, out, _ = run(capsys, "keys", "revoke", name, "--store", store)
    code, out, _ = run(capsys, "keys", "list", "--store", store)
    assert (code, name in out, "admin" in out) == (0, False, True)
    code, _, err = run(capsys, "keys", "revoke", name, "--store", store)
    assert (code, err) == (2, "discreet: No key has this id.\n")


def test_a_restored_store_is_adopted(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What may have released more is restarted, at the price of its epsilon; then the store can go on."""
    store, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with opened(store) as service:
        service.set_population("town", 5.0)
        bandit(service, population="town")
        bandit(service, "quiet", population="town")
        told(service, "shop", service.ask("shop"), cost=0.5)
        told(service, "quiet", service.ask("quiet"), cost=0.5)
    shutil.copy(store, copy)
    with opened(store) as service:
        told(service, "shop", service.ask("shop"), cost=0.5)
        bandit(service, "later", population="town")
    shutil.copy(copy, store)
    code, out, _ = run(capsys, "store", "check", "--store", store)
    assert code == 1
    assert "old backup: 1 learners" in out
    assert "older than what 'shop' has released" in out
    code, out, _ = run(capsys, "store", "adopt", "--store", store)
    assert (code, "'shop' was restarted" in out, "'quiet'" in out) == (0, True, False)
    assert run(capsys, "store", "check", "--store", store)[0] == 0
    with opened(store) as service:
        assert [(v.name, v.epoch, v.status) for v in service.learners()] == [
            ("quiet", 1, "active"),
            ("shop", 2, "active"),
        ]
        assert service.population("town").spent == 3.0
        told(service, "shop", service.ask("shop"), cost=0.5)
    shutil.copy(copy, store)  # the same again: it is as old as it was
    with pytest.raises(StaleState, match="1 learners or epochs"):
        admin.adopt(store, latest=True)
    assert admin.adopt(store).restarted == ("shop",)
    with opened(store) as service:
        assert (service.learner("shop").epoch, service.learner("shop").releases) == (2, 0)


@pytest.mark.parametrize("adopted", [True, False])
def test_a_replaced_store_is_not_continued_beside_the_restored_one(
    tmp_path: pathlib.Path, adopted: bool
) -> None:
    """It can be put back at once; once the restored one went on, the rollback guard refuses it."""
    store, copy, aside = tmp_path / "a.db", tmp_path / "copy.db", tmp_path / "a.db.before-restore"
    with opened(store) as service:
        bandit(service)
        choices = service.ask("shop", 3)
        if not adopted:
            told(service, "shop", choices[:1], cost=0.5)
    admin.backup(store, copy)
    if adopted:  # the backup is older than what was released
        with opened(store) as service:
            told(service, "shop", choices[:1], cost=0.5)
    assert admin.restore(store, copy) == aside
    away = aside.rename(tmp_path / "away.db")
    assert admin.restore(store, away) == aside  # at once
    aside.unlink()
    with opened(store) as service:
        assert service.learner("shop").status == "active"
    admin.restore(store, copy)
    if adopted:
        assert admin.adopt(store).restarted == ("shop",)
    with opened(store) as service:
        fresh = service.ask("shop", 2)
        assert told(service, "shop", fresh, cost=0.5) == [Code.ACCEPTED] * 2
    aside.rename(tmp_path / "late.db")
    admin.restore(store, tmp_path / "late.db")
    if adopted:  # an epoch began elsewhere
        with pytest.raises(StaleState, match="old backup"):
            opened(store)
    else:
        with opened(store) as service, pytest.raises(StaleState):
            told(service, "shop", choices[1:], cost=0.5)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_asked_first(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a store is replaced; not with --yes, and nowhere else."""
    store, file = tmp_path / "a.db", tmp_path / "file"
    with opened(store) as service:
        bandit(service)
    admin.backup(store, file)
    line = ("store", "restore", file, "--store", store)
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    code, out, _ = run(capsys, *line)
    assert (code, "Nothing was changed." in out) == (1, True)
    with opened(store) as service:
        assert service.learner("shop").status == "active"
    assert not (tmp_path / "a.db.before-restore").exists()
    for more, said in (((), "y\n"), (("--yes",), "")):
        monkeypatch.setattr("sys.stdin", Terminal(said))
        code, out, err = run(capsys, *line, *more)
        assert code == 0, err
        assert ("[y/N]" in out + err) == (said == "y\n")
        (tmp_path / "a.db.before-restore").unlink(missing_ok=True)


def test_a_store_without_its_guard_is_adopted(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All learners are restarted, unless it is known to be the latest state. Looking changes nothing."""
    store, guard = tmp_path / "a.db", tmp_path / "a.db.guard"
    with opened(store) as service:
        filled(service)
    guard.unlink()
    code, out, _ = run(capsys, "store", "check", "--store", store)
    assert (code, "is missing" in out, guard.exists()) == (1, True, False)
    code, out, _ = run(capsys, "store", "adopt", "--latest", "--store", store)
    assert (code, "restarted" in out) == (0, False)
    assert out.endswith("These learners can continue: plan, shop.\n")
    with opened(store) as service:
        assert {view.epoch for view in service.learners()} == {1}
    guard.unlink()
    assert admin.adopt(store).restarted == ("plan", "shop")
    with opened(store) as service:
        assert {view.epoch for view in service.learners()} == {2}


def test_adopting_drops_queued_feedback(tmp_path: pathlib.Path) -> None:
    """It may have been released before, with other noise: it is dropped."""
    store = tmp_path / "a.db"
    with opened(store) as service:
        functions(service)
        told(service, "plan", service.ask("plan", 40), function=Modular([0.5, -0.2, 0.1]))
        point = service.learner("plan").point
    (tmp_path / "a.db.guard").unlink()
    assert admin.adopt(store).restarted == ("plan",)
    with opened(store) as service:
        view = service.learner("plan")
        assert (view.epoch, view.point) == (2, point)
        assert rounds(service, "plan") == 0


def test_adopting_archives_what_exceeds_the_limit(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All in one go: afterwards the store can be opened, and the limit holds."""
    store = tmp_path / "a.db"
    with opened(store) as service:
        service.set_population("town", 4.5)
        for name in ("a", "b", "c"):
            bandit(service, name, population="town")
    (tmp_path / "a.db.guard").write_bytes(b"x" * 64)
    code, _, err = run(capsys, "store", "check", "--store", store)
    assert (code, "is damaged" in err, "store adopt" in err) == (2, True, True)
    code, out, _ = run(capsys, "store", "adopt", "--store", store)
    assert (code, out.count("restarted"), out.count("archived")) == (0, 1, 2)
    with opened(store) as service:
        assert sorted(view.status for view in service.learners()) == ["active", "archived", "archived"]
        assert service.population("town").spent == 4.0


def test_adopting_beside_running_processes(postgres: str, tmp_path: pathlib.Path) -> None:
    """They go on writing to the guard that everybody reads."""
    key = tmp_path / "key"
    with opened(postgres, key_file=key) as service:
        bandit(service)
        bandit(service, "other")
        told(service, "shop", service.ask("shop", 5), cost=0.5)
        assert rounds(service) == 5
        admin.adopt(postgres, key, latest=True)
        told(service, "shop", service.ask("shop", 15), cost=0.5)
        assert rounds(service) == 20
        bandit(service, "third")
    with psycopg.connect(postgres) as connection:
        found = connection.execute("SELECT releases FROM discreet_guard.rollback_guard WHERE lineage <> ''")
        assert sorted(number for (number,) in found) == [0, 0, 20]


def test_damaged_feedback_stops_no_other_learner(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What waits sealed and cannot be opened is an error of its learner, which is logged."""
    path = tmp_path / "a.db"
    with opened(path) as service:
        functions(service)
        bandit(service)
        told(service, "plan", service.ask("plan", 3), function=Modular([0.1, 0.2, 0.3]))
    with sqlite3.connect(path) as connection:
        ((payload, decision),) = connection.execute("SELECT payload, decision FROM feedback LIMIT 1")
        damaged = bytes([payload[0] ^ 1]) + payload[1:]
        connection.execute("UPDATE feedback SET payload = ? WHERE decision = ?", (damaged, decision))
    connection.close()
    with opened(path) as service:
        assert rounds(service, "plan") == 0
        assert "feedback to plan could not be applied" in caplog.text
        told(service, "shop", service.ask("shop", 2), cost=0.5)
        assert rounds(service, "shop") == 2
