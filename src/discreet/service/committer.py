"""One thread that writes: all that waits goes into one transaction, and is answered once it is durable.

A commit that waits for the disk takes milliseconds however much is in it. While one is under way, others'
operations queue up; the next takes all of them, as far as memory allows. Callers who were just answered are
often back at once, so where there were many the thread waits a moment for them: fewer and larger transactions
cost less.

An operation that nobody can perform must not take others with it. A transaction that fails for a reason that
was not foreseen is undone, and its halves are tried by themselves, until what cannot be done is alone.
"""

from __future__ import annotations

import collections
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from discreet.errors import Busy, CannotKeep, Conflict, StoreError

Operation = TypeVar("Operation")

#: Operations that may wait before more are refused, and how many go into one transaction.
_MOST_WAITING, _MOST_AT_ONCE = 20_000, 512
#: The same by weight: numbers of eight bytes. One that is heavier is taken by itself.
_HEAVIEST_WAITING, _HEAVIEST_AT_ONCE = 1 << 26, 1 << 20
#: How long to wait for callers who were just answered, in seconds, and for how many it is worth it.
_MOMENT, _CROWD = 0.0005, 8
#: How often a transaction that others were in the way of is tried.
_TRIES = 5


class Committer(Generic[Operation]):
    """The thread and its queue.

    Args:
        perform: Runs operations in one transaction and gives an answer for each, or an exception to raise for
            it. It returns when all is durable. An exception out of it means that nothing was written, or
            that doing it again changes nothing.
        weigh: How much memory an operation takes, in numbers of eight bytes.
    """

    def __init__(
        self,
        perform: Callable[[Sequence[Operation]], Sequence[Any]],
        weigh: Callable[[Operation], int] = lambda _: 1,
    ) -> None:
        self._perform, self._weigh = perform, weigh
        self._waiting: collections.deque[tuple[Operation, Future[Any], int]] = collections.deque()
        self._weight = 0  # of all that wait
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
        weight = self._weigh(operation)
        with self._changed:
            if self._closed:
                raise StoreError("The desk is closed.")
            if len(self._waiting) >= _MOST_WAITING or self._weight >= _HEAVIEST_WAITING:
                raise Busy("Too much is waiting to be written; nothing was changed. Try again later.")
            self._waiting.append((operation, future, weight))
            self._weight += weight
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
                taken = self._taken()
                last, before = len(taken), last
            # Whoever cancelled is not waiting any more; what they asked for is done all the same.
            for _, future in taken:
                future.set_running_or_notify_cancel()
            self._answer(taken)

    def _taken(self) -> list[tuple[Operation, Future[Any]]]:
        """The next transaction's operations: as many as wait, as are allowed, and as memory allows."""
        taken: list[tuple[Operation, Future[Any]]] = []
        weight = 0
        while self._waiting and len(taken) < _MOST_AT_ONCE:
            weight += self._waiting[0][2]
            if taken and weight > _HEAVIEST_AT_ONCE:
                break
            operation, future, its_weight = self._waiting.popleft()
            self._weight -= its_weight
            taken.append((operation, future))
        return taken

    def _answer(self, taken: Sequence[tuple[Operation, Future[Any]]]) -> None:
        answers = self._answers([operation for operation, _ in taken])
        for (_, future), answer in zip(taken, answers, strict=True):
            if future.cancelled():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def _answers(self, operations: Sequence[Operation]) -> Sequence[Any]:
        """An answer for each, or the exception to raise for it."""
        try:
            return self._tried(operations)
        except CannotKeep as error:
            reason: BaseException = error
        except StoreError as error:  # of the store, not of an operation: halves would fare no better
            return [error] * len(operations)
        except Exception as error:
            reason = error
        except BaseException as error:
            return [error] * len(operations)
        if len(operations) == 1:
            return [reason]
        half = len(operations) // 2
        return [*self._answers(operations[:half]), *self._answers(operations[half:])]

    def _tried(self, operations: Sequence[Operation]) -> Sequence[Any]:
        for _ in range(_TRIES - 1):
            try:
                return self._perform(operations)
            except Conflict:
                continue
        return self._perform(operations)
