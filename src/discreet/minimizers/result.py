"""What a minimiser returns: the best set found and how good it is known to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["closed form", "max-flow", "minimum-norm point", "enumeration"]
Stop = Literal["optimal", "tolerance", "time limit", "interrupted", "stalled"]


@dataclass(frozen=True)
class Minimum:
    """The best set found, its value, and a lower bound on every value.

    Attributes:
        set: The set.
        value: Its value.
        lower_bound: No set has a smaller value (up to the rounding of float sums).
        method: What found it.
        stopped: Why it stopped: "optimal" (exact), "tolerance" (the gap is as small as asked),
            "time limit", "interrupted" (Ctrl-C) or "stalled" (the gap no longer shrinks in floats).
        assumes_submodular: Whether f was assumed to be submodular, as tables and Python code of more than 12
            items are. If it is not, the set may be far from optimal and the lower bound wrong, whatever
            `stopped` says.
        iterations: Chain passes or max-flows used.

    Examples:
        >>> from discreet import minimize
        >>> from discreet.set_functions import Modular
        >>> found = minimize(Modular([1.0, -2.0]))
        >>> found.set, found.value, found.gap, found.certified
        (frozenset({1}), -2.0, 0.0, True)
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


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told.

    Attributes:
        iteration: Passes done.
        value: The best value so far.
        lower_bound: The best lower bound so far.
        seconds: Time since the start.

    Examples:
        >>> from discreet import minimize
        >>> from discreet.set_functions import Cut
        >>> seen = []
        >>> found = minimize(Cut([[0, 2], [1, 0]], modular=[-3, 1]), progress=seen.append)
        >>> seen[-1].iteration, seen[-1].value, seen[-1].lower_bound
        (1, -2.0, -2.0)
    """

    iteration: int
    value: float
    lower_bound: float
    seconds: float
