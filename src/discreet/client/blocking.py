"""The client for ordinary, blocking programs."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self, TypeVar, overload

import httpx

from discreet.client.base import FAILURES, Base, failed, reply_of, request_of
from discreet.client.records import MISSING, Decision, Feedback, Learner, Population
from discreet.client.retrying import Attempt, Pause, Reply, Steps
from discreet.privacy.guarantee import Guarantee

Answer = TypeVar("Answer")


class Client(Base):
    """Learners behind a service. Threads may share a client, and forked processes may continue to use it.

    Every call is retried, with growing pauses, when the service is not reachable, busy or being restarted,
    until the deadline. That is safe: an ask has an id, so a retry gets the same decisions; a tell counts
    once; and a randomised bit is made once and sent again as it is.

    Args:
        url: Of the service: https, or http on this machine.
        key: An API key.
        randomize: Pin epsilon and range, for all learners or by name: only one random bit per cost is sent.
        timeout: Seconds for one attempt.
        deadline: Seconds for all attempts of a call.
        allow_insecure: Whether keys and costs may travel unencrypted to other machines.
        verify: The trusted certificates; httpx's by default.
        proxy: The address of a proxy. The environment's proxies are not used.

    Examples:
        >>> Client("http://127.0.0.1:8710", "discreet_...")
        Client('http://127.0.0.1:8710')
    """

    @overload
    def ask(
        self,
        learner: str,
        count: None = None,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Decision: ...

    @overload
    def ask(
        self,
        learner: str,
        count: int,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> list[Decision]: ...

    def ask(
        self,
        learner: str,
        count: int | None = None,
        available: Iterable[Hashable] | None = None,
        *,
        request_id: str | None = None,
    ) -> Decision | list[Decision]:
        """Choose a set, or a list of `count`.

        Args:
            learner: Its name.
            count: How many; None for a single decision, not in a list.
            available: The items that can be chosen now. Public: never dependent on anybody's feedback.
            request_id: A retry with the same id gets the same decisions, even from another process; random by
                default.
        """
        steps: Steps[Any] = self._operations.ask(learner, count, available, request_id=request_id)
        answer: Decision | list[Decision] = self._run(steps)
        return answer

    def tell(
        self,
        learner: str,
        decision: Decision | str,
        cost: Any = MISSING,
        *,
        released: int | None = None,
        function: Any = MISSING,
        person: str | None = None,
    ) -> None:
        """Tell what a decision cost. It is durable when this returns; telling again changes nothing.

        Args:
            learner: Its name.
            decision: The decision, or its id.
            cost: Bandits: the cost (or reward). Private; anything but a number counts as neutral.
            released: Bandits: instead of a cost, a bit that you randomised; keep it for retries.
            function: Full information: a set function, or its JSON description. Private.
            person: An opaque id: at most `rounds_per_person` tells of one person count.
        """
        self._run(
            self._operations.tell(
                learner, decision, cost, released=released, function=function, person=person
            )
        )

    def tell_many(self, learner: str, feedback: Iterable[Feedback | tuple[Decision | str, Any]]) -> list[str]:
        """Tell what many decisions cost: `Feedback`, or pairs of a decision and a cost.

        Returns:
            A code for each, in order: "accepted", "expired", "unknown_decision", "foreign_decision" or
            "invalid_feedback".
        """
        return self._run(self._operations.tell_many(learner, feedback))

    def create_learner(
        self,
        name: str,
        feedback: str,
        items: int | Sequence[Hashable],
        *,
        epsilon: float,
        cost_range: tuple[float, float],
        **others: Any,
    ) -> Learner:
        """Create a learner (needs an admin key).

        Args:
            name: Letters, digits and ``_.-``.
            feedback: "bandit" or "full_information".
            items: How many, or their names.
            epsilon: The privacy loss of one person, over all their rounds.
            cost_range: Lowest and highest cost or reward.
            **others: maximize, rounds_per_person, start, method, horizon, gradient_bound, population,
                deadline_seconds.
        """
        return self._run(
            self._operations.create_learner(
                name, feedback, items, epsilon=epsilon, cost_range=cost_range, **others
            )
        )

    def learners(self) -> list[Learner]:
        """The latest epoch of every learner."""
        return self._run(self._operations.learners())

    def learner(self, name: str) -> Learner:
        """The public view of a learner."""
        return self._run(self._operations.learner(name))

    def guarantee(self, name: str) -> Guarantee:
        """The privacy guarantee of a learner."""
        return self._run(self._operations.guarantee(name))

    def archive(self, name: str) -> Learner:
        """End a learner (needs an admin key); its loss stays counted."""
        return self._run(self._operations.archive(name))

    def populations(self) -> list[Population]:
        """All populations, and their privacy losses."""
        return self._run(self._operations.populations())

    def population(self, name: str) -> Population:
        """The privacy loss of a population's people, by learner."""
        return self._run(self._operations.population(name))

    def set_population(self, name: str, limit: float | None = None) -> Population:
        """Create a population, or change its limit (needs an admin key)."""
        return self._run(self._operations.set_population(name, limit))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> None:
        self._http = httpx.Client(**self._options())

    def _run(self, steps: Steps[Answer]) -> Answer:
        """Send and sleep as the steps say."""
        self._renew_after_fork()
        try:
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    step = next(steps)
                else:
                    step = steps.send(self._reply(step))
        except StopIteration as done:
            answer: Answer = done.value
            return answer

    def _reply(self, attempt: Attempt) -> Reply:
        try:
            return reply_of(self._http.request(**request_of(attempt)))
        except FAILURES as error:
            return failed(error, self.url)
