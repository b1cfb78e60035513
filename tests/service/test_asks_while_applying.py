"""What an ask waits for, and from which point its sets are drawn."""

import pathlib
from typing import Any

import pytest
from service_helpers import bandit, functions, opened, rounds, told

from discreet.learners.host import Host
from discreet.learners.tickets import INLINE
from discreet.randomness import BitSource
from discreet.service.hosted_learner import HostedLearner, write
from discreet.service.learner_service import LearnerService
from discreet.service.operations import Ask, Report, Tell
from discreet.set_functions import Modular


def next_tickets(hosted: HostedLearner, count: int, seed: int) -> list[bytes]:
    """What will be dealt next from the committed state."""
    twin = Host(hosted.record.settings)
    for host in (twin, hosted.host):
        host._session._coins = BitSource(seed)
    plans = [twin.plan(hosted.state) for _ in range(count)]
    return [twin.dealt(plan, INLINE, 0, None).ticket for plan in plans]


def draws(service: LearnerService, ids: list[str]) -> list[bytes]:
    with service._store.reading() as reading:
        known = reading.decisions(map(bytes.fromhex, ids))
    return [known[bytes.fromhex(each)].draw for each in ids]


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_an_ask_is_drawn_from_the_shown_point(
    backend: str, tmp_path: pathlib.Path, request: pytest.FixtureRequest, key: None
) -> None:
    """Not from one in the making: tells of the same transaction, and before it in line, play no part."""
    where = tmp_path / "service.db" if backend == "sqlite" else request.getfixturevalue("postgres")
    with opened(where) as service:
        bandit(service, items=range(12))
        earlier = service.ask("shop", 200)
        hosted = service.registry.named("shop")
        expected = next_tickets(hosted, 30, 5)
        reports = [Report(bytes.fromhex(choice.id), b"\1", None) for choice in earlier]
        tell = Tell(hosted, reports, [None] * len(reports))
        _, choices = service._committer._perform([tell, Ask(hosted, 30, None, None)])
        assert draws(service, [choice.id for choice in choices]) == expected
        service.maintenance.apply_queued()
        assert service.learner("shop").rounds == 200
        assert next_tickets(hosted, 30, 5) != expected


@pytest.mark.parametrize(
    ("make", "feedback"), [(bandit, {"released": 1}), (functions, {"function": Modular([0.5, 0, 0])})]
)
def test_an_ask_does_not_wait_for_an_update(
    postgres: str, key: None, make: Any, feedback: dict[str, Any]
) -> None:
    """On PostgreSQL: asks are answered while a transaction here or elsewhere updates the learner."""
    with opened(postgres) as service:
        make(service, "slow")
        told(service, "slow", service.ask("slow", 50), **feedback)
        hosted = service.registry.named("slow")
        with service._store.writing() as writing:
            update = writing.start_update(hosted.id)
            assert update is not None
            write(writing, {hosted: hosted.apply_queued(writing, update)})
            chosen = service.submit_ask("slow", 30).result(20)  # the update is not committed yet
            assert len(chosen) == 30
        service.maintenance.refresh()
        assert rounds(service, "slow") == 50
