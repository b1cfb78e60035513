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
        value: Of ours: a median time, per item where the name says so, or another quantity. NaN for what
            could not be measured, which reaches nothing.
        limit: What it is meant to stay under, or None.
        peer: What it was compared with, or "".
        ratio: The peer's value over ours (above 1 means that ours is better), or None.
        least_ratio: The ratio it is meant to reach, or None.
        note: Anything a reader must know, such as a gap reached or a peer that is missing.
        unit: Of the value; "s" for seconds.
    """

    name: str
    value: float
    limit: float | None = None
    peer: str = ""
    ratio: float | None = None
    least_ratio: float | None = None
    note: str = ""
    unit: str = "s"

    @property
    def reached(self) -> bool:
        """Whether every stated figure is met."""
        fast = self.limit is None or self.value <= self.limit
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


def _once(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
