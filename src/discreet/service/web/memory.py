"""A limit on the memory of all requests together: one account of bytes per process.

A limit on each request does not limit a thousand of them. So each request reserves what it takes: its body as
it arrives, since parsed JSON can take 25 times as much, and its response until that is sent. What does not
fit is answered with 503. Only the event loop's thread counts, so there are no locks.
"""

from __future__ import annotations

from typing import Self

from discreet.service.web.errors import HttpError

#: Bytes of all requests of a process, unless a single one may take more.
BUDGET = 512 << 20
#: Bytes of memory for each byte of a body: JSON such as [{},{},{}] takes as much once parsed. Nested lists
#: can take up to 45, feedback as clients send it takes less than 15.
PER_BYTE = 25
#: Sets take so many times the bytes of their response while it is written.
COPIES = 4
#: What every request may take without being counted, so that large requests of some cannot block small ones
#: of others; all connections together take little this way.
FREE = 4096 * PER_BYTE


class Memory:
    """What is left for requests.

    Args:
        largest: Bytes of the largest body: a request that is alone is never refused.
    """

    def __init__(self, largest: int) -> None:
        self.left = max(BUDGET, largest * PER_BYTE)

    def reserve(self, size: int = 0) -> Reservation:
        """A context that reserves a number of bytes, which can be changed while it lasts."""
        reservation = Reservation(self)
        reservation.resize(size)
        return reservation


class Reservation:
    """The memory of one request.

    Attributes:
        size: Bytes.
    """

    __slots__ = ("_memory", "size")

    def __init__(self, memory: Memory) -> None:
        self._memory, self.size = memory, 0

    def resize(self, size: int, *, force: bool = False) -> None:
        """Reserve a number of bytes from now on.

        Args:
            size: Bytes.
            force: Whether it is too late to refuse: the request was performed, and must be answered.
        """
        if size <= FREE:
            if not self.size:  # nearly always
                return
            size = 0
        more = size - self.size
        if more > 0 and more > self._memory.left and not force:
            raise HttpError("busy", "Other requests take all the memory for requests. Try again.")
        self._memory.left -= more
        self.size = size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.left += self.size
        self.size = 0
