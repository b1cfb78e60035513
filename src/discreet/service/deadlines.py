"""When decisions of each learner may be past their deadline, so that idle learners cost nothing."""

from __future__ import annotations

import heapq
import time

from discreet.storage.base import Store

#: Milliseconds by which a clock may be set back without being noticed.
_JITTER = 1_000
#: Seconds between looks for learners that only other processes have used.
_FOLLOW_EVERY = 60.0
#: Learners read with one statement.
_AT_ONCE = 1_000


class Deadlines:
    """Who must be looked at, and when.

    A learner is looked at when its oldest decision is due; without one, a whole deadline later: what any
    process asks meanwhile is due after that.

    Args:
        store: Has the decisions.

    Attributes:
        swept: Of learners by id: decisions asked before this time are known to be closed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._looks: list[tuple[int, int]] = []  # times and ids, as a heap
        self._followed: set[int] = set()
        self._last = 0
        self._next_follow = 0.0
        self.swept: dict[int, int] = {}

    def follow(self, learner: int) -> None:
        """Look after a learner from now on."""
        if learner not in self._followed:
            self._put(learner, 0)

    def due(self, now: int) -> list[int]:
        """The ids of active learners that may have decisions past their deadline; then `look_again`."""
        if now < self._last - _JITTER:  # the clock was set back: every time may be wrong
            self._looks = [(0, learner) for learner in self._followed]
            self.swept.clear()
        self._last = now
        looks = []
        while self._looks and self._looks[0][0] <= now:
            looks.append(heapq.heappop(self._looks)[1])
        self._followed.difference_update(looks)
        found = []
        with self._store.reading() as reading:
            first_asked = {}
            if time.monotonic() >= self._next_follow:
                self._next_follow = time.monotonic() + _FOLLOW_EVERY
                everyone = reading.first_asked()
                first_asked = {k: each for k, each in everyone.items() if k not in self._followed}
            else:
                for some in (looks[k : k + _AT_ONCE] for k in range(0, len(looks), _AT_ONCE)):
                    first_asked |= reading.first_asked(some)
            for learner, (deadline, first) in first_asked.items():
                if first is not None and learner in self.swept:
                    first = reading.next_asked(learner, self.swept[learner])
                if first is not None and first + 1000 * deadline < now:
                    found.append(learner)
                else:
                    self._put(learner, _look(now, deadline, first))
        return found

    def look_again(self, learner: int, deadline: float, now: int) -> None:
        """Look at a learner again when it has decisions that are due then, but not now."""
        with self._store.reading() as reading:
            first = reading.next_asked(learner, now - round(1000 * deadline))
        self._put(learner, _look(now, deadline, first))

    def look_back(self, milliseconds: int) -> None:
        """Decisions may have been stored so late, or by a process whose clock is so far behind."""
        self.swept = {learner: at - milliseconds for learner, at in self.swept.items()}

    def _put(self, learner: int, at: int) -> None:
        self._followed.add(learner)
        heapq.heappush(self._looks, (at, learner))


def _look(now: int, deadline: float, asked_at: int | None) -> int:
    return (now if asked_at is None else asked_at) + round(1000 * deadline) + 1
