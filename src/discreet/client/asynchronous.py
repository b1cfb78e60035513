"""The client for asynchronous programs. `Client` runs the same operations."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Self, overload

from .. import arguments
from ..privacy.guarantee import Guarantee, Neighbours
from .errors import ServiceError, error_for
from .records import MISSING, ApiKey, Decision, Feedback, History, Learner, Population
from .retrying import Answer, Connected
from .telling import as_feedback, grouped, json_bytes

#: Learners in one response.
_PAGE = 500


class AsyncClient(Connected):
    """Learners behind a service, for asynchronous programs. `Client` has the same methods and blocks.

    Every call is retried, with growing pauses, when the service is not reachable, busy or being restarted,
    until the deadline. That is safe: an ask has an id, so a retry gets the same decisions; a tell counts
    once; and a randomised bit is made once and sent again as it is.

    Any number of tasks (or threads) may call at a time: they share at most 32 connections.

    Args:
        url: Of the service: https, or http on this machine.
        key: An API key; or the `token` of a decision, which can only tell about it.
        randomize: Pin epsilon and range, for all learners or by name: only one random bit per cost is sent.
        timeout: Seconds for one attempt, once it has a connection.
        deadline: Seconds for all attempts of a call, with the waiting before and between them.
        allow_insecure: Whether keys and costs may travel unencrypted to other machines.
        verify: The trusted certificates; the system's by default.
        proxy: The address of a proxy. The environment's proxies are not used.

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
        tokens: bool = False,
        request_id: str | None = None,
    ) -> Decision: ...

    @overload
    async def ask(
        self,
        learner: str,
        count: int,
        available: Iterable[Hashable] | None = None,
        *,
        tokens: bool = False,
        request_id: str | None = None,
    ) -> list[Decision]: ...

    async def ask(
        self,
        learner: str,
        count: int | None = None,
        available: Iterable[Hashable] | None = None,
        *,
        tokens: bool = False,
        request_id: str | None = None,
    ) -> Any:
        """Choose a set, or a list of `count`.

        Args:
            learner: Its name.
            count: How many; None for a single decision, not in a list.
            available: The items that can be chosen now. Public: never dependent on anybody's feedback.
            tokens: Whether each decision has a `token`, with which a device can tell about it, and do nothing
                else: ``Client(url, decision.token).tell(learner, decision.id, cost)``.
            request_id: A retry with the same id gets the same decisions, even from another process; random by
                default.
        """
        wanted = _given(
            count=1 if count is None else arguments.integer("ask", "count", count, 1),
            request_id=secrets.token_hex(16) if request_id is None else request_id,
            available=None if available is None else list(available),
            tokens=tokens or None,
        )
        read = _listed("decisions", lambda each: Decision.read(each | {"learner": learner}), wanted["count"])
        decisions = await self._answer(read, "POST", "learners", learner, "ask", body=json_bytes(wanted))
        return decisions[0] if count is None else decisions

    async def tell(
        self,
        learner: str,
        decision: Decision | str,
        cost: Any = MISSING,
        *,
        items: Mapping[Any, Any] | None = None,
        released: int | None = None,
        function: Any = MISSING,
        person: str | None = None,
    ) -> None:
        """Tell what a decision cost. It is durable when this returns; telling again changes nothing.

        Besides the learner's name, the arguments are those of `Feedback`.
        """
        feedback = Feedback(decision, cost, items=items, released=released, function=function, person=person)
        body = (await self._telling.written(learner, [feedback]))[0]
        await self._answer(_accepted, "POST", "learners", learner, "tell", body=body, quote=False)

    async def tell_many(
        self,
        learner: str,
        feedback: Iterable[
            Feedback | tuple[Decision | str, Any] | tuple[Decision | str, Any, Mapping[Any, Any]]
        ],
    ) -> list[str]:
        """Tell what many decisions cost: `Feedback`, or pairs of a decision and a cost, or these and items.

        Returns:
            A code for each, in order: "accepted", "expired", "unknown_decision", "foreign_decision" or
            "invalid_feedback".
        """
        listed = [as_feedback(each) for each in feedback]
        functions = any(each.function is not MISSING for each in listed)
        codes: list[str] = []
        for group in grouped(await self._telling.written(learner, listed), functions=functions):
            body, read = b"[" + b",".join(group) + b"]", _listed("codes", str, len(group))
            codes += await self._answer(read, "POST", "learners", learner, "tell", body=body, quote=False)
        return codes

    async def create_learner(
        self,
        /,
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
            **others: mode, method, holdout (``{"share": 0.1, "set": [...]}``), maximize, at_most, at_least,
                required, forbidden, groups, rounds_per_person, delta, policy, forget, item_total, horizon,
                population, deadline_seconds.
        """
        given = {"name": name, "feedback": feedback, "items": items, "epsilon": epsilon}
        wanted = _given(cost_range=cost_range, **given, **others)
        try:
            return await self._answer(Learner.read, "POST", "learners", body=json_bytes(wanted))
        except ServiceError as error:
            if error.code != "already_exists" or error.attempts == 1:
                raise
            taken = error
        found = await self._learner(name)  # it may have been made by an attempt whose response was lost
        if found.counts.asked == 0 and _fits(dataclasses.asdict(found), wanted):
            return found
        raise error_for(taken.code, "", taken.status, taken.attempts)

    async def learners(self, search: str | None = None) -> list[Learner]:
        """The latest epoch of every learner, or of those whose names contain `search`."""
        query, found = _given(limit=_PAGE, search=search), []
        while True:
            page, more = await self._answer(_page, "GET", "learners", **query)
            found += page
            if not more:
                return found
            query["after"] = page[-1].name

    async def learner(self, name: str) -> Learner:
        """The public view of a learner."""
        return await self._learner(name)

    async def history(self, name: str) -> list[History]:
        """What a learner was like, from its start on."""
        return await self._answer(_listed("history", History.read), "GET", "learners", name, "history")

    async def guarantee(self, name: str) -> Guarantee:
        """The privacy guarantee of a learner."""
        return await self._answer(_guarantee, "GET", "learners", name, "guarantee")

    async def change_items(
        self, name: str, *, add: Sequence[Hashable] = (), retire: Sequence[Hashable] = ()
    ) -> Learner:
        """Add items to a running learner, or retire some (needs an admin key).

        It goes on with what it learned, and with the same budget; see `BanditLearner.change_items`.
        """
        body = json_bytes({"add": list(add), "retire": list(retire)})
        try:
            return await self._answer(Learner.read, "POST", "learners", name, "items", body=body)
        except ServiceError as error:
            if error.code != "invalid_request" or error.attempts == 1:
                raise
            refused = error
        found = await self._learner(name)  # they may be those of an attempt whose response was lost
        offered = set(found.items) - set(found.retired)
        if offered.issuperset(add) and offered.isdisjoint(retire):
            return found
        raise error_for(refused.code, refused.args[0], refused.status, refused.attempts)

    async def restart(self, name: str) -> Learner:
        """Begin the next epoch of a learner, with what it learned (needs an admin key).

        Its epsilon is spent again, so this is tried once: after `Unreachable`, look at the learner's epoch.
        """
        return await self._answer(Learner.read, "POST", "learners", name, "restart", once=True)

    async def archive(self, name: str) -> Learner:
        """End a learner (needs an admin key); its loss stays counted."""
        return await self._answer(Learner.read, "POST", "learners", name, "archive")

    async def populations(self) -> list[Population]:
        """All populations, and their privacy losses."""
        return await self._answer(_listed("populations", Population.read), "GET", "populations")

    async def population(self, name: str) -> Population:
        """The privacy loss of a population's people, by learner."""
        return await self._answer(Population.read, "GET", "populations", name)

    async def set_population(self, name: str, limit: float | None = None) -> Population:
        """Create a population, or change its limit (needs an admin key)."""
        body = json_bytes({"limit": limit})
        return await self._answer(Population.read, "PUT", "populations", name, body=body)

    async def keys(self) -> list[ApiKey]:
        """The API keys that are not revoked (needs an admin key, as all that follows)."""
        return await self._answer(_listed("keys", ApiKey.read), "GET", "keys")

    async def create_key(
        self, role: str, label: str = "", learners: Iterable[str] | None = None, expires_at: int | None = None
    ) -> ApiKey:
        """Create an API key. The arguments are attributes of `ApiKey`.

        Only this answer has the key, so it is tried once: revoke one whose answer was lost.
        """
        only = None if learners is None else list(learners)
        wanted = _given(role=role, label=label, learners=only, expires_at=expires_at)
        return await self._answer(ApiKey.read, "POST", "keys", body=json_bytes(wanted), once=True)

    async def revoke_key(self, key_id: str) -> None:
        """Revoke an API key."""
        try:
            await self._answer(ApiKey.read, "DELETE", "keys", key_id)
        except ServiceError as error:
            if error.code != "not_found" or error.attempts == 1:
                raise  # otherwise an attempt has revoked it whose response was lost

    async def close(self) -> None:
        """Close the connections."""
        await self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _fits(shown: Any, wanted: Any) -> bool:
    """Whether something has the settings that were wanted, as far as it shows them."""
    if isinstance(shown, Mapping) and isinstance(wanted, Mapping):
        return all(name not in shown or _fits(shown[name], each) for name, each in wanted.items())
    if isinstance(shown, tuple | frozenset):
        return shown == (tuple(range(wanted)) if isinstance(wanted, int) else type(shown)(wanted))
    return bool(shown == wanted)


# Readers of responses. Whatever they raise means that the response is not of this service.


def _listed(
    name: str, read: Callable[[Any], Answer], count: int | None = None
) -> Callable[[Any], list[Answer]]:
    def reader(shown: Any) -> list[Answer]:
        if count not in (None, len(shown[name])):
            raise ValueError
        return [read(each) for each in shown[name]]

    return reader


def _page(shown: Any) -> tuple[list[Learner], bool]:
    found = _listed("learners", Learner.read)(shown)
    return found, bool(found) and shown.get("next") is not None


def _accepted(shown: Any) -> None:
    if shown["code"] != "accepted":
        raise ValueError


def _guarantee(shown: Any) -> Guarantee:
    known = {each.name: shown[each.name] for each in dataclasses.fields(Guarantee) if each.name in shown}
    return Guarantee(**known | {"neighbours": Neighbours(known["neighbours"])})
