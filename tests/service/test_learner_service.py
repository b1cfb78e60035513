"""The service on both backends: ask and tell, exactly once, caps, deadlines, archives, the ledger."""

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy
from scipy import stats
from service_helpers import DAY, Clock, bandit, functions, opened, rounds, told

from discreet.errors import (
    Archived,
    BudgetExceeded,
    InvalidArgument,
    StoreError,
    UnknownName,
)
from discreet.learners.host import Host
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from discreet.service.learner_service import LearnerService
from discreet.service.records import Code, Feedback
from discreet.set_functions import Modular
from discreet.storage.records import Loss
from discreet.storage.tables import people


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    if request.param == "sqlite":
        return str(tmp_path / "service.db")
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_ROLLBACK_GUARD", str(tmp_path / "rollback guard"))
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def service(address: str, clock: Clock) -> Iterator[LearnerService]:
    with opened(address, clock) as made:
        yield made


def test_the_state_is_a_replay_of_draws_and_bits(service: LearnerService) -> None:
    """Applied in any groups, the arrays are those of a learner that gets the same draws and bits at once."""
    bandit(service)
    randomizer = OneBit(1.0, (0, 1))
    draws, bits = [], []
    for count in (1, 5, 30, 2):
        choices = service.ask("shop", count)
        ids = [bytes.fromhex(choice.id) for choice in choices]
        with service._store.reading() as reading:
            kept = reading.decisions(ids)
        made = [randomizer.release(0.2) for _ in choices]
        service.tell("shop", [Feedback(c.id, released=bit) for c, bit in zip(choices, made, strict=True)])
        service.maintenance.apply_queued()
        draws += [kept[key].draw for key in ids]
        bits += [bytes([bit]) for bit in made]
    host = Host(service.registry.named("shop").record.settings)
    replay, _ = host.apply(host.start(), draws, bits)
    assert service.registry.named("shop").host.encode(service.registry.named("shop").state) == host.encode(
        replay
    )


def test_telling_twice_changes_nothing(service: LearnerService) -> None:
    """Whatever the second value, at once or later, in one tell or in two, the answer is the first one's."""
    bandit(service)
    first, second = service.ask("shop", 2)
    assert told(service, "shop", [first, first, first], cost=0.1) == [Code.ACCEPTED] * 3
    assert rounds(service) == 1
    state = service.registry.named("shop").host.encode(service.registry.named("shop").state)
    for value in (0.9, None, "x", float("nan")):
        assert told(service, "shop", [first], cost=value) == [Code.ACCEPTED]
    assert told(service, "shop", [first], released=1) == [Code.ACCEPTED]
    assert rounds(service) == 1
    assert service.registry.named("shop").host.encode(service.registry.named("shop").state) == state
    assert service.learner("shop").counts.told == 1
    assert told(service, "shop", [second], cost=0.1) == [Code.ACCEPTED]
    assert rounds(service) == 2


def test_items_can_be_switched_off(service: LearnerService) -> None:
    """Sets are drawn among those that are available."""
    bandit(service)
    for choice in service.ask("shop", 30, available=["tea"]):
        assert set(choice.subset) <= {"tea"}
    with pytest.raises(InvalidArgument):
        service.ask("shop", available=["coffee"])


def test_a_person_counts_as_often_as_declared(service: LearnerService) -> None:
    """More gets the same answer and is not applied; others are not displaced; retries cost nothing."""
    bandit(service, rounds_per_person=2)
    choices = service.ask("shop", 8)
    assert told(service, "shop", choices[:1], cost=0.1, person="anna") == [Code.ACCEPTED]
    assert told(service, "shop", choices[:1], cost=0.1, person="anna") == [Code.ACCEPTED]
    assert told(service, "shop", choices[1:5], cost=0.1, person="anna") == [Code.ACCEPTED] * 4
    assert rounds(service) == 2
    assert told(service, "shop", choices[5:6], cost=0.1, person="anna") == [Code.ACCEPTED]
    assert told(service, "shop", choices[6:], cost=0.1, person="bert") == [Code.ACCEPTED] * 2
    assert rounds(service) == 4
    assert service.learner("shop").counts.pending == 0


def test_people_are_counted_for_each_learner(service: LearnerService) -> None:
    """The hash of a person differs between learners, and is keyed."""
    bandit(service)
    bandit(service, "other")
    for name in ("shop", "other"):
        assert told(service, name, service.ask(name, 2), cost=0.1, person="anna") == [Code.ACCEPTED] * 2
        assert rounds(service, name) == 1
    one, two = (service.registry.named(name).seals.person("anna") for name in ("shop", "other"))
    assert one != two


