"""Servers that are killed at work: what was acknowledged is there, once, and nothing else is."""

import os
import pathlib
import random
import signal
import time

import pytest
from drivers import Drivers, check_books

from discreet.client import Client, retrying
from discreet.service.learner_service import LearnerService
from discreet.service.records import Code, Feedback
from running_service import Nursery, RunningService

pytestmark = pytest.mark.process

_KILLS = 20
#: Acknowledged before a server at work is killed.
_EACH = 4


def killed_again_and_again(service: RunningService, seed: int) -> Drivers:
    """Kill a server twenty times: mostly at work, sometimes while it starts."""
    chance = random.Random(seed)
    with service, Drivers(service, seed=seed) as drivers:
        for _ in range(_KILLS):
            if chance.random() < 0.25:  # it may not be ready by then
                time.sleep(chance.uniform(0.2, 1.5))
            else:
                service.wait()
                drivers.wait(_EACH)
                time.sleep(chance.uniform(0, 0.4))
            service.kill()
            service.start(wait=False)
        service.wait()
        drivers.wait(_EACH)
    return drivers


def goes_on(learner_service: LearnerService) -> None:
    choice = learner_service.ask("shop")[0]
    assert learner_service.tell("shop", [Feedback(choice.id, cost=0.3)])[0].code is Code.ACCEPTED


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> str:
    return str(tmp_path / "service.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


def test_nothing_acknowledged_is_lost_or_counted_twice(
    store: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed 20 times under load: the state is a replay of what the clients sent."""
    monkeypatch.setattr(retrying, "_LONGEST", 0.2)  # clients are there as soon as the server is
    with Nursery(tmp_path) as nursery:
        drivers = killed_again_and_again(RunningService(tmp_path, store, nursery=nursery), seed=8)
    with LearnerService.open(store, key_file=tmp_path / "service.key", maintenance=False) as learner_service:
        counted = check_books(learner_service, drivers)
        assert counted > 2 * _KILLS
        assert drivers.given_up > 0
        goes_on(learner_service)
        assert learner_service.learner("shop").counts.told == counted + 1


def workers_of(process: int) -> list[int]:
    """The server processes of one that watches over them."""
    found = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [
        int(each) for each in found if b"spawn_main" in pathlib.Path(f"/proc/{each}/cmdline").read_bytes()
    ]


def test_four_processes_serve_one_learner(postgres: str, tmp_path: pathlib.Path) -> None:
    """One is killed on the way and replaced; what it had acknowledged is counted, once."""
    with RunningService(tmp_path, postgres, 4) as service:
        watcher = service.pid
        with Drivers(service, threads=8, seed=4) as drivers:
            drivers.wait(100)
            while len(workers := workers_of(watcher)) < 4:
                time.sleep(0.05)
            victim = workers[1]
            os.kill(victim, signal.SIGKILL)
            before = len(drivers.acknowledged)
            drivers.wait(150)
            while len(set(workers_of(watcher)) - {victim}) < 4:
                time.sleep(0.05)
        with Client(service.url, service.key) as client:
            assert client.learner("plan").status == "active"
    with LearnerService.open(
        postgres, key_file=tmp_path / "service.key", maintenance=False
    ) as learner_service:
        assert check_books(learner_service, drivers) >= before + 150
        goes_on(learner_service)


def test_a_stalled_process_is_not_replaced(postgres: str, tmp_path: pathlib.Path) -> None:
    """As all do on a machine with too much to do: those killed for it would never get to work."""
    with RunningService(tmp_path, postgres, 2) as service:
        while len(workers := workers_of(service.pid)) < 2:
            time.sleep(0.05)
        os.kill(workers[0], signal.SIGSTOP)
        time.sleep(7)
        os.kill(workers[0], signal.SIGCONT)
        time.sleep(1)
        assert workers_of(service.pid) == workers
