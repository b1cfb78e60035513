"""Many calls at a time share few connections."""

import asyncio
import concurrent.futures
import threading
import time
from typing import Any

import httpx2
import pytest
from small_server import SmallServer

from discreet import AsyncClient, Client
from discreet.client import Unreachable, retrying
from running_service import RunningService


def at_a_time(kind: str, url: str, key: str, count: int, **options: Any) -> list[BaseException | None]:
    """So many pairs of an ask and a tell, and what went wrong with each."""

    async def tasks() -> list[BaseException | None]:
        async with AsyncClient(url, key, **options) as client:

            async def pair() -> None:
                await client.tell("shop", await client.ask("shop"), 0.3)

            return await asyncio.gather(*(pair() for _ in range(count)), return_exceptions=True)

    if kind == "async":
        return asyncio.run(tasks())
    with Client(url, key, **options) as client, concurrent.futures.ThreadPoolExecutor(count) as pool:
        pairs = [pool.submit(lambda: client.tell("shop", client.ask("shop"), 0.3)) for _ in range(count)]
        return [pair.exception() for pair in pairs]


def pair_of(method: str, path: str, body: Any) -> Any:
    """What the service answers to an ask, or to a tell."""
    return {"code": "accepted"} if path.endswith("/tell") else {"decisions": [{"id": "d", "subset": []}]}


kinds = pytest.mark.parametrize(("kind", "count"), [("async", 500), ("threads", 100)])


@kinds
def test_five_hundred_pairs_at_a_time(service: RunningService, kind: str, count: int) -> None:
    """All are answered and counted."""
    with Client(service.url, service.key) as admin:
        if "shop" not in {each.name for each in admin.learners()}:
            admin.create_learner("shop", "bandit", 3, epsilon=1.0, cost_range=(0, 1))
        before = admin.learner("shop").counts
        assert at_a_time(kind, service.url, service.key, count) == [None] * count
        after = admin.learner("shop").counts
    assert (after.asked - before.asked, after.told - before.told) == (count, count)


@kinds
def test_connections_are_few(kind: str, count: int) -> None:
    """At most 32, each used again and again, however many calls wait."""
    with SmallServer(pair_of) as server:
        assert at_a_time(kind, server.url, "key", count) == [None] * count
        assert len(server.requests) >= 2 * count
        assert server.most_open <= 32


@pytest.fixture
def one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "_CONNECTIONS", httpx2.Limits(max_connections=1))


@pytest.mark.usefixtures("one_connection")
@pytest.mark.parametrize("kind", ["async", "threads"])
def test_waiting_for_a_connection_is_no_failure(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it takes longer than an attempt may: 40 calls of 20 ms share one connection."""
    reasons = []
    failure = retrying.failure

    def noted(error: Exception) -> retrying.Failure:
        reasons.append(failure(error).reason)
        return failure(error)

    def slowly(*request: Any) -> Any:
        time.sleep(0.02)
        return pair_of(*request)

    monkeypatch.setattr(retrying, "failure", noted)
    with SmallServer(slowly) as server:
        assert at_a_time(kind, server.url, "key", 40, timeout=0.25) == [None] * 40
    assert "all connections are in use" not in reasons


@pytest.mark.usefixtures("one_connection")
@pytest.mark.parametrize("kind", ["async", "threads"])
def test_waiting_for_a_connection_ends_with_the_deadline(kind: str) -> None:
    """A service that does not answer holds nobody for longer, waiting or sent."""
    held = threading.Event()

    def never(*_: Any) -> int:
        held.wait()
        return 500

    with SmallServer(never) as server:
        ended = at_a_time(kind, server.url, "key", 5, timeout=200, deadline=0.5)
        held.set()
    assert [type(each) for each in ended] == [Unreachable] * 5
