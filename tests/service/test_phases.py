"""Learners with phases: sums are sealed until they are released, once, at a public moment."""

import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from service_helpers import Clock, opened, rounds, told
from test_stale_backups import backup

from discreet.errors import StaleState, StoreError
from discreet.learners.host import Host
from discreet.learners.tickets import phase_of
from discreet.randomness import BitSource
from discreet.service.batch import Batch
from discreet.service.learner_service import LearnerService
from discreet.service.records import Choice, Code, Feedback
from discreet.set_functions import Modular
from discreet.storage import tables
from discreet.storage.writing import Writing

HOUR = 3_600_000
ITEMS = ["tea", "milk", "rice", "salt"]
#: Kind and arguments of learners with phases.
LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("bandit", {"mode": "central"}),
    ("bandit", {"mode": "local"}),
    ("bandit", {"mode": "central", "method": "worst-case"}),
    ("full_information", {"method": "choose"}),
    ("full_information", {"method": "leader"}),
]


def made(service: LearnerService, kind: str = "bandit", **arguments: Any) -> None:
    given = {"epsilon": 1.0, "cost_range": [0, 1]} | arguments
    service.create("shop", kind, ITEMS, given)


def feedback(service: LearnerService, choice: Choice, cost: float = 0.5) -> Feedback:
    if service.registry.named("shop").host.whole:
        return Feedback(choice.id, function=Modular([0.25, -0.25, 0.125, 0.0]))
    return Feedback(choice.id, cost=cost)


def play(service: LearnerService, count: int, missing: int = 0) -> None:
    """Ask so often, and tell about all but a few."""
    choices = service.ask("shop", count)
    outcomes = service.tell("shop", [feedback(service, each) for each in choices[missing:]])
    assert all(outcome.accepted for outcome in outcomes)


def maintain(service: LearnerService) -> None:
    service.maintenance.expire()
    service.maintenance.apply_queued()


@pytest.mark.parametrize("missing", [0, 3])
@pytest.mark.parametrize(("kind", "arguments"), LEARNERS, ids=str)
def test_phases_close_when_their_last_deadline_has_passed(
    tmp_path: pathlib.Path, clock: Clock, kind: str, arguments: dict[str, Any], missing: int
) -> None:
    """Whoever has told by then: nothing of a central phase is released before, even if everybody has told.

    Bits are no secret any more: local phases close when they are all there.
    """
    with opened(tmp_path / "service.db", clock) as service:
        made(service, kind, **arguments)
        local = service.registry.named("shop").host.local
        for _ in range(6):
            play(service, 100, missing)
            maintain(service)
            assert local or service.learner("shop").rounds == 0
        clock.now += HOUR - 1
        maintain(service)
        assert local or service.learner("shop").rounds == 0
        clock.now += 1000
        maintain(service)
        assert service.learner("shop").rounds > 0
        assert rounds(service) == 600
        counts = service.learner("shop").counts
        assert (counts.asked, counts.told, counts.expired) == (600, 600 - 6 * missing, 6 * missing)
        assert service.history("shop")[-1].rounds == service.learner("shop").rounds


def test_local_phases_do_not_wait(address: str, clock: Clock) -> None:
    """They close when all is told; decisions that nobody tells about hold up theirs until the deadline."""
    with opened(address, clock) as service:
        made(service, mode="local")
        choices = service.ask("shop", 400)
        told(service, "shop", choices[:-1], cost=0.5)
        maintain(service)
        first = service.learner("shop").rounds
        assert 0 < first < 400
        last = {phase_of(record.draw) for record in records(service, choices[-1:])}
        assert last.isdisjoint(phases_closed(service))
        clock.now += HOUR + 1
        maintain(service)
        assert told(service, "shop", choices[-1:], cost=0.5) == [Code.EXPIRED]
        assert rounds(service) == 400


def records(service: LearnerService, choices: list[Choice]) -> list[Any]:
    with service._store.reading() as reading:
        known = reading.decisions([bytes.fromhex(each.id) for each in choices])
    return [known[bytes.fromhex(each.id)] for each in choices]


def phases_closed(service: LearnerService) -> set[int]:
    hosted = service.registry.named("shop")
    with service._store.reading() as reading:
        found = reading.phases(hosted.id, range(100))
    return {number for number in range(100) if number not in found or found[number].total == 0}


