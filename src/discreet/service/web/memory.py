"""How much memory requests may take together: one account of bytes for a process.

A limit on each request is none on a thousand of them. So each counts what it takes while it is under way: its
body as it arrives, since what is read from it can take 25 times as much, and its answer until that is sent.
What does not fit any more is put off with 503. Only the event loop's thread counts, so there are no locks.
"""

from __future__ import annotations

from typing import Self

from discreet.service.web.problems import Problem

#: Bytes of all requests of a process, unless a single one may take more.
BUDGET = 512 << 20
#: Bytes of memory for each byte of a body: JSON such as [{},{},{}] takes as much once it is read. Lists
#: within lists can take up to 45, feedback as clients send it takes less than 15.
PER_BYTE = 25
#: Sets take so many times the bytes of their answer while it is written.
COPIES = 4
#: What every request may take without being counted. Large requests of some cannot keep out small ones of
#: others, and all connections together take little this way.
FREE = 4096 * PER_BYTE


class Memory:
    """What is left for requests.

    Args:
        largest: Bytes of the largest body: a request that is alone is never put off.
    """

    def __init__(self, largest: int) -> None:
        self.left = max(BUDGET, largest * PER_BYTE)

    def held(self, count: int = 0) -> Held:
        """A context in which a number of bytes is taken; it can be changed while it lasts."""
        held = Held(self)
        held.to(count)
        return held


class Held:
    """What one request takes.

    Attributes:
        count: Bytes.
    """

    __slots__ = ("_memory", "count")

    def __init__(self, memory: Memory) -> None:
        self._memory, self.count = memory, 0

    def to(self, count: int, *, done: bool = False) -> None:
        """Take a number of bytes from now on, more or fewer than before.

        Args:
            count: Bytes.
            done: Whether it is too late to be put off: what was asked for has been done, and must be said.
        """
        if count <= FREE:
            if not self.count:  # nearly always
                return
            count = 0
        more = count - self.count
        if more > 0 and more > self._memory.left and not done:
            raise Problem("busy", "Other requests take all memory there is for them. Try again.")
        self._memory.left -= more
        self.count = count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.left += self.count
        self.count = 0
