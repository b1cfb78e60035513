"""The client for asynchronous programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import anyio
import httpx

from discreet.client.base import FAILURES, Base, failed, reply_of, request_of
from discreet.client.operations import Operations
from discreet.client.retrying import Attempt, Pause, Reply, Steps

Answer = TypeVar("Answer")
P = ParamSpec("P")


def _awaited(
    operation: Callable[Concatenate[Operations, P], Steps[Answer]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, Answer]]:
    """An operation as a method to be awaited, with the same arguments."""

    @functools.wraps(operation)
    async def call(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        return await self._run(operation(self._operations, *args, **kwargs))

    return call


class AsyncClient(Base):
    """Learners behind a service: the arguments and methods of `Client`, to be awaited.

    Examples:
        >>> AsyncClient("http://127.0.0.1:8710", "discreet_...")
        AsyncClient('http://127.0.0.1:8710')
    """

    ask = _awaited(Operations.ask)
    tell = _awaited(Operations.tell)
    tell_many = _awaited(Operations.tell_many)
    create_learner = _awaited(Operations.create_learner)
    learners = _awaited(Operations.learners)
    learner = _awaited(Operations.learner)
    guarantee = _awaited(Operations.guarantee)
    archive = _awaited(Operations.archive)
    populations = _awaited(Operations.populations)
    population = _awaited(Operations.population)
    set_population = _awaited(Operations.set_population)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _connect(self) -> None:
        self._http = httpx.AsyncClient(**self._options())

    async def _run(self, steps: Steps[Answer]) -> Answer:
        """Send and sleep as the steps say."""
        self._renew_after_fork()
        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    await anyio.sleep(step.seconds)
                    step = next(steps)
                else:
                    step = steps.send(await self._reply(step))
        except StopIteration as done:
            answer: Answer = done.value
            return answer

    async def _reply(self, attempt: Attempt) -> Reply:
        try:
            return reply_of(await self._http.request(**request_of(attempt)))
        except FAILURES as error:
            return failed(error, self.url)
