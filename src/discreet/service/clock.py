"""Times of the service: milliseconds since 1970, guarded against clocks that jump.

A machine whose clock jumps a month ahead must not close all open decisions. So the service goes by its own
time: the last one that was stored, plus what has passed since. What has passed is measured by the time since
the machine started, which nobody sets; after another machine, or a restart of this one, it cannot be. If the
clock disagrees, the service goes on by its own time, and closes no decisions until the clock comes back or
somebody confirms it (`discreet store set-clock`).
"""

from __future__ import annotations

import functools
import logging
import pathlib
import threading
import time
from collections.abc import Callable

from discreet.storage.store import Store

_MINUTE = 60_000
#: Milliseconds by which the clock may differ, and after a time that could not be measured.
_TOLERANCE, _UNMEASURED = 3_600_000, 86_400_000
#: The store's own fact: a time of the service, of which start of a machine, and the uptime then.
_FACT = "clock"

log = logging.getLogger("discreet.service")


def milliseconds() -> int:
    """The present time."""
    return time.time_ns() // 1_000_000


@functools.cache
def machine() -> str:
    """The start of this machine that `uptime` is measured from; empty if it is not known."""
    try:
        return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # not Linux
        return ""


def uptime() -> int:
    """Milliseconds since the machine was started, also of those it was suspended, which nobody sets."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


class GuardedClock:
    """Milliseconds since 1970, never further than plausible.

    Args:
        store: Holds the last time.
        wall: The clock of the machine.
        uptime: See there.
        machine: See there.

    Attributes:
        suspicious: Why the clock of the machine is not believed; empty if it is.
    """

    def __init__(
        self,
        store: Store,
        wall: Callable[[], int] = milliseconds,
        uptime: Callable[[], int] = uptime,
        machine: str = machine(),
    ) -> None:
        self._store, self._wall, self._uptime, self._machine = store, wall, uptime, machine
        self._lock = threading.Lock()
        self.suspicious = ""
        self._written_at = -_MINUTE
        with store.reading() as reading:
            self._fact = reading.meta(_FACT)
        #: A time, the uptime then, and by how much the clock may differ from what follows.
        self._base = (wall(), uptime(), _TOLERANCE)
        if self._fact is not None:
            stored, start, then = self._fact.split(" ")
            if start == machine != "" and int(then) <= uptime():
                self._base = (int(stored), int(then), _TOLERANCE)
            else:
                self._base = (int(stored), uptime(), _UNMEASURED)
        self()

    def __call__(self) -> int:
        """The time: that of the machine unless it is suspicious."""
        with self._lock:
            base, then, tolerance = self._base
            wall, expected = self._wall(), base + self._uptime() - then
            off = wall - expected
            suspicious = (
                ""
                if abs(off) <= tolerance
                else f"The clock of this machine is {abs(off) / 3_600_000:.0f} hours "
                f"{'ahead of' if off > 0 else 'behind'} the time of the service. Until it is set right, or "
                "confirmed with `discreet store set-clock`, no decision expires."
            )
            if bool(suspicious) != bool(self.suspicious):
                log.warning("%s", suspicious or "The clock of this machine is believed again.")
            self.suspicious = suspicious
            return expected if suspicious else wall

    def refresh(self) -> bool:
        """Once per minute, store the time, and take over what was confirmed. Not within a transaction.

        Returns:
            Whether the clock is believed.
        """
        now, passed = self(), self._uptime()
        if passed - self._written_at >= _MINUTE:
            with self._store.writing() as writing:
                fact = writing.meta(_FACT)
                if fact is not None and fact != self._fact and self.suspicious:  # others go by it
                    theirs = int(fact.split(" ")[0])
                    self._base = (theirs if abs(theirs - now) > 2 * _MINUTE else now, passed, _TOLERANCE)
                    now = self()
                if not self.suspicious:  # small corrections never add up
                    self._base = (now, passed, _TOLERANCE)
                self._fact = f"{now} {self._machine} {passed}"
                writing.note(_FACT, self._fact)
            self._written_at = passed
        return not self.suspicious


def confirm_clock(store: Store) -> int:
    """Let the service go by the clock of this machine; return its time."""
    now = milliseconds()
    with store.writing() as writing:
        writing.note(_FACT, f"{now} {machine()} {uptime()}")
    return now
