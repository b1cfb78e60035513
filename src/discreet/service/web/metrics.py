"""Metrics for Prometheus. No label depends on a value or a person; learners appear by name.

Each app has its own registry. If several processes serve one address, PROMETHEUS_MULTIPROC_DIR names the
directory through which they add up.
"""

from __future__ import annotations

import functools
import os
import pathlib
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

#: The variable that prometheus_client itself reads.
SHARED = "PROMETHEUS_MULTIPROC_DIR"
#: Name without "discreet_" -> what it says, and how the numbers of several processes are put together.
GAUGES: dict[str, tuple[str, Literal["livesum", "livemax"]]] = {
    "queued_operations": ("Asks and tells that wait for a transaction.", "livesum"),
    "applying_lag_seconds": ("Time since all queued feedback was applied.", "livemax"),
    "expiry_lag_seconds": ("Time since all decisions past their deadline were closed.", "livemax"),
    "pending_decisions": ("Open decisions of active learners.", "livemax"),
    "stale_learners": ("Active learners that must not continue: an old backup, or damaged.", "livemax"),
    "database_bytes": ("Size of the database.", "livemax"),
}
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


def forget_dead_processes() -> None:
    """Let the gauges of processes that are gone no longer count; does nothing unless processes add up."""
    for file in pathlib.Path(os.environ.get(SHARED) or os.devnull).glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            mark_process_dead(pid)  # type: ignore[no-untyped-call] # it has no types


class Metrics:
    """The metrics of an app."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        mine: Any = self._registry
        if os.environ.get(SHARED):
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call] # it has no types
            mine = None
        self._requests = Counter(
            "discreet_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=mine,
        )
        self._seconds = Histogram(
            "discreet_request_seconds",
            "Time until a request was answered.",
            ("route",),
            buckets=_SECONDS,
            registry=mine,
        )
        self._running = Gauge(
            "discreet_requests_running",
            "Requests being answered.",
            registry=mine,
            multiprocess_mode="livesum",
        )
        self._decisions = Counter("discreet_decisions", "Decisions given.", ("learner",), registry=mine)
        self._feedback = Counter(
            "discreet_feedback", "Pieces of feedback answered.", ("learner", "code"), registry=mine
        )
        self._commits = Histogram(
            "discreet_commit_seconds",
            "Time that a transaction of asks and tells took.",
            buckets=_SECONDS,
            registry=mine,
        )
        self._gauges = {
            name: Gauge(f"discreet_{name}", about, registry=mine, multiprocess_mode=mode)
            for name, (about, mode) in GAUGES.items()
        }
        # Cached: labels() takes longer than counting.
        self._request = functools.lru_cache(4096)(self._requests.labels)
        self._time = functools.lru_cache(256)(self._seconds.labels)
        self._asked = functools.lru_cache(4096)(self._decisions.labels)
        self._told = functools.lru_cache(4096)(self._feedback.labels)

    def started(self) -> None:
        """A request has started."""
        self._running.inc()

    def ended(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """A request was answered, in a time that may be None if it is private."""
        self._running.dec()
        self._request(method, route, str(status)).inc()
        if seconds is not None:
            self._time(route).observe(seconds)

    def asked(self, learner: str, count: int) -> None:
        """Decisions were given."""
        self._asked(learner).inc(count)

    def told(self, learner: str, code: str, count: int = 1) -> None:
        """Feedback was answered."""
        self._told(learner, code).inc(count)

    def committed(self, seconds: float) -> None:
        """A transaction was committed."""
        self._commits.observe(seconds)

    def show(self, name: str, value: float) -> None:
        """Set one of `GAUGES`."""
        self._gauges[name].set(value)

    def page(self) -> bytes:
        """All metrics in the format of Prometheus."""
        return generate_latest(self._registry)
