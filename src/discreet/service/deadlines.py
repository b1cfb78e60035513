"""When decisions of each learner may be past their deadline, so that idle learners cost nothing."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

#: Milliseconds by which a clock may be set back without being noticed.
_JITTER = 1_000


class Deadlines:
    """Who must be looked at, and when.

    A learner is looked at when its oldest decision is due; without one, a whole deadline later: what any
    process asks meanwhile is due after that.

    Attributes:
        swept: Of learners by id: decisions asked before this time are known to be closed.
    """

    def __init__(self) -> None:
        self._looks: list[tuple[int, int]] = []  # times and ids, as a heap
        self._followed: set[int] = set()
        self._last = 0
        self.swept: dict[int, int] = {}

    def follow(self, active: Mapping[int, tuple[float, int | None]], now: int) -> None:
        """Look after these learners from now on, of which the deadline and the first ask are given."""
        for learner in active.keys() - self._followed:
            self.look_again(learner, *active[learner], now)

    def look_now(self, learner: int) -> None:
        """Look after a learner from now on, unless that is so."""
        if learner not in self._followed:
            self._put(learner, 0)

    def look_again(self, learner: int, deadline: float, asked_at: int | None, now: int) -> None:
        """Look at a learner once a decision, or else whatever is asked from now on, is due."""
        self._put(learner, (now if asked_at is None else asked_at) + round(1000 * deadline) + 1)

    def due(self, now: int) -> list[int]:
        """The ids of learners to look at now; those that are not put back are forgotten."""
        if now < self._last - _JITTER:  # the clock was set back: every time may be wrong
            self._looks = [(0, learner) for learner in self._followed]
            self.swept.clear()
        self._last = now
        found = []
        while self._looks and self._looks[0][0] <= now:
            found.append(heapq.heappop(self._looks)[1])
        self._followed.difference_update(found)
        return found

    def _put(self, learner: int, at: int) -> None:
        self._followed.add(learner)
        heapq.heappush(self._looks, (at, learner))