def test_a_sum_is_released_once_by_two_processes(postgres: str, tmp_path: pathlib.Path) -> None:
    """Both draw noise for a phase; what one of them commits is what both show, and the other is dropped."""
    key, clock = tmp_path / "key", Clock()
    with opened(postgres, clock, key_file=key) as one, opened(postgres, clock, key_file=key) as two:
        made(one)
        choices = one.ask("shop", 50) + two.ask("shop", 150)  # they deal the same phases
        places = [(phase_of(record.draw), record.subset) for record in records(one, choices)]
        told(two, "shop", choices, cost=0.25)
        one.maintenance.apply_queued()
        clock.now += HOUR + 1
        first, second = one.registry.named("shop"), two.registry.named("shop")
        with one._store.reading() as reading:
            ((_, number, _), *_) = reading.complete_phases()
            mine, theirs = first.close(reading, number), second.close(reading, number)
        assert mine is not None
        assert theirs is not None
        assert first.host.encode(mine.state) != second.host.encode(theirs.state)  # other noise
        two.maintenance.apply_queued()
        one.maintenance.apply_queued()
        one.maintenance.refresh()
        assert first.generation == second.generation == first.host.releases(first.state) > 0
        assert first.host.encode(first.state) == second.host.encode(second.state)
        assert rounds(one) == rounds(two) == 200
    plan = {phase: sum(each == phase for each, _ in places) for phase, _ in places}
    assert sum(plan.values()) == 200
    assert all(number >= 0 for number in plan)


def test_phases_deal_what_was_planned_whoever_asks(postgres: str, tmp_path: pathlib.Path) -> None:
    """Two processes that ask in turn deal each round of a phase once."""
    key = tmp_path / "key"
    with opened(postgres, key_file=key) as one, opened(postgres, key_file=key) as two:
        made(one)
        choices = [choice for k in range(40) for choice in (one, two)[k % 2].ask("shop", 1 + k % 3)]
        hosted = one.registry.named("shop")
        by_phase: dict[int, list[int]] = {}
        for record in records(one, choices):
            ticket = __import__("discreet.learners.tickets", fromlist=["_"]).StoredTicket.decode(
                record.draw, 4
            )
            by_phase.setdefault(ticket.phase, []).append(ticket.slot)
        with one._store.reading() as reading:
            found = reading.phases(hosted.id, by_phase)
        for number, slots in by_phase.items():
            plan = hosted.plan_of(found[number])
            assert slots == plan.deck[: len(slots)].tolist()
            assert found[number].dealt == len(slots)


def test_items_can_be_switched_off_within_a_phase(address: str, clock: Clock) -> None:
    """Sets of the phase that fit are dealt, others are planned beside it; it goes on afterwards."""
    with opened(address, clock) as service:
        made(service)
        choices = service.ask("shop", 30) + service.ask("shop", 40, available=["tea", "milk"])
        assert all(set(each.subset) <= {"tea", "milk"} for each in choices[30:])
        choices += service.ask("shop", 400)
        assert {item for each in choices for item in each.subset} == set(ITEMS)
        told(service, "shop", choices, cost=0.5)
        maintain(service)
        assert rounds(service) == 470


@pytest.mark.parametrize("mode", ["central", "local"])
def test_an_old_backup_is_not_continued(tmp_path: pathlib.Path, mode: str) -> None:
    """Once a phase was released after it, or bits were; one in which nothing was released since goes on."""
    path, clock = tmp_path / "service.db", Clock()
    with opened(path, clock) as service:
        made(service, mode=mode)
        play(service, 30)
        maintain(service)
    copy = backup(path)
    with opened(path, clock) as service:
        assert service.learner("shop").status == "active"
        play(service, 200)
        clock.now += HOUR + 1
        maintain(service)
        assert service.learner("shop").rounds > 0
    shutil.copy(copy, path)
    with opened(path, clock) as service:
        assert service.learner("shop").status == "stale"
        with pytest.raises(StaleState):
            service.ask("shop")
        service.restart("shop")
        play(service, 30)
        assert service.learner("shop").status == "active"


def test_open_sums_go_on_after_a_restart_of_the_service(address: str, clock: Clock) -> None:
    """They are exact, and are released once."""
    with opened(address, clock) as service:
        made(service)
        play(service, 10)
        maintain(service)
    with opened(address, clock) as service:
        choices = service.ask("shop", 10)
        service.tell("shop", [Feedback(each.id, cost=1.0) for each in choices])
    with opened(address, clock) as service:
        maintain(service)
        hosted = service.registry.named("shop")
        with service._store.reading() as reading:
            ((number, (applied, sealed)),) = reading.sums(hosted.id).items()
            plan = hosted.plan_of(reading.phases(hosted.id, [number])[number])
        sums = hosted.seals.open_sums(hosted.host, number, plan, applied, sealed)
        assert applied == 20
        assert sums.sums.sum() * hosted.host.learner.query.bound.step == pytest.approx(10 * 0.5)
        service.archive("shop")
        with service._store.reading() as reading:
            assert reading.applied(hosted.id) == 0  # never released


