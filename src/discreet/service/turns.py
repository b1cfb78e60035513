"""Which process applies a learner's feedback, where several serve it: the one that did so last.

Others leave it alone, even if the feedback came through them, unless it stands still: then the process
whose turn it is may be gone. Nothing is written for this, and no process knows of the others: each compares
how far a learner is in the store with how far it was when it last looked. If two processes take the same
turn, the store lets one of them go first, as ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

#: How far a learner is; see `Reading.progress`.
Progress = tuple[int, int]

#: Seconds that something may wait without any progress of its learner until everybody tries.
STANDSTILL = 5.0
_ELSEWHERE = -1, -1


class Turns:
    """What one process knows of all learners.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        #: How far each learner was after the last step of this process, by id.
        self._left: dict[int, Progress] = {}
        #: Of what others are to do, by kind of work: how far each learner is, and since when.
        self._waiting: dict[str, dict[int, tuple[Progress, float]]] = {}

    def mine(self, kind: str, due: Mapping[int, Progress], told: Iterable[int] = ()) -> set[int]:
        """The learners whose turn is here.

        Args:
            kind: Of work.
            due: All learners for which there is such work, and how far they are.
            told: Learners that this process has queued feedback of: new ones begin with it.
        """
        now, before = self._clock(), self._waiting.get(kind, {})
        new, waiting, mine = set(told) - self._left.keys(), {}, set()
        for learner, progress in due.items():
            if learner in new or self._left.get(learner) == progress:
                mine.add(learner)
                continue
            seen, since = before.get(learner, (progress, now))
            waiting[learner] = progress, since if seen == progress else now
            if now - waiting[learner][1] >= STANDSTILL:
                mine.add(learner)
        self._waiting[kind] = waiting
        return mine

    def done(self, learner: int, progress: Progress) -> None:
        """This process has taken a step, after which a learner is so far."""
        self._left[learner] = progress

    def lost(self, learner: int) -> None:
        """Another process takes a step now."""
        self._left[learner] = _ELSEWHERE
