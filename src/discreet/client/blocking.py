"""The client for ordinary, blocking programs: an `AsyncClient` whose operations have nothing to wait for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from discreet.client.asynchronous import AsyncClient

Answer = TypeVar("Answer")
P = ParamSpec("P")


class _Operations(AsyncClient):
    _blocking = True


def _arguments_of(
    other: Callable[Concatenate[AsyncClient, P], None],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Client, P], None]]:
    """A method of `Client` with the arguments of another class's."""
    return functools.wraps(other)


def _blocking(
    operation: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Answer]],
) -> Callable[Concatenate[Client, P], Answer]:
    """An operation that is run to its end, with the same arguments."""

    @functools.wraps(operation)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            operation(self._operations, *args, **kwargs).send(None)
        except StopIteration as done:
            answer: Answer = done.value
            return answer
        raise AssertionError("a blocking operation has nothing to wait for")

    return call


class Client:
    """Learners behind a service. Threads may share a client, and forked processes may continue to use it.

    The arguments and methods are those of `AsyncClient`; nothing is awaited.

    Examples:
        >>> Client("http://127.0.0.1:8710", "discreet_...")
        Client('http://127.0.0.1:8710')
    """

    @_arguments_of(AsyncClient.__init__)
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._operations = _Operations(*args, **kwargs)

    ask = _blocking(AsyncClient.ask)
    tell = _blocking(AsyncClient.tell)
    tell_many = _blocking(AsyncClient.tell_many)
    create_learner = _blocking(AsyncClient.create_learner)
    learners = _blocking(AsyncClient.learners)
    learner = _blocking(AsyncClient.learner)
    history = _blocking(AsyncClient.history)
    guarantee = _blocking(AsyncClient.guarantee)
    restart = _blocking(AsyncClient.restart)
    archive = _blocking(AsyncClient.archive)
    populations = _blocking(AsyncClient.populations)
    population = _blocking(AsyncClient.population)
    set_population = _blocking(AsyncClient.set_population)
    keys = _blocking(AsyncClient.keys)
    create_key = _blocking(AsyncClient.create_key)
    rotate_key = _blocking(AsyncClient.rotate_key)
    revoke_key = _blocking(AsyncClient.revoke_key)
    close = _blocking(AsyncClient.close)

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._operations.url

    def __repr__(self) -> str:
        return repr(self._operations)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
