"""The client for programs that wait for their answers."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self, TypeVar, overload

import httpx

from discreet.client.operations import FAILURES, Base, failed, reply_of, request_of
from discreet.client.records import MISSING, Decision, Feedback, Learner, Population
from discreet.client.retrying import Attempt, Pause, Reply, Steps
from discreet.privacy.guarantee import Guarantee

Answer = TypeVar("Answer")


class Client(Base):
    """Learners behind a service. Threads may share a client, and forked processes may go on with it.

    Every call is tried again, with growing pauses, when the service is not reached, is busy or is being
    restarted, until the deadline. That is safe: an ask is named, so a retry gets the same decisions; a tell
    counts once; and a randomised bit is made once and sent again as it is.

    Args:
        url: Of the service: https, or http on this very machine.
        key: A bearer key.
        randomize: Pin epsilon and range, for all learners or by name: of each cost only a bit is sent.
        timeout: Seconds for one attempt.
        deadline: Seconds for a call with all its attempts.
        allow_insecure: Whether keys and costs may travel unencrypted to other machines.
        verify: The certificates that are trusted; httpx's by default.
        proxy: The address of a proxy. Those that the environment names are not used.

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
            count: How many; None for one that is not in a list.
            available: The items that can be chosen now. Public: never dependent on anybody's feedback.
            request_id: Names the request; random by default. One that you keep gives the same decisions
                even to another process.
        """
        answer: Decision | list[Decision] = self._run(self._core.ask(learner, count, available, request_id))
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
        """Say what happened after a decision. It is durable when this returns; telling again changes nothing.

        Args:
            learner: Its name.
            decision: The decision, or its id.
            cost: Bandits: what it cost (or brought in). Private; whatever is no number counts as neutral.
            released: Bandits: instead of a cost, a bit that you randomised; keep it, and send it again.
            function: Full information: a set function, or its JSON description. Private.
            person: An opaque id: only so many tells of one person count.
        """
        feedback = Feedback(decision, cost, released=released, function=function, person=person)
        self._run(self._core.tell(learner, feedback))

    def tell_many(self, learner: str, feedback: Iterable[Feedback | tuple[Decision | str, Any]]) -> list[str]:
        """Say what happened after many decisions: `Feedback`, or pairs of a decision and a cost.

        Returns:
            A code for each, in order: "accepted", "expired", "unknown_decision", "foreign_decision" or
            "invalid_feedback".
        """
        return self._run(self._core.tell_many(learner, feedback))

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
        """Make a learner (needs an admin's key).

        Args:
            name: Letters, digits and ``_.-``.
            feedback: "bandit" or "full_information".
            items: How many, or their names.
            epsilon: What one person may lose, in all their rounds.
            cost_range: Lowest and highest cost or reward.
            **others: maximize, rounds_per_person, start, method, horizon, gradient_bound, population,
                deadline_seconds.
        """
        settings = {"feedback": feedback, "items": items, "epsilon": epsilon, "cost_range": cost_range}
        return self._run(self._core.create_learner(name, settings | others))

    def learners(self) -> list[Learner]:
        """The latest epoch of every learner."""
        return self._run(self._core.learners())

    def learner(self, name: str) -> Learner:
        """What may be shown of a learner."""
        return self._run(self._core.learner(name))

    def guarantee(self, name: str) -> Guarantee:
        """What is promised to each person."""
        return self._run(self._core.guarantee(name))

    def archive(self, name: str) -> Learner:
        """End a learner (needs an admin's key); its loss stays counted."""
        return self._run(self._core.archive(name))

    def populations(self) -> list[Population]:
        """All populations, and what their people may lose."""
        return self._run(self._core.populations())

    def population(self, name: str) -> Population:
        """What the people of a population may lose, and to whom."""
        return self._run(self._core.population(name))

    def set_population(self, name: str, limit: float | None = None) -> Population:
        """Make a population, or change its limit (needs an admin's key)."""
        return self._run(self._core.set_population(name, limit))

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
        self._own_connections()
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
