"""Long runs of the service, in some minutes: 100,000 rounds by 8 client processes, a million rounds in bulk.

The learner must end with its set (items whose level is above 1/2) at the planted optimum, the server's memory
must stay flat, and the database must stop growing once closed decisions are forgotten as fast as others come.
"""

import contextlib
import importlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.measure import Row
from discreet.client import Client

MEGABYTE = 1 << 20
#: Bits that are learned from one by one.
LOCAL: dict[str, Any] = {"mode": "local", "method": "worst-case"}


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
        admin.create_learner("soak", "bandit", items, epsilon=epsilon, cost_range=(0, 1), **LOCAL)
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
    chosen = frozenset(item for item, level in zip(found.items, found.point, strict=True) if level > 0.5)
    return Soaked(chosen, optimum, found.rounds, found.rounds / taken)


@dataclass
class Bulk:
    """Where asks and tells of a thousand spent their time; in seconds, of all rounds so far."""

    rounds: int = 0
    asking: float = 0.0
    telling: float = 0.0


def memory(server: Serving, *, rounds: int, step: int, bulk: Bulk) -> Iterator[float]:
    """Megabytes of the server, after each step of rounds that are asked and told a thousand at a time."""
    with Client(server.url, server.key) as client:
        client.create_learner("memory", "bandit", 10, epsilon=1.0, cost_range=(0, 1), **LOCAL)
        for done in range(1000, rounds + 1, 1000):
            began = time.perf_counter()
            decisions = client.ask("memory", 1000)
            asked = time.perf_counter()
            codes = client.tell_many("memory", [(each, 0.25) for each in decisions])
            bulk.rounds, bulk.asking = done, bulk.asking + asked - began
            bulk.telling += time.perf_counter() - asked
            assert set(codes) == {"accepted"}
            if done % step == 0:
                yield resident(server.pid)


def resident(process: int) -> float:
    """Megabytes of memory that a process holds, its share of files that are mapped left out."""
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no such process")


def growth(folder: str, *, cycles: int, rounds: int) -> Iterator[float]:
    """Megabytes of the database after each cycle of rounds, with three weeks between cycles.

    Its journal is left out: it is as long as the longest stretch between two checkpoints, so far.
    A decision is forgotten seven days after its deadline, which is seven days as well. Everybody is new in
    each cycle, and an epoch ends with it, so that its people are forgotten, too.
    """
    from discreet.service.learner_service import LearnerService
    from discreet.service.records import Feedback

    now = [1_700_000_000_000]
    path = pathlib.Path(folder) / "growth.db"
    with contextlib.closing(LearnerService.open(path, clock=lambda: now[0], maintenance=False)) as service:
        service.create("growth", "bandit", 10, {"epsilon": 1.0, "cost_range": [0, 1], **LOCAL})
        for _ in range(cycles):
            for k in range(rounds // 1000):
                choices = service.ask("growth", 1000, request_id=f"{now[0]}-{k}")
                service.tell("growth", [Feedback(each.id, cost=0.5, person=each.id) for each in choices])
            service.restart("growth")
            now[0] += 21 * 86_400_000
            forgotten = service.maintenance.compact()
            assert forgotten >= rounds
            with contextlib.closing(sqlite3.connect(path)) as database:
                pages, page = (
                    database.execute(f"PRAGMA page_{what}").fetchone()[0] for what in ("count", "size")
                )
            yield pages * page / MEGABYTE


def bytes_of_a_decision(folder: str, *, decisions: int) -> float:
    """How much an SQLite database grows by one decision that was told about."""
    from discreet.service.learner_service import LearnerService
    from discreet.service.records import Feedback

    path = pathlib.Path(folder) / "bytes.db"
    sizes: list[int] = []
    for _ in range(2):
        with contextlib.closing(LearnerService.open(path, maintenance=False)) as service:
            if not sizes:
                service.create("size", "bandit", 10, {"epsilon": 1.0, "cost_range": [0, 1], **LOCAL})
            for _ in range(decisions // 1000):
                choices = service.ask("size", 1000)
                service.tell("size", [Feedback(each.id, cost=0.5) for each in choices])
        sizes.append(path.stat().st_size)  # closed: nothing is left in the journal
    return (sizes[1] - sizes[0]) / decisions


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        sys.path.append("tests")
        with importlib.import_module("running_service").RunningService(pathlib.Path(folder)) as server:
            found = soak(server, rounds=100_000, clients=8)
            wrong = len(found.chosen ^ found.optimum)
            yield Row("items chosen wrongly after 100,000 rounds", wrong, limit=0, unit="items")
            note = f"{found.pairs_per_second:.0f} pairs/s"
            yield Row(
                "ask + tell over HTTP, 8 processes, 10 at a time", 1 / found.pairs_per_second, note=note
            )
            bulk = Bulk()
            sizes = list(memory(server, rounds=1_000_000, step=100_000, bulk=bulk))
        for what, seconds in (("ask", bulk.asking), ("tell", bulk.telling)):
            note = f"{bulk.rounds / seconds:.0f}/s"
            yield Row(f"{what} of 1,000 over HTTP, one client, each", seconds / bulk.rounds, note=note)
        # By then the cache of the database (64 MiB) is full.
        note = f"{sizes[4]:.0f} MB after half of them, {sizes[-1]:.0f} MB at the end"
        yield Row(
            "memory, most in the second half of 10^6 rounds / after the first",
            max(sizes[5:]) / sizes[4],
            limit=1.05,
            note=note,
            unit="ratio",
        )
        grown = list(growth(folder, cycles=8, rounds=50_000))
        yield Row(
            "database, 50,000 rounds and compaction a cycle: 5th to 8th / 4th",
            max(grown[4:]) / grown[3],
            limit=1.05,
            note=f"{grown[-1]:.1f} MB at the end",
            unit="ratio",
        )
        size = bytes_of_a_decision(folder, decisions=50_000)
        yield Row("one decision in the database, SQLite", size, unit="bytes")
