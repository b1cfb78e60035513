"""``discreet serve`` as a process of its own: started, asked, told, stopped by a signal, started again."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from http_helpers import BANDIT, FULL, MODULAR, client

from discreet.cli import main
from discreet.service.web.metrics import forget_dead_processes
from running_service import free_port, wait_until_healthy


@contextlib.contextmanager
def serving(
    store: object, *options: object, log: pathlib.Path
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server and its address, once it answers. Whatever happens it is gone afterwards."""
    port = free_port()
    with open(log, "a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", "--store", str(store), "--port", str(port)]
            + [str(option) for option in options],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(address, process, log)
        yield process, address
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def stopped(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
    """The exit code after a signal, and what was printed on standard output."""
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out


def first_key(text: str) -> str:
    found = re.findall(r"discreet_[0-9a-f]{16}_[0-9a-f]{64}", text)
    assert len(found) == 1
    return str(found[0])


def shown_key(process: subprocess.Popen[str]) -> str:
    """The key that the first start prints."""
    assert process.stdout is not None
    return first_key("".join(process.stdout.readline() for _ in range(3)))


def refused(*arguments: object) -> str:
    """A command that cannot work prints one line and exits with code 2."""
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.process
def test_a_server_goes_on_where_it_stopped(tmp_path: pathlib.Path) -> None:
    """Decisions and feedback survive; the admin key is printed once; a second process is refused."""
    store, log = tmp_path / "shop.db", tmp_path / "log"
    with serving(store, log=log) as (process, address):
        key = shown_key(process)
        with client(address, key) as admin:
            for learner in (BANDIT, FULL):
                assert admin.post("/v1/learners", json=learner).status_code == 201
            shop = admin.post("/v1/learners/shop/ask", json={"count": 3, "request_id": "r"}).json()[
                "decisions"
            ]
            plan = admin.post("/v1/learners/plan/ask").json()["decisions"]
            told = [{"decision": d["id"], "cost": 0.5} for d in shop[:2]]
            assert admin.post("/v1/learners/shop/tell", json=told).json() == {"codes": ["accepted"] * 2}
            told_plan = {"decision": plan[0]["id"], "function": MODULAR}
            assert admin.post("/v1/learners/plan/tell", json=told_plan).status_code == 200
            assert "Another process has the store" in refused("serve", "--store", store, "--port", 0)
            assert "Another process has the store" in refused("keys", "list", "--store", store)
        code, out = stopped(process)
        assert (code, out) == (0, "")
    with serving(store, log=log) as (process, address):
        with client(address, key) as admin:
            assert (
                admin.get("/v1/learners/shop").json()["counts"].items()
                >= {
                    "asked": 3,
                    "told": 2,
                    "expired": 0,
                    "pending": 1,
                }.items()
            )
            again = admin.post("/v1/learners/shop/ask", json={"count": 3, "request_id": "r"}).json()[
                "decisions"
            ]
            assert again == shop
            late = [{"decision": d["id"], "cost": 1} for d in shop]
            assert admin.post("/v1/learners/shop/tell", json=late).json() == {"codes": ["accepted"] * 3}
            assert admin.get("/v1/learners/shop").json()["rounds"] == 3
        code, out = stopped(process, signal.SIGINT)
        assert (code, out) == (0, "")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert key.rpartition("_")[2] not in log.read_text()
    assert {line["route"] for line in lines if line["event"] == "request"} >= {
        "/v1/learners",
        "/v1/learners/{name}/ask",
        "/v1/learners/{name}/tell",
    }


@pytest.mark.process
def test_running_requests_are_finished(tmp_path: pathlib.Path) -> None:
    """A signal in the midst of asks: each is answered, or the connection was never taken."""
    with serving(tmp_path / "shop.db", log=tmp_path / "log") as (process, address):
        key = shown_key(process)
        with client(address, key) as admin:
            admin.post("/v1/learners", json=BANDIT)
        answers: list[int] = []

        def work() -> None:
            with client(address, key) as worker, contextlib.suppress(httpx2.TransportError):
                while True:
                    answers.append(worker.post("/v1/learners/shop/ask").status_code)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(answers) < 40:
            time.sleep(0.01)
        code, _ = stopped(process)
        for thread in threads:
            thread.join()
    assert code == 0
    assert set(answers) == {200}
    with (
        serving(tmp_path / "shop.db", log=tmp_path / "log") as (process, address),
        client(address, key) as admin,
    ):
        assert admin.get("/v1/learners/shop").json()["counts"]["asked"] >= len(answers)
        stopped(process)


@pytest.mark.process
def test_several_processes_serve_postgres(postgres: str, tmp_path: pathlib.Path) -> None:
    """One learner, two processes; metrics add up over both; keys and policies are known to each."""
    policy = "one-by-one=examples.gallery.own_policy:OneByOne"
    options = ("--workers", 2, "--key-file", tmp_path / "key", "--policy", policy)
    with serving(postgres, *options, log=tmp_path / "log") as (process, address):
        key = shown_key(process)
        with client(address, key) as admin:
            assert admin.post("/v1/learners", json=BANDIT).status_code == 201
            own = {name: BANDIT[name] for name in BANDIT if name != "method"} | {"policy": "one-by-one"}
            assert admin.post("/v1/learners", json=own | {"name": "own"}).status_code == 201
        told = 0
        for _ in range(12):  # a new connection each time, so that both processes get some
            with client(address, key) as worker:
                decisions = worker.post("/v1/learners/shop/ask", json={"count": 2}).json()["decisions"]
                feedback = [{"decision": d["id"], "cost": 0.5} for d in decisions]
                assert worker.post("/v1/learners/shop/tell", json=feedback).json() == {
                    "codes": ["accepted"] * 2
                }
                told += 2
                assert worker.post("/v1/learners/own/ask").status_code == 200
        with client(address, key) as admin:
            shown: dict[str, Any] = {}
            for _ in range(100):
                shown = admin.get("/v1/learners/shop").json()
                if shown["rounds"] == told:
                    break
                time.sleep(0.05)
            assert (shown["rounds"], shown["counts"]["told"]) == (told, told)
            assert f'discreet_decisions_total{{learner="shop"}} {told}.0' in admin.get("/metrics").text
        code, _ = stopped(process)
        assert code == 0
    assert (tmp_path / "log").read_text().count("Uvicorn running on") == 1


@pytest.mark.usefixtures("same_logging_afterwards")
@pytest.mark.parametrize(
    ("options", "invalid_argument"),
    [
        (("--workers", 2), "An SQLite store serves one process"),
        (("--workers", 0), "at least one worker"),
        (("--log-level", "trace"), "log level"),
        (("--port", 99999), "65535"),
        (("--rate", 0), "one request per second"),
        (("--store", "mysql://x"), "A store is a path"),
        (("--port", "x"), "--help"),
    ],
)
def test_options_that_cannot_work(
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[Any, ...],
    invalid_argument: str,
) -> None:
    """Are refused in one line, before a store is made."""
    store = tmp_path / "shop.db"
    with pytest.raises(SystemExit) as end:
        main(["serve", "--store", str(store), *map(str, options)])
    out, err = capsys.readouterr()
    assert (end.value.code, out, err.count("\n")) == (2, "", 1)
    assert invalid_argument in err
    assert not store.exists()


def test_gauges_of_dead_processes_no_longer_count(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that starts looks for those that are gone, such as the one that it replaces."""
    with subprocess.Popen(["true"]) as gone:
        pass
    files = [tmp_path / f"gauge_livesum_{pid}.db" for pid in (gone.pid, os.getpid())]
    for file in files:
        file.touch()
    forget_dead_processes()
    assert all(file.exists() for file in files)  # processes do not add up here
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    forget_dead_processes()
    assert [file.exists() for file in files] == [False, True]


@pytest.mark.process
def test_the_first_key_as_data(tmp_path: pathlib.Path) -> None:
    """A line of JSON, for scripts; it opens the service."""
    with serving(tmp_path / "shop.db", "--json", log=tmp_path / "log") as (process, address):
        assert process.stdout is not None
        key = json.loads(process.stdout.readline())["admin_key"]
        with client(address, key) as admin:
            assert admin.get("/v1/learners").status_code == 200


@pytest.mark.process
def test_learners_with_a_custom_policy(tmp_path: pathlib.Path) -> None:
    """Created by the name that the server was started with, used like any other; others are refused."""
    policy = "one-by-one=examples.gallery.own_policy:OneByOne"
    wanted = {name: BANDIT[name] for name in BANDIT if name != "method"} | {"policy": "one-by-one"}
    with serving(tmp_path / "shop.db", "--policy", policy, log=tmp_path / "log") as (process, address):
        with client(address, shown_key(process)) as admin:
            made = admin.post("/v1/learners", json=wanted)
            assert (made.status_code, made.json()["policy"], made.json()["feedback"]) == (
                201,
                "one-by-one",
                "bandit",
            )
            decisions = admin.post("/v1/learners/shop/ask", json={"count": 40}).json()["decisions"]
            told = [{"decision": each["id"], "cost": 0.25} for each in decisions]
            assert admin.post("/v1/learners/shop/tell", json=told).json() == {"codes": ["accepted"] * 40}
            assert admin.post("/v1/learners/shop/restart").json()["epoch"] == 2
            for other in (wanted | {"name": "new", "policy": "unknown"}, FULL | {"policy": "one-by-one"}):
                assert admin.post("/v1/learners", json=other).status_code == 400
        assert stopped(process)[0] == 0


@pytest.mark.slow
@pytest.mark.process
def test_a_first_start_says_that_it_compiles(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a second one, which finds what was compiled, need not."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    for run, line in (("first", "compiling, once for each version"), ("second", "Uvicorn running on")):
        log = tmp_path / f"{run}.log"
        with serving(tmp_path / "shop.db", log=log) as (process, _):
            stopped(process)
        assert line in log.read_text()