def test_a_retried_ask_gives_no_item_that_is_gone(service: LearnerService) -> None:
    """A request gets the same answer while its items are available, and is refused otherwise."""
    bandit(service, items=["tea"])
    choices = service.ask("shop", 20, request_id="r")
    assert any(choice.subset for choice in choices)
    assert service.ask("shop", 20, request_id="r", available=["tea"]) == choices
    with pytest.raises(InvalidArgument, match="other items were available"):
        service.ask("shop", 20, request_id="r", available=[])
    both = [service.submit_ask("shop", 20, request_id="s", available=a) for a in (["tea"], [])]
    assert len(both[0].result(20)) == 20
    with pytest.raises(InvalidArgument, match="other items were available"):
        both[1].result(20)


def test_a_clock_that_is_set_back_leaves_no_decision_open(service: LearnerService, clock: Clock) -> None:
    """Decisions asked for after it was put back have their deadline too."""
    bandit(service, deadline_seconds=60)
    clock.now += 10 * DAY
    assert service.maintenance.expire() == 0
    clock.now -= 10 * DAY
    service.ask("shop", 2)
    assert service.maintenance.expire() == 0
    clock.now += 61_000
    assert service.maintenance.expire() == 2


def test_deadlines_close_decisions(service: LearnerService, clock: Clock) -> None:
    """A neutral value is learned from; what comes later is answered 'expired', again and again."""
    bandit(service, deadline_seconds=60)
    early = service.ask("shop", 3)
    told(service, "shop", early[:1], cost=0.3)
    clock.now += 59_000
    late = service.ask("shop")
    assert service.maintenance.expire() == 0
    clock.now += 2_000
    assert service.maintenance.expire() == 2
    assert service.maintenance.expire() == 0
    assert rounds(service) == 3
    for _ in range(2):
        assert told(service, "shop", early, cost=0.3) == [Code.ACCEPTED, Code.EXPIRED, Code.EXPIRED]
    assert told(service, "shop", late, cost=0.3) == [Code.ACCEPTED]
    assert rounds(service) == 4
    counts = service.learner("shop").counts
    assert (counts.expired, counts.pending, counts.released) == (2, 0, 4)


def test_silence_is_applied_as_fair_coins(service: LearnerService, clock: Clock) -> None:
    """What is learned from at the deadline has passed the randomizer of the told ones, at the midpoint.

    Seed 10, 4,000 decisions that nobody told about, alpha = 1e-6: the counted bits fit the exact chance of
    the midpoint, and not that of a value a tenth of the range above it. The states are a replay of them.
    """
    bandit(service, deadline_seconds=60)
    host = service.registry.named("shop").host
    randomizer = host.randomizer
    assert randomizer is not None
    host._session._source = BitSource(10)
    choices = [choice for _ in range(4) for choice in service.ask("shop", 1000)]
    clock.now += 61_000
    assert service.maintenance.expire() == 4_000
    with service._store.writing() as writing:
        update = writing.start_update(service.registry.named("shop").id)
        assert update is not None
        waiting = update.queued
    assert {each.decision_id.hex() for each in waiting} == {choice.id for choice in choices}
    seals, draws = service.registry.named("shop").seals, [each.draw for each in waiting]
    bits = [seals.open_feedback(each.decision_id, each.payload) for each in waiting]
    assert rounds(service) == 4_000
    counts = service.learner("shop").counts
    assert (counts.released, counts.ones) == (4_000, b"".join(bits).count(1))

    def fits(value: float) -> bool:
        chance = randomizer.probability_of_one(randomizer.grid.of(value))
        return bool(stats.binomtest(counts.ones, counts.released, float(chance)).pvalue > 1e-6)

    assert fits(0.5)
    assert not fits(0.6)
    host = Host(service.registry.named("shop").record.settings)
    replay, _ = host.apply(host.start(), draws, bits)
    assert service.registry.named("shop").host.encode(service.registry.named("shop").state) == host.encode(
        replay
    )


def test_closed_decisions_are_forgotten_after_the_documented_time(
    service: LearnerService, clock: Clock
) -> None:
    """Seven days after the deadline at the latest; then they are unknown."""
    bandit(service, deadline_seconds=DAY / 1000)
    old = service.ask("shop", 3, request_id="r")
    told(service, "shop", old, cost=0.1)
    service.maintenance.apply_queued()
    clock.now += 7 * DAY
    assert service.maintenance.compact() == 0
    assert told(service, "shop", old, cost=0.1) == [Code.ACCEPTED] * 3
    clock.now += DAY + 1
    assert service.maintenance.compact() == 3
    assert told(service, "shop", old, cost=0.1) == [Code.UNKNOWN] * 3
    assert service.learner("shop").counts.told == 3
    assert told(service, "shop", service.ask("shop", 3, request_id="r"), cost=0.1) == [Code.ACCEPTED] * 3
    assert service.learner("shop").counts.told == 6


