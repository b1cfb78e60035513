"""When an iterative minimiser stops: the gap, the clock, or the user."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

from discreet.errors import InvalidArgument
from discreet.minimizers.result import Progress, Stop

#: A gap below 1 proves optimality of integer values; this much is left for rounding.
INTEGER_SLACK = 1e-6
#: Bounds that cross by more than this (relatively) are not rounding errors.
CROSSED = 1e-6


@dataclasses.dataclass
class Stopping:
    """Tracks the best value and bound and decides whether to go on.

    Attributes:
        integer_valued: Whether a gap below 1 is already a proof.
        tolerance: Otherwise the gap to reach, relative to 1 + |value|.
        time_limit: Seconds, or None.
        progress: Called after every pass, or None.
    """

    integer_valued: bool
    tolerance: float
    time_limit: float | None
    progress: Callable[[Progress], None] | None
    start: float = dataclasses.field(default_factory=time.monotonic)
    iterations: int = 0
    value: float = math.inf
    lower_bound: float = -math.inf

    def after_pass(self, value: float, lower_bound: float) -> Stop | None:
        """Record one pass; the reason to stop, or None to go on."""
        self.iterations += 1
        self.value, self.lower_bound = min(self.value, value), max(self.lower_bound, lower_bound)
        seconds = time.monotonic() - self.start
        if self.progress is not None:
            self.progress(Progress(self.iterations, self.value, self.lower_bound, seconds))
        gap = self.value - self.lower_bound
        if gap < -CROSSED * (1.0 + abs(self.value) + abs(self.lower_bound)):  # a proof
            raise InvalidArgument(
                "The function to minimise must be submodular. This one is not: its duality bound "
                f"{self.lower_bound} exceeds its value {self.value} (is_submodular finds a counterexample)."
            )
        if self.integer_valued:
            if gap < 1.0 - INTEGER_SLACK:
                self.lower_bound = self.value
                return "optimal"
        elif gap <= self.tolerance * (1.0 + abs(self.value)):
            return "tolerance"
        if self.time_limit is not None and seconds > self.time_limit:
            return "time limit"
        return None
