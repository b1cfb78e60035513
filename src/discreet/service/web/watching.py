"""Gauges that are measured from time to time: by every process, since another may answer `/metrics`."""

from __future__ import annotations

import asyncio
import time

from discreet.service.learner_service import LearnerService
from discreet.service.maintenance import APPLYING, EXPIRING
from discreet.service.web.metrics import Metrics

#: Seconds between looks at what is in memory.
_EVERY = 1.0
#: Seconds between queries of the database: at least so many, and so many times what the last one took.
_QUERY_EVERY, _SHARE = 15.0, 100


async def watch(service: LearnerService, metrics: Metrics) -> None:
    """Keep the gauges up to date until cancelled."""
    again = 0.0
    while True:
        metrics.show("queued_operations", service.queued)
        metrics.show("applying_lag_seconds", service.health.seconds_since(APPLYING))
        metrics.show("expiry_lag_seconds", service.health.seconds_since(EXPIRING))
        started = time.monotonic()
        if started >= again:
            try:
                pending, size, stale = await asyncio.to_thread(service.backlog)
                metrics.show("pending_decisions", pending)
                metrics.show("database_bytes", size)
                metrics.show("stale_learners", stale)
                service.health.worked("measuring")
            except Exception as error:  # the database is not reachable: later
                service.health.failed("measuring", error)
            ended = time.monotonic()
            again = ended + max(_QUERY_EVERY, _SHARE * (ended - started))
        await asyncio.sleep(_EVERY)
