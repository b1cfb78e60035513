"""Worker processes that share a socket: one that ends is replaced, and none outlives its parent."""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from typing import Any

from prometheus_client.multiprocess import mark_process_dead

#: Seconds between two starts of one worker, so that one that cannot start does not take a whole processor.
_PAUSE = 1.0

log = logging.getLogger("discreet.service")
_spawn = multiprocessing.get_context("spawn")


def supervise(count: int, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run so many processes until SIGTERM or SIGINT.

    Args:
        count: How many.
        work: What each does; it ends in good order on SIGTERM.
        arguments: Its arguments.
    """
    ended, ends = multiprocessing.Pipe(duplex=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ends.send_bytes(b"end"))

    def start() -> SpawnProcess:
        process = _spawn.Process(target=_worker, args=(work, arguments))
        process.start()
        return process

    running = [start() for _ in range(count)]
    started = [time.monotonic()] * count
    while not ended.poll():
        multiprocessing.connection.wait([ended, *(each.sentinel for each in running)])
        for place, process in enumerate(running):
            soon = max(0.0, started[place] + _PAUSE - time.monotonic())
            if not process.is_alive() and not ended.poll(soon):
                mark_process_dead(process.pid)  # type: ignore[no-untyped-call] # its gauges no longer count
                log.error("the worker %d ended with code %s: starting another", process.pid, process.exitcode)
                running[place], started[place] = start(), time.monotonic()
    for process in running:
        process.terminate()
    for process in running:
        process.join()


def _worker(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    threading.Thread(target=_follow_parent, name="discreet-parent", daemon=True).start()
    work(*arguments)


def _follow_parent() -> None:
    """End with the parent, however it ends: a worker must not keep the port."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
