"""One thread that writes: all that waits goes into one transaction, and is answered once it is durable.

A commit that waits for the disk takes milliseconds however much is in it. While one is under way, others'
operations queue up; the next takes all of them. Callers who were just answered are often back at once, so
where there were many the thread waits a moment for them: fewer and larger transactions cost less.
"""

from __future__ import annotations

import collections
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from discreet.errors import Busy, Conflict, StoreError

Operation = TypeVar("Operation")

#: Operations that may wait before more are refused, and how many go into one transaction.
_MOST_WAITING, _MOST_AT_ONCE = 20_000, 512
#: How long to wait for callers who were just answered, in seconds, and for how many it is worth it.
_MOMENT, _CROWD = 0.0005, 8
#: How often a transaction that others were in the way of is tried.
_TRIES = 5


class Committer(Generic[Operation]):
    """The thread and its queue.

    Args:
        perform: Runs operations in one transaction and gives an answer for each, or an exception to raise for
            it. It returns when all is durable. An exception out of it means that nothing was written.
    """

    def __init__(self, perform: Callable[[Sequence[Operation]], Sequence[Any]]) -> None:
        self._perform = perform
        self._waiting: collections.deque[tuple[Operation, Future[Any]]] = collections.deque()
        self._changed = threading.Condition()
        self._closed = False
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="discreet-committer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation) -> Future[Any]:
        """Queue an operation; the future has its answer once it is durable."""
        if os.getpid() != self._process:
            raise StoreError("This desk belongs to the process that forked this one. Open one here.")
        future: Future[Any] = Future()
        with self._changed:
            if self._closed:
                raise StoreError("The desk is closed.")
            if len(self._waiting) >= _MOST_WAITING:
                raise Busy("Too much is waiting to be written; nothing was changed. Try again later.")
            self._waiting.append((operation, future))
            self._changed.notify()
        return future

    def close(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        last = before = 0  # sizes of the latest transactions
        while True:
            if last >= _CROWD and len(self._waiting) < last + before:
                time.sleep(_MOMENT)
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                count = min(len(self._waiting), _MOST_AT_ONCE)
                taken = [self._waiting.popleft() for _ in range(count)]
                last, before = count, last
            # Whoever cancelled is not waiting any more; what they asked for is done all the same.
            for _, future in taken:
                future.set_running_or_notify_cancel()
            self._answer(taken)

    def _answer(self, taken: Sequence[tuple[Operation, Future[Any]]]) -> None:
        try:
            answers = self._tried([operation for operation, _ in taken])
        except BaseException as error:
            answers = [error] * len(taken)
        for (_, future), answer in zip(taken, answers, strict=True):
            if future.cancelled():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def _tried(self, operations: Sequence[Operation]) -> Sequence[Any]:
        for _ in range(_TRIES - 1):
            try:
                return self._perform(operations)
            except Conflict:
                continue
        return self._perform(operations)
