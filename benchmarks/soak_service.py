"""Long runs of the service: ``python -m benchmarks.soak_service`` prints what it finds, in a few minutes.

* 100,000 rounds with 8 client processes end with the learner's set (items whose level is above 1/2) at the
  planted optimum.
* The server's memory stays flat over a million rounds.
* The database stops growing once closed decisions are forgotten as fast as new ones come.
"""

import argparse
import contextlib
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from discreet.client import Client

MEGABYTE = 1 << 20


class Serving(Protocol):
    """A running server: where, an admin's key, and the number of its process."""

    url: str
    key: str

    @property
    def pid(self) -> int: ...


@dataclass(frozen=True)
class Soaked:
    """What became of a run.

    Attributes:
        chosen: Items whose level is above 1/2.
        optimum: The planted set.
        rounds: Learnt from.
        pairs_per_second: Rounds over wall time.
    """

    chosen: frozenset[object]
    optimum: frozenset[object]
    rounds: int
    pairs_per_second: float


def soak(
    server: Serving, *, rounds: int, clients: int, items: int = 6, epsilon: float = 1.0, batch: int = 10
) -> Soaked:
    """Drive a new learner with client processes, which tell some things twice."""
    with Client(server.url, server.key) as admin:
        admin.create_learner("soak", "bandit", items, epsilon=epsilon, cost_range=(0, 1))
        began = time.perf_counter()
        each = rounds // clients
        processes = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "benchmarks.soak_client"),
                    *(server.url, "soak", str(each), str(batch), str(seed)),
                ],
                env=os.environ
                | {"DISCREET_CLIENT_KEY": server.key, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            for seed in range(clients)
        ]
        codes = [process.wait(1800) for process in processes]
        if any(codes):
            raise RuntimeError("a client failed")
        taken = time.perf_counter() - began
        found = admin.learner("soak")
    optimum = frozenset(item for item in found.items if int(str(item)) % 2 == 0)
    return Soaked(found.chosen, optimum, found.rounds, found.rounds / taken)


def memory(server: Serving, *, rounds: int, step: int) -> Iterator[float]:
    """Megabytes of the server, after each step of rounds that are asked and told a thousand at a time."""
    with Client(server.url, server.key) as client:
        client.create_learner("memory", "bandit", 10, epsilon=1.0, cost_range=(0, 1))
        for done in range(1000, rounds + 1, 1000):
            decisions = client.ask("memory", 1000)
            assert set(client.tell_many("memory", [(each, 0.25) for each in decisions])) == {"accepted"}
            if done % step == 0:
                yield resident(server.pid)


def resident(process: int) -> float:
    """Megabytes of memory that a process holds, its share of files that are mapped left out."""
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no such process")


def growth(folder: str, *, cycles: int, rounds: int) -> Iterator[float]:
    """Megabytes of the database and its journal after each cycle of rounds, with three weeks between cycles.

    A decision is forgotten seven days after its deadline, which is seven days as well.
    """
    from discreet.service.desk import Desk
    from discreet.service.records import Feedback

    now = [1_700_000_000_000]
    path = pathlib.Path(folder) / "growth.db"
    with contextlib.closing(Desk.open(path, clock=lambda: now[0], housekeeping=False)) as desk:
        desk.create("growth", "bandit", 10, {"epsilon": 1.0, "cost_range": [0, 1]})
        for _ in range(cycles):
            for k in range(rounds // 1000):
                choices = desk.ask("growth", 1000, request_id=f"{now[0]}-{k}")
                desk.tell("growth", [Feedback(each.id, cost=0.5) for each in choices])
            now[0] += 21 * 86_400_000
            forgotten = desk.housekeeping.compact()
            assert forgotten >= rounds
            yield sum(each.stat().st_size for each in path.parent.glob("growth.db*")) / MEGABYTE


def main() -> int:
    """Print all of it; exit code 1 where something is not as it should be."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.path.append("tests")
        with importlib.import_module("running_service").RunningService(pathlib.Path(folder)) as server:
            found = soak(server, rounds=100_000, clients=8)
            print(f"soak: {found}", flush=True)
            sizes = []
            for number, size in enumerate(memory(server, rounds=1_000_000, step=100_000), 1):
                sizes.append(size)
                print(f"memory after {number} x 100,000 rounds: {size:.1f} MB", flush=True)
        database = []
        for number, size in enumerate(growth(folder, cycles=8, rounds=50_000), 1):
            database.append(size)
            print(f"database after {number} x 50,000 rounds and compaction: {size:.1f} MB", flush=True)
    learnt = found.chosen == found.optimum
    flat = max(sizes[5:]) < 1.05 * sizes[4]  # by then the cache of the database (64 MiB) is full
    bounded = max(database[4:]) < 1.05 * database[3]
    print(f"planted optimum: {learnt}; memory flat: {flat}; database bounded: {bounded}")
    return 0 if learnt and flat and bounded else 1


if __name__ == "__main__":
    sys.exit(main())
