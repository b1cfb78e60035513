"""Many learners, spread over processes of the service on one PostgreSQL server, and a thousand on SQLite.

Each process has as many clients, which ask only its learners. Clients, database and server processes share
the machine's cores, so growth is shown by the processor time of server processes for a decision (one ask and
one tell): it must not depend on how many processes there are. Medians of three runs.
"""

import contextlib
import importlib
import math
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator

from benchmarks.fleet import Driven, Fleet, serving
from benchmarks.measure import Row
from discreet.service.learner_service import LearnerService
from discreet.service.records import Feedback

_LEARNERS, _FEW, _SECONDS, _REPEATS = 1000, 10, 2.0, 3
#: What is asked at once -> connections, and how much more processor time many learners may take.
_BATCHES = {1000: (4, 1.25), 1: (32, 2.0)}
_LOCAL = {"epsilon": 1.0, "cost_range": [0, 1], "mode": "local", "method": "worst-case"}


def learners(service: LearnerService) -> list[str]:
    """The names of many new learners."""
    names = [f"shop-{k:04}" for k in range(_LEARNERS)]
    for name in names:
        service.create(name, "bandit", 10, _LOCAL)
    return names


def on_postgres() -> Iterator[Row]:
    import pytest

    sys.path.append("tests")
    servers = importlib.import_module("postgres_server")  # the one that tests use
    with contextlib.ExitStack() as stack:
        try:
            database = stack.enter_context(servers.running())
        except pytest.skip.Exception as reason:
            yield Row("a fleet on PostgreSQL", math.nan, limit=0, note=f"not measured: {reason}")
            return
        folder, address = stack.enter_context(tempfile.TemporaryDirectory()), database.new_database()
        with LearnerService.open(address, key_file=f"{folder}/key", maintenance=False) as service:
            names, (_, key) = learners(service), service.api_keys.create("admin")
        one = stack.enter_context(serving(address, folder))
        alone = Fleet(address, database.process.pid, [one], key)
        found = {(1, count): _driven(alone, names, count) for count in _BATCHES}
        two = Fleet(address, database.process.pid, [one, stack.enter_context(serving(address, folder))], key)
        found |= {(2, count): _driven(two, names, count) for count in _BATCHES}
    for count, (_, growth) in _BATCHES.items():
        yield from _compared(found[1, count], found[2, count], count, growth)


def _driven(fleet: Fleet, names: list[str], count: int) -> dict[int, Driven]:
    """What a few learners take, and what many do: runs in turns."""
    clients, _ = _BATCHES[count]
    fleet.drive(names, clients=32, seconds=_SECONDS, count=1)  # so that most are in memory
    runs: dict[int, list[Driven]] = {_FEW: [], _LEARNERS: []}
    for _ in range(_REPEATS):
        for number, done in runs.items():
            done.append(fleet.drive(names[:number], clients=clients, seconds=_SECONDS, count=count))
    return {number: _median(done) for number, done in runs.items()}


def _median(runs: list[Driven]) -> Driven:
    return Driven(*(statistics.median(values) for values in zip(*runs, strict=True)))


def _compared(one: dict[int, Driven], two: dict[int, Driven], count: int, growth: float) -> Iterator[Row]:
    how = f"{count:,} at a time" if count > 1 else "one at a time"
    for processes, found in ((1, one), (2, two)):
        for number, done in found.items():
            name = f"{how}, processes: {processes}, learners: {number:,}"
            note = f"{1 / done.wall:.0f} decisions/s; PostgreSQL {1e6 * done.database:.0f} us"
            yield Row(f"server time for a decision, {name}", done.servers, note=note)
    for what, value, limit in (
        ("2 processes / 1", two[_LEARNERS].servers / one[_LEARNERS].servers, 1.25),
        (f"{_LEARNERS:,} learners / {_FEW}", one[_LEARNERS].servers / one[_FEW].servers, growth),
    ):
        yield Row(f"server time for a decision, {how}: {what}", value, limit=limit, unit="ratio")
    yield Row(f"until all is applied once traffic ends, {how}", two[_LEARNERS].behind, limit=30)


def on_sqlite() -> Iterator[Row]:
    """A million decisions in one process: each of a thousand learners is asked and told about a thousand."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fleet.db"
        with LearnerService.open(path) as service:
            names = learners(service)
            began = time.perf_counter()
            for name in names:
                service.tell(name, [Feedback(each.id, cost=0.25) for each in service.ask(name, 1000)])
            taken = (time.perf_counter() - began) / (1000 * _LEARNERS)
        size = path.stat().st_size / (1000 * _LEARNERS)
    name = f"in one process on SQLite, {_LEARNERS:,} learners, 1,000 at a time"
    yield Row(f"a decision {name}", taken, limit=1 / 16_667, note=f"{1 / taken:.0f} decisions/s")
    yield Row(f"the database, for a decision {name}", size, note=f"{size * 1e-3:.2f} GB in all", unit="bytes")


def rows() -> Iterator[Row]:
    yield from on_postgres()
    yield from on_sqlite()
