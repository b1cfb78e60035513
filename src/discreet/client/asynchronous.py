"""The client for programs that do other things while they wait."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self, TypeVar, overload

import anyio
import httpx

from discreet.client.operations import FAILURES, Base, failed, reply_of, request_of
from discreet.client.records import MISSING, Decision, Feedback, Learner, Population
from discreet.client.retrying import Attempt, Pause, Reply, Steps
from discreet.privacy.guarantee import Guarantee

Answer = TypeVar("Answer")


class AsyncClient(Base):
    """Learners behind a service: `Client` with methods to be awaited. Its arguments are the same.

    Examples:
        >>> AsyncClient("http://127.0.0.1:8710", "discreet_...")
        AsyncClient('http://127.0.0.1:8710')
    """

    @overload
    async def ask(
        self,
        learner: str,
        count: None = None,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Decision: ...

    @overload
    async def ask(
        self,
        learner: str,
        count: int,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> list[Decision]: ...

    async def ask(
        self,
        learner: str,
        count: int | None = None,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Decision | list[Decision]:
        """See `Client.ask`."""
        answer: Decision | list[Decision] = await self._run(
            self._core.ask(learner, count, available, request_id)
        )
        return answer

    async def tell(
        self,
        learner: str,
        decision: Decision | str,
        cost: Any = MISSING,
        *,
        released: int | None = None,
        function: Any = MISSING,
        person: str | None = None,
    ) -> None:
        """See `Client.tell`."""
        feedback = Feedback(decision, cost, released=released, function=function, person=person)
        await self._run(self._core.tell(learner, feedback))

    async def tell_many(
        self, learner: str, feedback: Iterable[Feedback | tuple[Decision | str, Any]]
    ) -> list[str]:
        """See `Client.tell_many`."""
        return await self._run(self._core.tell_many(learner, feedback))

    async def create_learner(
        self,
        name: str,
        feedback: str,
        items: int | Sequence[Hashable],
        *,
        epsilon: float,
        cost_range: tuple[float, float],
        **others: Any,
    ) -> Learner:
        """See `Client.create_learner`."""
        settings = {"feedback": feedback, "items": items, "epsilon": epsilon, "cost_range": cost_range}
        return await self._run(self._core.create_learner(name, settings | others))

    async def learners(self) -> list[Learner]:
        """The latest epoch of every learner."""
        return await self._run(self._core.learners())

    async def learner(self, name: str) -> Learner:
        """What may be shown of a learner."""
        return await self._run(self._core.learner(name))

    async def guarantee(self, name: str) -> Guarantee:
        """What is promised to each person."""
        return await self._run(self._core.guarantee(name))

    async def archive(self, name: str) -> Learner:
        """End a learner (needs an admin's key); its loss stays counted."""
        return await self._run(self._core.archive(name))

    async def populations(self) -> list[Population]:
        """All populations, and what their people may lose."""
        return await self._run(self._core.populations())

    async def population(self, name: str) -> Population:
        """What the people of a population may lose, and to whom."""
        return await self._run(self._core.population(name))

    async def set_population(self, name: str, limit: float | None = None) -> Population:
        """Make a population, or change its limit (needs an admin's key)."""
        return await self._run(self._core.set_population(name, limit))

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
        self._own_connections()
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