def test_a_failed_commit_releases_nothing(
    address: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sums stay, and are released by the next try; what was drawn for them before is not shown."""
    with opened(address, clock) as service:
        made(service)
        play(service, 300)
        clock.now += HOUR + 1000
        put = Writing.put_states

        def fail(self: Writing, states: Mapping[int, tuple[int, bytes]]) -> None:
            put(self, states)
            raise StoreError("the disk is full")

        monkeypatch.setattr(Writing, "put_states", fail)
        maintain(service)
        assert (service.learner("shop").rounds, rounds(service)) == (0, 300)
        monkeypatch.undo()
        maintain(service)
        assert service.learner("shop").rounds > 0
        assert rounds(service) == 300


def test_a_bit_is_remembered_until_it_is_committed(
    address: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told again after a failed commit, a cost gets the same bit: two would say more about it.

    64 decisions at the middle of the range: drawn anew, all would agree once in 2^64 runs.
    """
    with opened(address, clock) as service:
        made(service, mode="local", method="worst-case")
        choices, hosted = service.ask("shop", 64), service.registry.named("shop")
        run = Batch.run

        def fail(self: Batch, operations: Any) -> Any:
            run(self, operations)
            raise StoreError("the disk is full")

        monkeypatch.setattr(Batch, "run", fail)
        with pytest.raises(StoreError):
            told(service, "shop", choices, cost=0.5)
        drawn = dict(hosted.drawn._drawn)
        assert drawn.keys() == {bytes.fromhex(each.id) for each in choices}
        monkeypatch.undo()
        told(service, "shop", choices[::-1], cost=0.5)
        assert not hosted.drawn._drawn
        service.maintenance.apply_queued()
        counts = service.learner("shop").counts
        assert counts.ones == b"".join(drawn.values()).count(1)
        settings = service.registry.named("shop").record.settings
        host, told_about = Host(settings), records(service, choices)
        bits = [drawn[record.id] for record in told_about]
        replay, _ = host.apply(host.start(), [record.draw for record in told_about], bits)
        assert host.encode(replay) == host.encode(hosted.state)


def test_a_phase_of_a_database_that_went_back_is_not_released_again(
    tmp_path: pathlib.Path, clock: Clock
) -> None:
    """Also if that happens while the service has it open: the rollback guard knows of the first release."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service)
        play(service, 200)
        service.maintenance.apply_queued()
        hosted = service.registry.named("shop")
        names = [table.name for table in (tables.learners, tables.phases, tables.sums)]
        with service._store.reading() as reading:
            before = {
                name: reading.connection.execute(sa.text(f"SELECT * FROM {name}")).all() for name in names
            }
        clock.now += HOUR + 1
        maintain(service)
        mean = service.learner("shop").mean
        assert mean is not None
        with service._store.writing() as writing:
            for table in (tables.learners, tables.phases, tables.sums):
                writing.connection.execute(sa.delete(table))
                rows = [row._asdict() for row in before[table.name]]
                writing.connection.execute(sa.insert(table), rows)
        maintain(service)
        assert hosted.stale
        with pytest.raises(StaleState):
            service.ask("shop")
        with service._store.reading() as reading:
            assert reading.heads([hosted.id])[hosted.id][1] == 0  # nothing was committed


@pytest.mark.parametrize("look", ["learner", "history"])
def test_bits_are_not_shown_before_the_guard_records_them(
    tmp_path: pathlib.Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Those of open phases are in counts; a backup from before would draw others."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service, mode="local")
        play(service, 10)

        def fail(_: str, releases: int, **__: Any) -> None:
            if releases:
                raise StoreError("the rollback guard cannot be written")

        monkeypatch.setattr(service._guard, "record", fail)
        service.maintenance.apply_queued()
        with pytest.raises(StoreError, match="guard"):
            getattr(service, look)("shop")
        monkeypatch.undo()
        getattr(service, look)("shop")
        hosted = service.registry.named("shop")
        assert service._guard.is_behind(hosted.record.lineage, 9)


def test_reports_that_left_their_sums_are_counted_once(tmp_path: pathlib.Path, clock: Clock) -> None:
    """Who has read how many there were, and then sees the state after a phase was closed, records nothing."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service, mode="local")
        play(service, 10)
        service.maintenance.apply_queued()
        hosted = service.registry.named("shop")
        assert hosted.generation == 0
        play(service, 400)
        maintain(service)
        assert hosted.generation > 0
        with service._store.reading() as reading:
            releases = hosted.releases(hosted.state, reading.applied(hosted.id))
        hosted.follow(0, None, 1000)
        assert releases == 410
        assert not service._guard.is_behind(hosted.record.lineage, releases)


def test_phases_close_in_their_order_whoever_has_told(
    tmp_path: pathlib.Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with something missing is released in its turn, in the same step."""
    orders = []
    for missing in (0, 1):
        with opened(tmp_path / f"{missing}.db", clock) as service:
            made(service, "full_information", method="blocks", epsilon=1000.0)  # of one round each
            choices = service.ask("shop", 4)
            told_of = [feedback(service, each) for each in choices[missing:]]
            assert all(outcome.accepted for outcome in service.tell("shop", told_of))
            hosted, numbers = service.registry.named("shop"), list[int]()
            close = hosted.close

            def noted(reading: Any, number: int, close: Any = close, numbers: Any = numbers) -> Any:
                numbers.append(number)
                return close(reading, number)

            monkeypatch.setattr(hosted, "close", noted)
            clock.now += HOUR + 1
            service.maintenance.apply_queued()
            orders.append(numbers)
            assert service.learner("shop").rounds == 4
    assert orders[0] == orders[1] == [0, 1, 2, 3]


def test_an_unforeseen_error_with_one_learner_does_not_stop_others(
    tmp_path: pathlib.Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its type is logged, and nothing that it says."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service)
        service.create("other", "bandit", ITEMS, {"epsilon": 1.0, "cost_range": [0, 1]})
        for name in ("shop", "other"):
            told(service, name, service.ask(name, 300), cost=0.5)
        clock.now += HOUR + 1000
        hosted = service.registry.named("shop")

        def fail(*_: Any) -> None:
            raise UnicodeDecodeError("utf-8", b"0.7310585", 0, 1, "private")

        monkeypatch.setattr(hosted.host, "apply", fail)
        maintain(service)
        assert service.learner("other").rounds > 0
        assert "failed with a UnicodeDecodeError" in caplog.text
        assert "731" not in caplog.text


def test_people_beyond_their_rounds_count_as_nothing(clock: Clock, tmp_path: pathlib.Path) -> None:
    """Their decisions are closed like others, so that the phase is complete, and add nothing to its sums."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service, rounds_per_person=2)
        choices = service.ask("shop", 20)
        assert told(service, "shop", choices, cost=1.0, person="ann") == [Code.ACCEPTED] * 20
        maintain(service)
        hosted = service.registry.named("shop")
        with service._store.reading() as reading:
            ((number, (applied, sealed)),) = reading.sums(hosted.id).items()
            plan = hosted.plan_of(reading.phases(hosted.id, [number])[number])
        sums = hosted.seals.open_sums(hosted.host, number, plan, applied, sealed).sums
        assert applied == 20
        assert sums.sum() * hosted.host.learner.query.bound.step == pytest.approx(2 * 0.5)


def test_what_learning_earns_is_shown(clock: Clock, tmp_path: pathlib.Path) -> None:
    """Against rounds held out: seed 4, rewards 0.2 higher with tea; the 95% interval has the true uplift.

    It does not have no uplift, nor three times as much.
    """
    with opened(tmp_path / "service.db", clock) as service:
        made(service, maximize=True, holdout=[["milk"], 0.25], epsilon=2.0)
        host, rng = service.registry.named("shop").host, np.random.default_rng(4)
        host._session._coins, host._session._source = BitSource(4), BitSource(5)
        for _ in range(40):
            choices = service.ask("shop", 250)
            rewards = [0.3 + 0.2 * ("tea" in c.subset) + 0.2 * rng.random() for c in choices]
            service.tell("shop", [Feedback(c.id, cost=r) for c, r in zip(choices, rewards, strict=True)])
            clock.now += HOUR + 1000
            maintain(service)
        held = service.learner("shop").holdout
        assert held is not None
        assert 0.2 < held.rounds / (held.rounds + held.learned_rounds) < 0.3
        assert held.mean == pytest.approx(0.4, abs=0.02)
        assert held.low < held.uplift < held.high
        learned = held.learned_mean - held.mean
        assert held.uplift == pytest.approx(learned)
        assert 0 < held.low < 0.2
        assert held.high < 3 * 0.2
        last = service.history("shop")[-1]
        assert (last.held_rounds, last.rounds) == (held.rounds, held.learned_rounds)