@pytest.mark.parametrize("end", ["archive", "restart"])
def test_people_of_what_has_ended_are_forgotten(service: LearnerService, end: str) -> None:
    """Nobody is counted again by that: the epoch takes no tells, and the ledger still has its epsilon."""
    service.set_population("town", 5.0)
    bandit(service, population="town", rounds_per_person=2)
    bandit(service, "other", rounds_per_person=2)
    choices = {name: service.ask(name, 4) for name in ("shop", "other")}
    hosted = {name: service.registry.named(name) for name in choices}

    def attempts(name: str) -> int:
        person = hosted[name].seals.person("anna")
        mine = (people.c.learner == hosted[name].id) & (people.c.person == person)
        with service._store.reading() as reading:
            return reading.connection.scalar(sqlalchemy.select(people.c.attempts).where(mine)) or 0

    for name in choices:
        told(service, name, choices[name][:2], cost=0.1, person="anna")
    service.maintenance.compact()
    assert (attempts("shop"), attempts("other")) == (2, 2)
    getattr(service, end)("shop")
    spent = service.population("town").spent
    service.maintenance.compact()
    assert (attempts("shop"), attempts("other")) == (0, 2)
    assert service.population("town").spent == spent == (1.0 if end == "archive" else 2.0)
    if end == "archive":
        with pytest.raises(Archived):
            told(service, "shop", choices["shop"][2:], cost=0.1, person="anna")
    else:
        assert told(service, "shop", choices["shop"][2:], cost=0.1, person="anna") == [Code.FOREIGN] * 2
    assert hosted["shop"].host.summary(hosted["shop"].state).rounds == 2
    assert told(service, "other", choices["other"][2:], cost=0.1, person="anna") == [Code.ACCEPTED] * 2
    assert rounds(service, "other") == 2


def test_a_restart_forgets_nothing_that_was_released(service: LearnerService, clock: Clock) -> None:
    """What waits is applied before the epoch is closed, and the next goes on from there."""
    functions(service)
    length = service.registry.named("plan").host.learner.policy.constants.shortest  # type: ignore[attr-defined]
    told(service, "plan", service.ask("plan", 2 * length), function=Modular([0.5, -0.2, 0.1]))
    clock.now += 8 * DAY
    service.maintenance.apply_queued()
    told(service, "plan", service.ask("plan", 3), function=Modular([0.5, -0.2, 0.1]))
    before = service.registry.named("plan")
    fresh = service.restart("plan")
    last = before.host.summary(before.state)
    assert (last.rounds, fresh.rounds, fresh.epoch) == (2 * length, 2 * length, 2)
    assert last.releases > fresh.releases == 0
    assert fresh.point == last.point


def test_the_ledger_adds_up_deltas(service: LearnerService) -> None:
    """Of local learners that have one, beside their epsilons."""
    service.set_population("people", 2.5)
    several: dict[str, Any] = {"rounds_per_person": 86, "delta": 1e-6, "population": "people"}
    bandit(service, **several)
    view = service.population("people")
    assert (view.spent, view.delta) == (1.0, 1e-6)
    assert view.learners == (Loss("shop", 1, 1.0, 1e-6),)
    bandit(service, "second", **several)
    view = service.population("people")
    assert (view.spent, view.delta) == (2.0, pytest.approx(2e-6))
    with pytest.raises(BudgetExceeded, match=r"add up to 2, and this one would add 1"):
        bandit(service, "third", mode="central", population="people")


def test_the_ledger_adds_up(service: LearnerService) -> None:
    """Learners on the same people share a limit; archived ones and earlier epochs stay in it."""
    service.set_population("people", 2.5)
    bandit(service, population="people")
    bandit(service, "second", population="people")
    with pytest.raises(BudgetExceeded, match="add up to 2, and this one would add 1"):
        bandit(service, "third", population="people")
    service.archive("second")
    with pytest.raises(BudgetExceeded):
        service.restart("shop")
    assert service.learner("shop").status == "active"
    assert told(service, "shop", service.ask("shop"), cost=0.1) == [Code.ACCEPTED]
    view = service.population("people")
    assert (view.spent, view.limit) == (2.0, 2.5)
    assert view.learners == (Loss("second", 1, 1.0), Loss("shop", 1, 1.0))
    service.set_population("people", 3)
    assert service.restart("shop").epoch == 2
    assert service.population("people").spent == 3.0
    with pytest.raises(UnknownName):
        service.population("nobody")
    with pytest.raises(UnknownName):
        bandit(service, "fourth", population="nobody")


