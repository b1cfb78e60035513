"""What is made of an answer that is still to come: for callers that do not wait in a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Answer = TypeVar("Answer")
#: What the committer will answer, and what is made of it.
Promise = tuple[Future[Any], Callable[[Any], Answer]]


def then(first: Future[Any], after: Callable[[Any], Any]) -> Future[Any]:
    """The future of what is made of another's answer."""
    answer: Future[Any] = Future()
    passed_on(first, after, answer)
    return answer


def passed_on(first: Future[Any], after: Callable[[Any], Any], answer: Future[Any]) -> None:
    """Give one future what is made of another's answer, or its error."""

    def done(finished: Future[Any]) -> None:
        if not answer.set_running_or_notify_cancel():
            return
        if (error := finished.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(after(finished.result()))

    first.add_done_callback(done)
