"""Timing side by side: medians of repeated runs, interleaved so that machine noise hits both alike."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: What was measured.
        seconds: Median time of ours, per item where the name says so.
        limit: The time it is meant to stay under, in seconds, or None.
        peer: What it was compared with, or "".
        ratio: Peer's time over ours (above 1 means that ours is faster), or None.
        least_ratio: The ratio it is meant to reach, or None.
        note: Anything a reader must know, such as a gap reached or a peer that is missing.
    """

    name: str
    seconds: float
    limit: float | None = None
    peer: str = ""
    ratio: float | None = None
    least_ratio: float | None = None
    note: str = ""

    @property
    def reached(self) -> bool:
        """Whether every stated figure is met."""
        fast = self.limit is None or self.seconds <= self.limit
        ahead = self.least_ratio is None or (self.ratio is not None and self.ratio >= self.least_ratio)
        return fast and ahead


def median_seconds(work: Work, repeats: int = 7, items: int = 1) -> float:
    """Median wall time of `work` per item, after one unmeasured call that warms caches and compilers."""
    work()
    return statistics.median(_once(work) for _ in range(repeats)) / items


def versus(ours: Work, peer: Work, repeats: int = 7) -> tuple[float, float]:
    """Median times of both, run in turns: ours, peer, ours, peer, ..."""
    ours()
    peer()
    pairs = [(_once(ours), _once(peer)) for _ in range(repeats)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def human(seconds: float) -> str:
    """A time with a unit that keeps it between 1 and 1000."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _once(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
