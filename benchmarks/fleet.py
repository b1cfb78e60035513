"""A simulated fleet: processes of the service on one PostgreSQL server, each with clients of its own."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import psycopg

from benchmarks.bench_service import free_port, wait_for

#: Clock ticks in a second of processor time.
_TICKS = os.sysconf("SC_CLK_TCK")


class Driven(NamedTuple):
    """What a run took, in seconds for a decision that was asked for and told.

    Attributes:
        wall: On the clock, for all processes together.
        servers: Processor time of the server processes.
        database: The same of PostgreSQL.
        behind: Not for a decision: after the run, until all feedback was applied.
    """

    wall: float
    servers: float
    database: float
    behind: float


@contextlib.contextmanager
def serving(address: str, folder: str) -> Iterator[tuple[int, int]]:
    """A server on a store that has keys already: its port and its process."""
    port = free_port()
    options = ["--store", address, "--port", str(port), "--key-file", f"{folder}/key", "--rate", "1000000"]
    with open(f"{folder}/log", "a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", *options], stdout=log, stderr=log
        )
    try:
        wait_for(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)


class Fleet:
    """Processes that serve the same learners.

    Args:
        address: Of the database.
        database: The number of PostgreSQL's first process.
        servers: Port and process number of each.
        key: An admin's.
    """

    def __init__(self, address: str, database: int, servers: Sequence[tuple[int, int]], key: str) -> None:
        self._address, self._database, self._servers, self._key = address, database, servers, key

    def drive(self, learners: Sequence[str], *, clients: int, seconds: float, count: int) -> Driven:
        """Ask and tell for so long. Learners are spread over processes, whose clients ask no others.

        Args:
            learners: Their names.
            clients: How many connections to each process: more processes are for more clients.
            seconds: How long.
            count: Decisions in one ask.
        """
        numbers, processes = [number for _, number in self._servers], len(self._servers)
        before = sum(map(_ticks, numbers)), _ticks_of_all(self._database)
        loads = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "benchmarks.service_load", str(port), self._key),
                    *(",".join(learners[p::processes]), str(clients), str(seconds), str(count)),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for p, (port, _) in enumerate(self._servers)
        ]
        found = [json.loads(load.communicate(timeout=300)[0]) for load in loads]
        after = sum(map(_ticks, numbers)), _ticks_of_all(self._database)
        ended = time.perf_counter()
        self._wait_until_applied()
        pairs = sum(each["pairs"] for each in found)
        return Driven(
            1 / sum(each["pairs_per_second"] for each in found),
            (after[0] - before[0]) / _TICKS / pairs,
            (after[1] - before[1]) / _TICKS / pairs,
            time.perf_counter() - ended,
        )

    def _wait_until_applied(self) -> None:
        with psycopg.connect(self._address, autocommit=True) as connection:
            while connection.execute("SELECT exists(SELECT FROM feedback)").fetchone() != (False,):
                time.sleep(0.05)


def _ticks(process: int) -> int:
    """Processor time of a process, and of its children that have ended."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15]))


def _ticks_of_all(first: int) -> int:
    """The same of a process and its children."""
    children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
    total = _ticks(first)
    for child in children:
        with contextlib.suppress(FileNotFoundError):
            total += _ticks(int(child))
    return total
