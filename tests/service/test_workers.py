"""Worker processes: one that dies is replaced at once, and none outlives its parent."""

import os
import pathlib
import signal
import socket
import time
from collections.abc import Callable

import pytest

from discreet import Client
from running_service import RunningService

pytestmark = pytest.mark.process


def until(holds: Callable[[], object], seconds: float = 40) -> None:
    """Wait for something that must happen soon; what it replaces took a minute, or never came."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def workers(service: RunningService) -> list[int]:
    """The processes that a server has started, but for the one that Python itself starts."""
    found = []
    for children in pathlib.Path(f"/proc/{service.pid}/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"spawn_main" in line:
                found.append(pid)
    return found


def test_workers_that_die_while_they_start_are_replaced(postgres: str, tmp_path: pathlib.Path) -> None:
    """All of them at once, before they have answered anything: others serve soon, and the log says so."""
    service = RunningService(tmp_path, postgres, workers=2)
    service.start(wait=False)
    try:
        until(lambda: len(workers(service)) == 2, 120)
        first = workers(service)
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        service.wait(40)
        until(lambda: len(set(workers(service)) - set(first)) == 2)
        with Client(service.url, service.key) as client:
            assert client.learners() == []
        assert (tmp_path / "log").read_text().count("ended with code -9: starting another") == 2
    finally:
        service.stop()


def test_workers_end_with_their_parent(postgres: str, tmp_path: pathlib.Path) -> None:
    """However it ended: they leave the port to the next server, and finish what runs."""
    service = RunningService(tmp_path, postgres, workers=2)
    service.start()
    held = workers(service)
    with Client(service.url, service.key) as client:
        client.create_learner("till", "bandit", 2, epsilon=1.0, cost_range=(0, 1))
    os.kill(service.pid, signal.SIGKILL)
    service._reap()
    until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in held))
    with socket.socket() as next_one:
        next_one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # not if it is held
        next_one.bind(("127.0.0.1", service.port))
        next_one.listen()
