"""How fast background work goes: steps of some milliseconds, and pauses while others want to write."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Rows in one step at first, at least and at most.
_FIRST, _LEAST, MOST = 256, 32, 10_000
#: Seconds that a step should take, and pauses while there is traffic, times the last step.
_STEP, _PAUSE, _LONGEST_PAUSE = 0.02, 4.0, 1.0


class Pace:
    """Sizes of steps, and pauses between them.

    Args:
        busy: Whether others want to write now, or did so just before.
        stopped: Whether no more steps should be taken.
        clock: Seconds.
        sleep: Pauses for so many seconds.
    """

    def __init__(
        self,
        busy: Callable[[], bool],
        stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._busy, self._stopped, self._clock, self._sleep = busy, stopped, clock, sleep
        self._rows: dict[str, int] = {}

    def steps(self, kind: str, step: Callable[[int], tuple[int, bool]], most: int = MOST) -> int:
        """Call a step with so many rows until it says that there are no more; return how many there were."""
        total, more = 0, True
        while more and not self._stopped():
            rows = min(self._rows.get(kind, _FIRST), most)
            began = self._clock()
            found, more = step(rows)
            taken = self._clock() - began
            total += found
            if more:
                wanted = rows * _STEP / max(taken, 1e-4)
                self._rows[kind] = int(min(max(wanted, rows / 2, _LEAST), 2 * rows, MOST))
            if (found or more) and self._busy():
                self._sleep(min(_PAUSE * taken, _LONGEST_PAUSE))
        return total
