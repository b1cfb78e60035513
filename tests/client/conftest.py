"""A real service for the tests of clients, and both kinds of clients of it."""

import asyncio
import itertools
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from discreet import AsyncClient, Client
from running_service import RunningService

_numbers = itertools.count()


class Awaited:
    """An `AsyncClient` whose methods are called like those of a `Client`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self.client = AsyncClient(*arguments, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)
        return lambda *arguments, **options: self._runner.run(method(*arguments, **options))

    def close(self) -> None:
        self._runner.run(self.client.close())
        self._runner.close()


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder: pathlib.Path = tmp_path_factory.mktemp("service")
    with RunningService(folder) as running:
        yield running


@pytest.fixture(params=[Client, Awaited], ids=["sync", "async"])
def connect(request: pytest.FixtureRequest, service: RunningService) -> Iterator[Callable[..., Any]]:
    """Makes clients of the service; with other arguments if need be."""
    made = []

    def connected(url: str | None = None, key: str | None = None, **options: Any) -> Any:
        made.append(request.param(url or service.url, key or service.key, **options))
        return made[-1]

    yield connected
    for client in made:
        client.close()


@pytest.fixture
def client(connect: Callable[..., Any]) -> Any:
    return connect()


@pytest.fixture
def shop(service: RunningService) -> Callable[..., str]:
    """Makes learners, each under a new name."""

    def made(**settings: Any) -> str:
        wanted = {
            "epsilon": 1.0,
            "cost_range": (0, 1),
            "items": ["tea", "milk", "rice"],
            "feedback": "bandit",
        }
        wanted |= settings
        if wanted["feedback"] == "bandit":
            wanted = {"mode": "local", "method": "worst-case"} | wanted
        name = f"shop{next(_numbers)}"
        with Client(service.url, service.key) as admin:
            admin.create_learner(name, wanted.pop("feedback"), wanted.pop("items"), **wanted)
        return name

    return made
