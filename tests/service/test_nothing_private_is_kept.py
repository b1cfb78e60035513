"""Planted values are searched for in every byte that is written: database, journals, logs, errors."""

import itertools
import logging
import pathlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from service_helpers import bandit, every_byte, functions, opened

from discreet.errors import StoreError
from discreet.kernel import CostAndItems
from discreet.privacy.grid import DEFAULT_UNITS, Grid
from discreet.service.records import Feedback
from discreet.set_functions import Modular
from postgres_server import running

pytestmark = pytest.mark.process

#: Numbers that nothing else would write.
COST, WEIGHT, BIG = 0.7310585786300049, 0.1234567890123457, 31415926535897.93


def forms(value: float) -> Iterator[bytes]:
    """The ways in which a number might have been written down."""
    for layout in ("<d", ">d", "<f", ">f"):
        yield struct.pack(layout, value)
    yield struct.pack("<d", -value)
    for text in (repr(value), f"{value:.10f}", f"{value:.6g}", f"{value:.8e}"):
        yield text.rstrip("0").encode()
        yield text.encode("utf-16-le")
        yield text.encode().hex().encode()
    yield struct.pack("<d", value).hex().encode()


def grid_forms(value: float, low: float, high: float, units: int = DEFAULT_UNITS) -> Iterator[bytes]:
    """The ways in which its integer on the grid might have been written down.

    Only those of which at least four bytes say something: shorter ones are found by accident.
    """
    number = abs(Grid(low, high, units).of(value))
    for layout in ("<q", ">q"):
        yield struct.pack(layout, -number)
    for layout in ("<d", ">d"):
        yield struct.pack(layout, number)
        yield struct.pack(layout, -number)
    yield f"-{number}".encode()


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    monkeypatch.delenv("DISCREET_ROLLBACK_GUARD", raising=False)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The address of a store, and what gives every byte that is kept of it.

    The PostgreSQL server logs all statements with their parameters, which no sensible one does.
    """
    if request.param == "sqlite":
        yield str(tmp_path / "service.db"), lambda: every_byte(tmp_path)
        return
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", str(tmp_path / "rollback guard"))
    with running() as server, psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")

        def written() -> bytes:
            connection.execute("CHECKPOINT")  # what is in the server's memory comes to the tables' files
            return every_byte(tmp_path) + every_byte(pathlib.Path(server.folder))

        yield server.new_database(), written


def test_no_cost_is_written_anywhere(
    kept: tuple[str, Callable[[], bytes]], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither of bandits nor of functions, told well or badly, while the service is open and after that."""
    address, everything = kept
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    with opened(address) as service:
        bandit(service, cost_range=[0, 1e14])
        functions(service)
        bandit(service, "till", mode="central", method="model", cost_range=[0, 1])
        tills = service.ask("till", 300)
        service.tell("till", [Feedback(each.id, cost=COST) for each in tills[:200]])
        service.maintenance.apply_queued()
        service.tell("till", [Feedback(each.id, cost=COST) for each in tills[200:]])
        parts = {"mode": "central", "method": "model", "cost_range": [0, 1], "item_total": 2.0}
        bandit(service, "parts", **parts)
        brought = [each for each in service.ask("parts", 300) if "tea" in each.subset]
        items = {"tea": WEIGHT, "milk": -COST, "anna-karenina-8": COST}
        for half in (brought[::2], brought[1::2]):
            told_now = [Feedback(each.id, cost=COST, items=items) for each in half]
            shown += [repr(told_now), repr(service.tell("parts", told_now))]
            service.maintenance.apply_queued()
        query = service.registry.named("parts").host.learner.query
        assert isinstance(query, CostAndItems)
        one_more = service.ask("parts", 1)[0]
        service.tell("parts", [Feedback(one_more.id, cost=COST, items=items)])
        choices = service.ask("shop", 30)
        for choice in choices[:10]:
            for value in (COST, BIG, str(COST), {"cost": COST}):
                feedback = Feedback(choice.id, cost=value, person="anna-karenina-7")
                shown += [repr(feedback), repr(service.tell("shop", [feedback]))]
        function = Modular([WEIGHT, -WEIGHT, COST])
        plans = service.ask("plan", 4)
        told: list[Any] = [function, function.to_dict(), {"kind": "Modular", "weights": [COST] * 9}, COST]
        shown.append(
            repr(service.tell("plan", [Feedback(p.id, function=f) for p, f in zip(plans, told, strict=True)]))
        )
        queued = everything()
        service.maintenance.apply_queued()
        shown += [repr(service.learners()), repr(service.history("shop")), repr(service)]
        applied = everything()
        drawn = [bytes.fromhex(choice.id) for choice in choices]
    closed = everything()
    for written in (queued, applied):  # also before anything is closed, journals are searched
        assert all(decision in written for decision in drawn)
    written = queued + applied + closed + caplog.text.encode() + "".join(shown).encode()
    chain = [*function.chain_values([2, 0, 1]).tolist(), WEIGHT, COST]
    for value in {abs(number) for number in chain} - {0.0}:
        for form in (*forms(value), *grid_forms(value, 0, 1)):
            assert form not in written
    of_items = [grid_forms(value, -query.total, query.total, query.most) for value in (WEIGHT, COST)]
    for form in (*forms(BIG), *grid_forms(BIG, 0, 1e14), *itertools.chain(*of_items)):
        assert form not in written
    assert b"anna-karenina" not in written


def test_the_search_would_find_them(tmp_path: pathlib.Path) -> None:
    """A value that is written as it is would be seen."""
    (tmp_path / "file").write_bytes(b"x" + struct.pack("<d", COST) + b"y")
    assert any(form in every_byte(tmp_path) for form in forms(COST))
    (tmp_path / "file").write_bytes(b"x" + struct.pack("<q", Grid(0, 1).of(WEIGHT)) + b"y")
    assert any(form in every_byte(tmp_path) for form in grid_forms(WEIGHT, 0, 1))


def test_a_stolen_database_shows_no_sums(tmp_path: pathlib.Path) -> None:
    """The state of a learner that keeps exact sums is sealed: its arrays are not in any file."""
    with opened(tmp_path / "service.db") as service:
        functions(service)
        choices = service.ask("plan", 3)
        service.tell("plan", [Feedback(c.id, function=Modular([0.25, 0.125, -0.25])) for c in choices])
        service.maintenance.apply_queued()
        hosted = service.registry.named("plan")
        with service._store.reading() as reading:
            ((number, (applied, sealed)),) = reading.sums(hosted.id).items()
            plan = hosted.plan_of(reading.phases(hosted.id, [number])[number])
        sums = hosted.seals.open_sums(hosted.host, number, plan, applied, sealed).sums
        assert sums.any()
        assert sums.tobytes() not in every_byte(tmp_path)
        assert b'"sums"' not in every_byte(tmp_path)


def test_errors_of_a_tell_quote_nothing(tmp_path: pathlib.Path) -> None:
    """Nor do their causes and contexts."""
    with opened(tmp_path / "service.db") as service:
        bandit(service)
        choice = service.ask("shop")[0]
        service._store.close()
        with pytest.raises(StoreError) as caught:
            service.tell("shop", [Feedback(choice.id, cost=COST)])
        error: BaseException | None = caught.value
        while error is not None:
            assert str(COST)[:6] not in str(error) + repr(error)
            error = error.__cause__ or error.__context__
