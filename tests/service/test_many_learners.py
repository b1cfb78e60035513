"""Ten thousand learners: work grows with what is used, not with how many there are."""

import contextlib
import gc
import json
import pathlib
import secrets
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from service_helpers import DAY, Clock, bandit, opened, told

from discreet.errors import InvalidArgument
from discreet.learners.host import Host
from discreet.service.learner_service import LearnerService
from discreet.service.maintenance import REMEMBERED
from discreet.service.records import Code
from discreet.service.sealing import Seals
from discreet.storage import tables

MANY = 10_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A store of many learners that nobody has asked, written in one transaction."""
    path = tmp_path_factory.mktemp("many")
    arguments = {"epsilon": 1.0, "cost_range": [0, 1], "mode": "local", "method": "worst-case"}
    learner = Host({"kind": "bandit", "items": ["tea", "milk"], "arguments": arguments})
    common = {
        "epoch": 1,
        "settings": json.dumps(learner.settings),
        "population": None,
        "epsilon": 1.0,
        "deadline": 60.0,
        "secret": False,
        "created_at": 5,
        "status": "active",
        "generation": 0,
    }
    rows = []
    with opened(path / "shop.db") as service, service._store.writing() as writing:
        for k in range(MANY):
            lineage = secrets.token_hex(16)
            state = Seals(service._ring, lineage).state(0, learner.encode(learner.start()))
            rows.append(common | {"name": f"till-{k:05}", "lineage": lineage, "state": state})
        writing.connection.execute(sa.insert(tables.learners), rows)  # type: ignore[attr-defined]
    return path


@pytest.fixture
def service(folder: pathlib.Path, clock: Clock) -> Iterator[LearnerService]:
    with opened(folder / "shop.db", clock) as found:
        yield found


@contextlib.contextmanager
def statements(service: LearnerService) -> Iterator[list[str]]:
    """The statements that are sent to the database."""
    found: list[str] = []
    store = service._store

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            found.append(statement)

    for engine in (store._reader, store._writer):
        sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        for engine in (store._reader, store._writer):
            sa.event.remove(engine, "before_cursor_execute", note)


def in_memory(service: LearnerService) -> int:
    """How many learners have been made and are held."""
    gc.collect()
    return len(service.registry._made)


def test_a_page_takes_three_statements_and_keeps_nothing(service: LearnerService) -> None:
    """Whatever the number of learners; opening the store makes none of them."""
    assert in_memory(service) == 0
    with statements(service) as sent:
        page = service.page(limit=50, after="till-04999")
    assert [view.name for view in page.learners] == [f"till-{k:05}" for k in range(5000, 5050)]
    assert page.next == "till-05049"
    assert len(sent) == 3
    assert in_memory(service) == 0
    with statements(service) as sent:
        assert service.learner("till-00007").rounds == 0
    assert len(sent) <= 4


def test_pages_end(service: LearnerService) -> None:
    """With all names seen once, in order; a search finds parts of names."""
    last = service.page(limit=3, after="till-09996")
    assert ([view.name for view in last.learners], last.next) == ([f"till-0999{k}" for k in (7, 8, 9)], "")
    found = service.page(search="L-0123")
    assert ([view.name for view in found.learners], found.next) == (
        [f"till-0123{k}" for k in range(10)],
        "",
    )
    assert service.page(search="l_0").learners == ()  # not a pattern
    assert [view.name for view in service.page(names=["till-00001", "nobody"]).learners] == ["till-00001"]
    assert service.page(search="100 %").learners == ()
    for wrong in ({"after": "\0"}, {"limit": 0}, {"limit": 1001}):
        with pytest.raises(InvalidArgument):
            service.page(**wrong)  # type: ignore[arg-type]


def test_idle_learners_cost_nothing(service: LearnerService, clock: Clock) -> None:
    """Ten rounds of everything that the background thread does are a few statements, and make no learner."""
    service.maintenance.expire()
    with statements(service) as sent:
        for _ in range(10):
            service.maintenance.refresh()
            service.maintenance.apply_queued()
            service.maintenance.expire()
            clock.now += 5_000
    assert len(sent) <= 40
    with statements(service) as sent:
        assert service.maintenance.compact() == 0
    assert len(sent) <= 10
    assert in_memory(service) == 0


def test_work_is_done_for_those_who_have_some(service: LearnerService, clock: Clock) -> None:
    """One learner among many is asked and told, expires and is compacted, and only that one is made."""
    service.maintenance.expire()
    choices = service.ask("till-00042", 3)
    assert told(service, "till-00042", choices[:1], cost=0.3) == [Code.ACCEPTED]
    clock.now += 61_000
    with statements(service) as sent:
        assert service.maintenance.expire() == 2
    assert len(sent) < 30
    assert service.maintenance.apply_queued() == 2
    assert service.learner("till-00042").rounds == 3
    clock.now += round(1000 * REMEMBERED) + DAY
    with statements(service) as sent:
        assert service.maintenance.compact() == 3
    assert len(sent) < 20
    assert in_memory(service) == 1


def test_what_another_process_left_open_expires(tmp_path: pathlib.Path) -> None:
    """A process that has never used a learner closes its decisions, too."""
    clock = Clock()
    with opened(tmp_path / "shop.db", clock) as service:
        bandit(service, deadline_seconds=60)
        service.ask("shop", 2)
    with opened(tmp_path / "shop.db", clock) as service:
        assert service.maintenance.expire() == 0
        clock.now += 61_000
        assert service.maintenance.expire() == 2
