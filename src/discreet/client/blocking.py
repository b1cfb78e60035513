"""The client for ordinary, blocking programs: the operations of `AsyncClient`, with nothing to wait for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from .asynchronous import AsyncClient
from .retrying import Connected

Answer = TypeVar("Answer")
P = ParamSpec("P")


def _at_once(
    operation: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Answer]],
) -> Callable[Concatenate[Client, P], Answer]:
    """An operation that is run to its end, with the same arguments."""

    @functools.wraps(operation)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            operation(self, *args, **kwargs).send(None)
        except StopIteration as done:
            answer: Answer = done.value
            return answer
        raise AssertionError("a blocking operation has nothing to wait for")

    return call


class Client(Connected):
    """Learners behind a service. Threads may share a client, and forked processes may continue to use it.

    The arguments and methods are those of `AsyncClient`; nothing is awaited.

    Examples:
        >>> Client("http://127.0.0.1:8710", "discreet_...")
        Client('http://127.0.0.1:8710')
    """

    _blocking = True

    ask = _at_once(AsyncClient.ask)
    tell = _at_once(AsyncClient.tell)
    tell_many = _at_once(AsyncClient.tell_many)
    create_learner = _at_once(AsyncClient.create_learner)
    learners = _at_once(AsyncClient.learners)
    learner = _at_once(AsyncClient.learner)
    history = _at_once(AsyncClient.history)
    guarantee = _at_once(AsyncClient.guarantee)
    change_items = _at_once(AsyncClient.change_items)
    restart = _at_once(AsyncClient.restart)
    archive = _at_once(AsyncClient.archive)
    populations = _at_once(AsyncClient.populations)
    population = _at_once(AsyncClient.population)
    set_population = _at_once(AsyncClient.set_population)
    keys = _at_once(AsyncClient.keys)
    create_key = _at_once(AsyncClient.create_key)
    revoke_key = _at_once(AsyncClient.revoke_key)
    close = _at_once(AsyncClient.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
