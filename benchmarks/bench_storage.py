"""Durable decisions: asks and tells through the service on an SQLite file, beside Optuna on one."""

import pathlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measure import Row
from discreet.service.learner_service import LearnerService
from discreet.service.records import Feedback

#: Bits that are learned from one by one.
LOCAL: dict[str, Any] = {"mode": "local", "method": "worst-case"}
_THREADS, _PAIRS, _BULK, _TRIALS = 32, 60, 1000, 25


def new_service(folder: str) -> LearnerService:
    service = LearnerService.open(pathlib.Path(folder) / "bench.db")
    service.create("shop", "bandit", 10, {"epsilon": 1.0, "cost_range": [0, 1], **LOCAL})
    return service


def in_threads(work: Callable[[], object]) -> float:
    """Seconds until all threads have done their work."""
    threads = [threading.Thread(target=work) for _ in range(_THREADS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def seconds_per_pair(service: LearnerService) -> float:
    """One durable ask and one durable tell, with as many threads as a busy server has."""

    def work() -> None:
        for _ in range(_PAIRS):
            service.tell("shop", [Feedback(service.ask("shop")[0].id, cost=0.25)])

    work()
    return statistics.median(in_threads(work) / (_THREADS * _PAIRS) for _ in range(5))


def seconds_per_feedback(service: LearnerService) -> float:
    """A thousand costs told at once, after as many decisions."""

    def once() -> float:
        told = [Feedback(choice.id, cost=0.25) for choice in service.ask("shop", _BULK)]
        start = time.perf_counter()
        service.tell("shop", told)
        return time.perf_counter() - start

    once()
    return statistics.median(once() for _ in range(9)) / _BULK


def optuna_seconds_per_pair(folder: str) -> float:
    """Optuna's ask and tell on an SQLite file, with one category per item."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/optuna.db")
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=0))

    def once() -> float:
        start = time.perf_counter()
        trial = study.ask()
        for item in range(10):
            trial.suggest_categorical(f"x{item}", [False, True])
        study.tell(trial, 0.25)
        return time.perf_counter() - start

    once()
    seconds = statistics.median(once() for _ in range(_TRIALS))
    storage.engine.dispose()
    return seconds


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        with new_service(folder) as service:
            pair = seconds_per_pair(service)
            bulk = seconds_per_feedback(service)
        optuna = optuna_seconds_per_pair(folder)
        yield Row(
            f"durable ask + tell, SQLite, {_THREADS} threads",
            pair,
            limit=1 / 3000,
            peer="optuna, SQLite",
            ratio=optuna / pair,
            least_ratio=20,
        )
        yield Row("durable tell of 1,000, SQLite, per feedback", bulk, limit=1e-5)
