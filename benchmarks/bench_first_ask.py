"""The first ask and tell: once with nothing compiled yet, as after an upgrade, then with what that left.

From the start of Python to the end of the first tell; of a server, from its start to its end, with one ask
and one tell. In seconds of a processor: nearly all is done by one thread, so an idle machine takes as long.
"""

import functools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.bench_service import serving
from benchmarks.measure import Row

_REPEATS = 5
_COST, _FUNCTION = "0.5", "discreet.set_functions.Modular([0.1] * {n})"
_LEARNERS = {
    "bandit": ("BanditLearner({n}", 8, _COST),
    "bandit, local": ("BanditLearner({n}, mode='local'", 8, _COST),
    "bandit, worst case": ("BanditLearner({n}, method='worst-case'", 8, _COST),
    "full information, n=8": ("FullInformationLearner({n}", 8, _FUNCTION),
    "full information, n=30": ("FullInformationLearner({n}", 30, _FUNCTION),
}


def in_python(made: str, n: int, told: str) -> None:
    """A process that asks and tells once."""
    learner = f"learner = discreet.{made}, epsilon=1.0, cost_range=(0, 3))"
    code = f"import discreet; {learner}; learner.tell(learner.ask(), {told})".format(n=n)
    subprocess.run([sys.executable, "-c", code], check=True)


def over_http() -> None:
    """A server with a new store that is asked and told once; it warms up before it answers."""
    with tempfile.TemporaryDirectory() as folder, serving(f"{folder}/a.db", folder, 1) as (port, key):
        head = {"authorization": f"Bearer {key}", "content-type": "application/json"}

        def post(action: str, data: object) -> Any:
            url = f"http://127.0.0.1:{port}/v1/learners/till/{action}"
            request = urllib.request.Request(url, json.dumps(data).encode(), head)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        asked = post("ask", {})["decisions"][0]["id"]
        post("tell", {"decision": asked, "cost": 0.25})


def seconds(work: Callable[[], None]) -> float:
    """The processor time of all processes that end meanwhile."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold_and_warm(name: str, work: Callable[[], None], limits: tuple[float | None, ...]) -> Iterator[Row]:
    """With an empty folder for compiled code, and with what is in it then."""
    before = {name: value for name, value in os.environ.items() if name == "NUMBA_CACHE_DIR"}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            cold = seconds(work)
            warm = statistics.median(seconds(work) for _ in range(_REPEATS))
        finally:
            del os.environ["NUMBA_CACHE_DIR"]
            os.environ.update(before)
    yield Row(f"cold: {name}", cold, limit=limits[0])
    yield Row(f"warm: {name}", warm, limit=limits[1])


def rows() -> Iterator[Row]:
    for name, learner in _LEARNERS.items():
        yield from cold_and_warm(name, functools.partial(in_python, *learner), (5.0, 1.0))
    yield from cold_and_warm("service", over_http, (None, None))
