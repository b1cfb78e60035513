"""A simulated fleet: processes of the service on one PostgreSQL server, and clients that each know one process."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg

from benchmarks.bench_service import serving
from discreet.service.learner_service import LearnerService

#: Clock ticks in a second of processor time.
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Driven:
    """What a run took.

    Attributes:
        pairs: Decisions that were asked for and told.
        seconds: Until the last was told.
        servers: Processor seconds of the server processes meanwhile.
        database: The same of PostgreSQL.
        behind: Seconds after that until all feedback was applied.
    """

    pairs: int
    seconds: float
    servers: float
    database: float
    behind: float


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

    def drive(self, learners: Sequence[str], processes: int, clients: int, seconds: float, count: int) -> Driven:
        """Ask and tell for so long. Learners are spread over processes, whose clients ask no others.

        Args:
            learners: Their names.
            processes: How many processes get requests.
            clients: How many connections in total.
            seconds: How long.
            count: Decisions in one ask.
        """
        numbers = [number for _, number in self._servers]
        before = sum(map(_ticks, numbers)), _ticks_of_all(self._database)
        loads = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "benchmarks.service_load", str(port), self._key),
                    *(",".join(learners[p::processes]), str(clients // processes), str(seconds), str(count)),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            for p, (port, _) in enumerate(self._servers[:processes])
        ]
        found = [json.loads(load.communicate(timeout=300)[0]) for load in loads]
        after = sum(map(_ticks, numbers)), _ticks_of_all(self._database)
        ended = time.perf_counter()
        self._wait_until_applied()
        pairs = sum(each["pairs"] for each in found)
        return Driven(
            pairs,
            pairs / sum(each["pairs_per_second"] for each in found),
            (after[0] - before[0]) / _TICKS,
            (after[1] - before[1]) / _TICKS,
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