def test_a_new_epoch_goes_on_with_what_was_learned(service: LearnerService) -> None:
    """Decisions of the old one are foreign, and its open feedback is gone."""
    bandit(service)
    old = service.ask("shop", 20)
    told(service, "shop", old[:19], cost=0.9)
    service.maintenance.apply_queued()
    before = service.learner("shop")
    view = service.restart("shop")
    assert (view.point, view.mean, view.rounds) == (before.point, before.mean, 19)
    assert (view.releases, view.epoch) == (0, 2)
    assert told(service, "shop", old[19:], cost=0.9) == [Code.FOREIGN]
    assert told(service, "shop", service.ask("shop"), cost=0.9) == [Code.ACCEPTED]


def test_blocks_are_released_when_they_are_full_and_not_before(
    service: LearnerService, clock: Clock, address: str
) -> None:
    """Closing and opening the service releases nothing; the block continues and is released once."""
    functions(service)
    length = service.registry.named("plan").host.learner.policy.constants.shortest  # type: ignore[attr-defined]
    start = service.learner("plan").point
    told(service, "plan", service.ask("plan", length - 1), function=Modular([0.3, -0.3, 0.1]))
    assert rounds(service, "plan") == length - 1
    service.close()
    with opened(address, clock) as again:
        assert again.learner("plan").point == start
        told(again, "plan", again.ask("plan"), function=Modular([0.3, -0.3, 0.1]))
        again.maintenance.apply_queued()
        assert again.learner("plan").point == start
        clock.now += 8 * DAY
        assert rounds(again, "plan") == length
        assert again.registry.named("plan").host.releases(again.registry.named("plan").state) == 1
        assert again.learner("plan").point != start


def test_calls_about_many_items_are_about_few_sets(service: LearnerService) -> None:
    """Asks are refused beyond 4 MiB, tells of functions beyond a million numbers, and lists are cut off."""
    bandit(service, items=range(5000))
    functions(service, items=5000)
    for name in ("shop", "plan"):
        with pytest.raises(InvalidArgument, match="at most 174 for a learner of 5000 items"):
            service.ask(name, 175)
        choices = [*service.ask(name, 174), *service.ask(name, 26)]
        assert len(choices) == 200
    with pytest.raises(InvalidArgument, match="at most 200 pieces"):
        told(service, "plan", [*choices, choices[0]], function=None)
    assert set(told(service, "plan", choices[:3], function=Modular([0.0] * 5000))) == {Code.ACCEPTED}
    bandit(service, "few", items=range(1000))
    assert len(service.ask("few", 1000)) == 1000


def test_long_names_make_few_sets(service: LearnerService) -> None:
    """What counts is how long an answer is as JSON, escaped letters and what is besides them included."""
    bandit(service, items=[f"{place:03d}" + "\u20ac" * 64 for place in range(100)])
    with pytest.raises(InvalidArgument, match="at most 107 for a learner of 100 items"):
        service.ask("shop", 108)
    assert len(service.ask("shop", 107)) == 107


def test_everything_survives_closing(service: LearnerService, address: str) -> None:
    """Open decisions, closed ones, points and counts."""
    bandit(service)
    choices = service.ask("shop", 10)
    told(service, "shop", choices[:5], cost=0.2)
    service.maintenance.apply_queued()
    before = service.learner("shop")
    service.close()
    with pytest.raises(StoreError):
        service.ask("shop")
    with opened(address) as again:
        assert again.learner("shop") == before
        assert told(again, "shop", choices, cost=0.9) == [Code.ACCEPTED] * 10
        assert rounds(again) == 10


def test_invalid_request_ids_are_refused(service: LearnerService) -> None:
    """Before they can spoil the transaction of others; and a decision has one spelling."""
    bandit(service)
    for bad in ("\ud800", "x\0y", "", "a b"):
        with pytest.raises(InvalidArgument, match="printable ASCII"):
            service.ask("shop", request_id=bad)
    chosen = service.ask("shop")[0].id
    odd = [chosen.upper(), f" {chosen}", f"{chosen[:4]} {chosen[4:]}"]
    codes = [each.code for each in service.tell("shop", [Feedback(name, cost=0.3) for name in odd])]
    assert set(codes) == {Code.UNKNOWN}
