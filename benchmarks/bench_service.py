"""Durable asks and tells over HTTP, with request ids: a real server and 32 clients on the same machine."""

import contextlib
import importlib
import json
import math
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from benchmarks.measure import Row

_CLIENTS, _SECONDS, _REPEATS = 32, 3.5, 3
_SETTINGS = {"feedback": "bandit", "items": 10, "epsilon": 1.0, "cost_range": [0, 1]}
#: Bits that are learned from one by one; and the default, whose phases close after two seconds.
_LEARNERS = (
    _SETTINGS | {"name": "shop", "mode": "local", "method": "worst-case"},
    _SETTINGS | {"name": "till", "deadline_seconds": 2},
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(store: str, folder: str, workers: int) -> Iterator[tuple[int, str]]:
    """A server in processes of its own: its port, and the admin key of its new store."""
    port = free_port()
    options = ["--store", store, "--port", str(port), "--workers", str(workers)]
    options += ["--key-file", f"{folder}/{workers}.key", "--rate", "1000000"]
    command = [sys.executable, "-m", "discreet", "serve", *options]
    with open(f"{folder}/log", "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        key = ""
        while not key:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(pathlib.Path(f"{folder}/log").read_text())
            found = re.search(r"discreet_\w+", line)
            key = found[0] if found else ""
        wait_for(port)
        for learner in _LEARNERS:
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/learners",
                json.dumps(learner).encode(),
                {"authorization": f"Bearer {key}", "content-type": "application/json"},
            )
            urllib.request.urlopen(request, timeout=60).close()
        yield port, key
    finally:
        process.terminate()
        process.wait(60)


def wait_for(port: int) -> None:
    for _ in range(1200):
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/livez", timeout=10).close()
            return
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


def measured(port: int, key: str, learner: str) -> tuple[float, float]:
    """The median of repeats: seconds for a pair, and the 99th of 100 times of a request."""

    def once() -> dict[str, float]:
        arguments = [str(port), key, learner, str(_CLIENTS), str(_SECONDS)]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.service_load", *arguments],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        found: dict[str, float] = json.loads(done.stdout)
        return found

    once()
    found = [once() for _ in range(_REPEATS)]
    pairs = statistics.median(entry["pairs_per_second"] for entry in found)
    return 1 / pairs, statistics.median(entry["p99"] for entry in found)


def on(store: str, folder: str, name: str, workers: int, least: float) -> Iterator[Row]:
    with serving(store, folder, workers) as (port, key):
        pair, slowest = measured(port, key, "shop")
        central, _ = measured(port, key, "till")
    what = f"HTTP, {name}, {_CLIENTS} clients"
    yield Row(f"durable ask + tell, {what}", pair, limit=1 / least, note=f"{1 / pair:.0f} pairs/s")
    yield Row(f"99th of 100 requests, {what}", slowest, limit=0.05)
    yield Row(f"the same of a central learner, {what}", central, note=f"{1 / central:.0f} pairs/s")


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from on(f"{folder}/shop.db", folder, "SQLite, 1 process", 1, 1500)
    with tempfile.TemporaryDirectory() as folder, _postgres() as address:
        name, workers, least = "PostgreSQL, 2 processes", 2, 1000.0
        if address is not None:
            yield from on(address, folder, name, workers, least)
        else:
            yield Row(
                f"durable ask + tell, HTTP, {name}", math.nan, limit=1 / least, note="not measured: no server"
            )


@contextlib.contextmanager
def _postgres() -> Iterator[str | None]:
    """The address of an empty database on a server of its own, where there can be one."""
    import pytest

    sys.path.append("tests")
    servers = importlib.import_module("postgres_server")  # the one that tests use
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(servers.running())
        except pytest.skip.Exception as reason:
            print(reason)
            yield None
            return
        yield server.new_database()
