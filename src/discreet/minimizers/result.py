"""What a minimiser returns, and when an iterative one stops: the gap, the clock, or the user."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from discreet.errors import InvalidArgument

Method = Literal["closed form", "max-flow", "minimum-norm point", "enumeration", "multipliers", "greedy"]
Stop = Literal["optimal", "tolerance", "time limit", "interrupted", "stalled"]

SLACK = 1e-6  # what is left for rounding


@dataclass(frozen=True)
class Minimum:
    """The best set found, its value, and a lower bound on every value.

    Attributes:
        stopped: "optimal" (exact), "tolerance" (the gap is as small as asked), "time limit", "interrupted"
            (Ctrl-C) or "stalled" (the gap no longer shrinks in floats).
        assumes_submodular: If so and f is not, set and lower bound may be wrong (see `minimize`).
        iterations: Chain passes or max-flows used.

    Examples:
        >>> from discreet import minimize, set_functions
        >>> minimize(set_functions.Modular([1.0, -2.0])).certified
        True
    """

    set: frozenset[int]
    value: float
    lower_bound: float
    method: Method
    stopped: Stop = "optimal"
    assumes_submodular: bool = False
    iterations: int = 1

    @property
    def gap(self) -> float:
        """How much smaller the true minimum could still be."""
        return max(self.value - self.lower_bound, 0.0)

    @property
    def certified(self) -> bool:
        """Whether the set is optimal or within the tolerance, subject to `assumes_submodular`."""
        return self.stopped in ("optimal", "tolerance")


@dataclass
class Stopping:
    """Tracks the best value and bound and decides whether to go on."""

    integer_valued: bool
    tolerance: float
    time_limit: float | None
    progress: Callable[[int, float, float], None] | None
    start: float = field(default_factory=time.monotonic)
    iterations: int = 0
    value: float = math.inf
    lower_bound: float = -math.inf

    @property
    def seconds_left(self) -> float | None:
        """Until the time limit, if there is one."""
        if self.time_limit is None:
            return None
        return max(self.time_limit - (time.monotonic() - self.start), 1e-3)

    def after_pass(self, value: float, lower_bound: float) -> Stop | None:
        """Record one pass; the reason to stop, or None to go on."""
        self.iterations += 1
        self.value, self.lower_bound = min(self.value, value), max(self.lower_bound, lower_bound)
        if self.progress is not None:
            self.progress(self.iterations, self.value, self.lower_bound)
        gap = self.value - self.lower_bound
        if gap < -SLACK * (1.0 + abs(self.value) + abs(self.lower_bound)):  # a proof
            raise InvalidArgument(
                "The function to minimise must be submodular. This one is not: its duality bound "
                f"{self.lower_bound} exceeds its value {self.value} (is_submodular finds a counterexample)."
            )
        if self.integer_valued:
            if gap < 1.0 - SLACK:
                self.lower_bound = self.value
                return "optimal"
        elif gap <= self.tolerance * (1.0 + abs(self.value)):
            return "tolerance"
        if self.time_limit is not None and time.monotonic() - self.start > self.time_limit:
            return "time limit"
        return None
