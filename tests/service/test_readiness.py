"""A store that cannot be written, or read, is told: by /readyz, in the log with its reason, in metrics."""

import contextlib
import json
import pathlib
import re
import resource
import sqlite3
import threading
import time
import urllib.parse
from collections.abc import Callable

import httpx2
import psycopg
import pytest
from http_helpers import BANDIT, client, code_of, service

from discreet.errors import StoreError
from discreet.service.health import Health
from discreet.service.learner_service import LearnerService
from discreet.service.web import health as web_health
from discreet.service.web import watching
from running_service import RunningService


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def status(caller: httpx2.Client) -> tuple[int, str]:
    answer = caller.get("/readyz")
    return answer.status_code, "" if answer.status_code == 200 else code_of(answer)


def problems(log: str) -> list[str]:
    """What the log says besides requests and starts."""
    lines = [json.loads(line) for line in log.splitlines()]
    return [line["message"] for line in lines if line["level"] in ("warning", "error")]


@pytest.mark.process
def test_a_full_disk_is_told(tmp_path: pathlib.Path) -> None:
    """Each failing part says so once, not with each request; when there is room again, all goes on."""
    with RunningService(tmp_path) as running, client(running.url, running.key) as admin:
        assert admin.post("/v1/learners", json=BANDIT).status_code == 201
        assert status(admin) == (200, "")
        full = (tmp_path / "service.db-wal").stat().st_size  # no file may grow beyond this
        before = resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
        until(lambda: status(admin) == (503, "store_unavailable"))
        for _ in range(20):
            answer = admin.post("/v1/learners/shop/ask")
            assert (answer.status_code, code_of(answer)) == (503, "store_unavailable")
        assert admin.get("/livez").status_code == 200
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, before)
        until(lambda: admin.post("/v1/learners/shop/ask").status_code == 200)
        until(lambda: status(admin) == (200, ""))
        metrics = admin.get("/metrics").text
    said = problems((tmp_path / "log").read_text())
    for part in ("writing asks and tells", "the readiness check"):
        of_part = [message for message in said if message.startswith(part)]
        assert [message.endswith("works again") for message in of_part] == [False, True]
        assert re.search(r"\((disk full|disk error|OperationalError)\)", of_part[0])
    assert "discreet_commit_seconds_count" in metrics


@pytest.mark.process
def test_a_damaged_page_is_told(tmp_path: pathlib.Path) -> None:
    """Where the readiness check does not write, asks do: what they met counts against readiness."""
    store = tmp_path / "service.db"
    with LearnerService.open(store, key_file=tmp_path / "service.key") as learner_service:
        learner_service.create("shop", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1]})
        learner_service.ask("shop")
    with contextlib.closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'decisions_by_time'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with open(store, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with RunningService(tmp_path) as running, client(running.url, running.key) as admin:
        assert admin.post("/v1/learners/shop/ask").status_code == 503
        assert status(admin) == (503, "store_unavailable")
        assert admin.get("/livez").status_code == 200
    assert any(
        "(damaged)" in message or "(DatabaseError)" in message
        for message in problems((tmp_path / "log").read_text())
    )


@pytest.mark.process
def test_an_unreachable_database_is_told(postgres: str, tmp_path: pathlib.Path) -> None:
    """All connections are cut and none is let in; then all goes on without a restart."""
    name = urllib.parse.urlsplit(postgres).path[1:]
    other = postgres.replace(f"/{name}?", "/postgres?")
    with RunningService(tmp_path, postgres) as running, client(running.url, running.key) as admin:
        assert status(admin) == (200, "")
        with psycopg.connect(other, autocommit=True) as owner:
            owner.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            until(lambda: status(admin) == (503, "store_unavailable"))
            assert admin.get("/livez").status_code == 200
            owner.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        until(lambda: status(admin) == (200, ""))
    said = problems((tmp_path / "log").read_text())
    assert any(re.match(r"the readiness check: .*\((unreachable|\w*Error)\)", message) for message in said)
    assert "the readiness check: works again" in said


def test_each_reason_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """Until the part works again; the message of an unforeseen exception is not repeated."""
    health = Health()
    health.require()
    for _ in range(3):
        for reason in ("The disk is full.", "The database is locked."):
            health.failed("writing", StoreError(reason))
        health.failed("reading", ZeroDivisionError("73105857863"))
    with pytest.raises(StoreError, match="writing failed"):
        health.require()
    health.worked("writing")
    health.worked("writing")
    health.worked("reading")
    health.require()
    health.failed("writing", StoreError("The disk is full."))
    assert [record.getMessage() for record in caplog.records] == [
        "writing: The disk is full.",
        "writing: The database is locked.",
        "reading: failed with a ZeroDivisionError",
        "writing: works again",
        "reading: works again",
        "writing: The disk is full.",
    ]


def test_readiness_is_checked_once_however_many_ask(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flood of checks is no flood of writes; one that hangs is told as such, and stops nothing else."""
    monkeypatch.setattr(web_health, "_TIMEOUT", 0.2)
    calls: list[int] = []
    let = threading.Event()

    def hangs() -> None:
        calls.append(1)
        assert let.wait(30)

    with service(tmp_path / "shop.db", log_requests=False) as served:
        monkeypatch.setattr(served.learner_service, "ready", hangs)
        for _ in range(3):
            assert status(served.nobody) == (503, "store_unavailable")
        assert served.nobody.get("/livez").status_code == 200
        assert len(calls) == 1
        let.set()
        until(lambda: status(served.nobody) == (200, ""))


def test_gauges_show_what_waits(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open decisions, size, lags and stale learners appear, without a label."""
    monkeypatch.setattr(watching, "_QUERY_EVERY", 0.0)
    monkeypatch.setattr(watching, "_SHARE", 0)
    monkeypatch.setattr(watching, "_EVERY", 0.01)
    with service(tmp_path / "shop.db", log_requests=False) as served:

        def shown(name: str) -> float:
            found = re.search(rf"^discreet_{name} (\S+)$", served.reader.get("/metrics").text, re.MULTILINE)
            assert found is not None, name
            return float(found[1])

        decisions = served.ask(count=5)
        until(lambda: shown("pending_decisions") == 5)
        told = {"decision": decisions[0]["id"], "cost": 0.5}
        assert served.worker.post("/v1/learners/shop/tell", json=told).status_code == 200
        until(lambda: shown("pending_decisions") == 4)
        assert shown("database_bytes") > 10_000
        assert shown("queued_operations") == 0
        assert shown("stale_learners") == 0
        until(lambda: 0 < shown("applying_lag_seconds") < 60 and 0 < shown("expiry_lag_seconds") < 60)
        for hosted in served.learner_service.registry.active():
            hosted.stale = True
        until(lambda: shown("stale_learners") == 1)  # of those in use
        assert shown("commit_seconds_count") >= 2
