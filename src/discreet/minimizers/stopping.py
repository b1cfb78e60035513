"""When an iterative minimiser stops: the gap, the clock, or the user."""

from __future__ import annotations

import time
from collections.abc import Callable

from discreet.errors import InvalidArgument
from discreet.minimizers.result import Progress, Stop

#: A gap below 1 proves optimality of whole-numbered values; this much is left for rounding.
INTEGER_SLACK = 1e-6
#: Bounds that cross by more than this (relatively) are no rounding error.
CROSSED = 1e-6


class Stopping:
    """Keeps the best value and bound seen and decides whether to go on.

    Args:
        integer_valued: Whether a gap below 1 is already a proof.
        tolerance: Otherwise the gap to reach, relative to 1 + |value|.
        time_limit: Seconds, or None.
        progress: Called after every pass, or None.
    """

    def __init__(
        self,
        *,
        integer_valued: bool,
        tolerance: float,
        time_limit: float | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._integer_valued, self._tolerance = integer_valued, tolerance
        self._time_limit, self._progress = time_limit, progress
        self._start = time.monotonic()
        self.iterations = 0
        self.value, self.lower_bound = float("inf"), float("-inf")

    def after_pass(self, value: float, lower_bound: float) -> Stop | None:
        """Record one pass; the reason to stop, or None to go on."""
        self.iterations += 1
        self.value, self.lower_bound = min(self.value, value), max(self.lower_bound, lower_bound)
        seconds = time.monotonic() - self._start
        if self._progress is not None:
            self._progress(Progress(self.iterations, self.value, self.lower_bound, seconds))
        gap = self.value - self.lower_bound
        self._refuse_crossed_bounds(gap)
        if self._integer_valued:
            if gap < 1.0 - INTEGER_SLACK:
                self.lower_bound = self.value
                return "optimal"
        elif gap <= self._tolerance * (1.0 + abs(self.value)):
            return "tolerance"
        if self._time_limit is not None and seconds > self._time_limit:
            return "time limit"
        return None

    def _refuse_crossed_bounds(self, gap: float) -> None:
        """A bound clearly above a value proves that the function is not submodular."""
        if gap < -CROSSED * (1.0 + abs(self.value) + abs(self.lower_bound)):
            raise InvalidArgument(
                "The function to minimise must be submodular. This one is not: its duality bound "
                f"{self.lower_bound} exceeds its value {self.value} (is_submodular finds a witness)."
            )
