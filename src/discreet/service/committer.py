"""Group commit: one thread writes all queued operations in one transaction, and answers once it is durable.

A commit takes milliseconds however much is in it. While one runs, other operations queue up; the next commit
takes all of them, as far as memory allows. Callers that were just answered often return at once, so after a
large transaction the thread waits a moment for them: fewer and larger transactions cost less.

An operation that fails must not take others with it. A transaction that fails for an unforeseen reason is
rolled back, and its halves are tried separately, until the failing operation is alone.
"""

from __future__ import annotations

import collections
import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from discreet.errors import Busy, CannotKeep, Conflict, StoreError
from discreet.service.health import Health

Operation = TypeVar("Operation")

#: What the log calls the writing of asks and tells.
COMMITS = "writing asks and tells"
#: Operations in the queue before more are refused, and in one transaction.
_MOST_QUEUED, _MOST_AT_ONCE = 20_000, 512
#: The same by size, in numbers of eight bytes. A larger operation gets a transaction of its own.
_LARGEST_QUEUE, _LARGEST_TRANSACTION = 1 << 26, 1 << 20
#: Seconds to wait for callers that were just answered, and for how many this is worth it.
_MOMENT, _CROWD = 0.0005, 8
#: How often a transaction that conflicts with others is tried.
_TRIES = 5


class Committer(Generic[Operation]):
    """The thread and its queue.

    Args:
        perform: Runs operations in one transaction and returns an answer for each, or an exception to raise
            for it, once all is durable. If it raises, nothing was written, or doing it again changes nothing.
        size_of: Memory of an operation, in numbers of eight bytes.
        health: Is told which transactions could not be written.

    Attributes:
        committed: Called with the seconds that each transaction has taken.
    """

    def __init__(
        self,
        perform: Callable[[Sequence[Operation]], Sequence[Any]],
        size_of: Callable[[Operation], int] = lambda _: 1,
        health: Health | None = None,
    ) -> None:
        self._perform, self._size_of, self._health = perform, size_of, health or Health()
        self.committed: Callable[[float], None] = lambda _: None
        self._queue: collections.deque[tuple[Operation, Future[Any], int]] = collections.deque()
        self._size = 0
        self._changed = threading.Condition()
        self._closed = False
        self._worked_at = -math.inf
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="discreet-committer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation) -> Future[Any]:
        """Queue an operation; the future has its answer once it is durable."""
        if os.getpid() != self._process:
            raise StoreError("This service belongs to the parent process. Open one in this process.")
        future: Future[Any] = Future()
        size = self._size_of(operation)
        with self._changed:
            if self._closed:
                raise StoreError("The service is closed.")
            if len(self._queue) >= _MOST_QUEUED or self._size >= _LARGEST_QUEUE:
                raise Busy("The queue is full; nothing was changed. Try again later.")
            self._queue.append((operation, future, size))
            self._size += size
            self._changed.notify()
        return future

    @property
    def queued(self) -> int:
        """How many operations wait."""
        return len(self._queue)

    @property
    def busy(self) -> bool:
        """Whether operations are queued, being written, or were within the last second."""
        return bool(self._queue) or time.monotonic() - self._worked_at < 1.0

    def close(self) -> None:
        """Write what is queued, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        last = before = 0  # sizes of the latest transactions
        while True:
            if last >= _CROWD and len(self._queue) < last + before:
                time.sleep(_MOMENT)
            with self._changed:
                while not self._queue and not self._closed:
                    self._changed.wait()
                if not self._queue:
                    return
                taken = self._taken()
                self._worked_at = time.monotonic()
                last, before = len(taken), last
            # A cancelled operation is performed anyway; only its answer is dropped.
            for _, future in taken:
                future.set_running_or_notify_cancel()
            self._answer(taken)

    def _taken(self) -> list[tuple[Operation, Future[Any]]]:
        """The operations of the next transaction."""
        taken: list[tuple[Operation, Future[Any]]] = []
        size = 0
        while self._queue and len(taken) < _MOST_AT_ONCE:
            size += self._queue[0][2]
            if taken and size > _LARGEST_TRANSACTION:
                break
            operation, future, its_size = self._queue.popleft()
            self._size -= its_size
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
        except StoreError as error:  # of the store, not of an operation: halves would fail as well
            if not isinstance(error, Conflict):
                self._health.failed(COMMITS, error)
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
            with contextlib.suppress(Conflict):
                return self._timed(operations)
        return self._timed(operations)

    def _timed(self, operations: Sequence[Operation]) -> Sequence[Any]:
        started = time.perf_counter()
        answers = self._perform(operations)
        self.committed(time.perf_counter() - started)
        self._health.worked(COMMITS)
        return answers
