"""The desk on both backends: ask and tell, exactly once, caps, deadlines, archives, the ledger."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy
from desk_helpers import DAY, Clock, bandit, functions, opened, rounds, told
from scipy import stats

from discreet.errors import (
    AlreadyExists,
    Archived,
    BudgetExceeded,
    HorizonReached,
    InvalidArgument,
    StoreError,
    UnknownName,
)
from discreet.learners.detached import DetachedBandit, DetachedFunctions, detached
from discreet.randomizers import OneBit
from discreet.randomness import BitSource
from discreet.service.batch import Tell, Told
from discreet.service.desk import Desk
from discreet.service.records import Choice, Code, Feedback
from discreet.set_functions import Modular
from discreet.storage.tables import decisions


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    if request.param == "sqlite":
        return str(tmp_path / "desk.db")
    monkeypatch.setenv("DISCREET_KEY", "5a" * 32)
    monkeypatch.setenv("DISCREET_WITNESS", str(tmp_path / "witness"))
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def desk(address: str, clock: Clock) -> Iterator[Desk]:
    with opened(address, clock) as made:
        yield made


def test_asks_and_tells(desk: Desk) -> None:
    """Sets are of the learner's items, feedback is learnt from, and all is counted."""
    bandit(desk, maximize=True)
    choices = desk.ask("shop", 50)
    assert len({choice.id for choice in choices}) == 50
    assert all(set(choice.subset) <= {"tea", "milk", "rice"} for choice in choices)
    assert told(desk, "shop", choices[:40], cost=1.0) == [Code.ACCEPTED] * 40
    assert rounds(desk) == 40
    view = desk.learner("shop")
    assert (view.counts.asked, view.counts.told, view.counts.pending) == (50, 40, 10)
    assert view.counts.released == 40
    assert view.summary.mean == pytest.approx(desk.minutes("shop")[0].mean)
    assert desk.guarantee("shop").local
    assert [each.name for each in desk.learners()] == ["shop"]


def test_the_state_is_a_replay_of_draws_and_bits(desk: Desk) -> None:
    """Folded in any groups, the arrays are those of a learner that gets the same draws and bits at once."""
    bandit(desk)
    randomizer = OneBit(1.0, (0, 1))
    draws, bits = [], []
    for count in (1, 5, 30, 2):
        choices = desk.ask("shop", count)
        ids = [bytes.fromhex(choice.id) for choice in choices]
        with desk._store.reading() as reading:
            kept = reading.decisions(ids)
        made = [randomizer.release(0.2) for _ in choices]
        desk.tell("shop", [Feedback(c.id, released=bit) for c, bit in zip(choices, made, strict=True)])
        desk.housekeeping.fold()
        draws += [kept[key].draw for key in ids]
        bits += [bytes([bit]) for bit in made]
    replay = detached(desk._registry.named("shop").record.settings)
    replay.fold(draws, bits)
    assert desk._registry.named("shop").shown.state() == replay.state()


def test_telling_twice_changes_nothing(desk: Desk) -> None:
    """Whatever the second value, at once or later, in one tell or in two, the answer is the first one's."""
    bandit(desk)
    first, second = desk.ask("shop", 2)
    assert told(desk, "shop", [first, first, first], cost=0.1) == [Code.ACCEPTED] * 3
    assert rounds(desk) == 1
    state = desk._registry.named("shop").shown.state()
    for value in (0.9, None, "x", float("nan")):
        assert told(desk, "shop", [first], cost=value) == [Code.ACCEPTED]
    assert told(desk, "shop", [first], released=1) == [Code.ACCEPTED]
    assert rounds(desk) == 1
    assert desk._registry.named("shop").shown.state() == state
    assert desk.learner("shop").counts.told == 1
    assert told(desk, "shop", [second], cost=0.1) == [Code.ACCEPTED]
    assert rounds(desk) == 2


def test_ids_that_are_not_this_learners_are_told_apart(desk: Desk) -> None:
    """Unknown, another learner's, or no id at all; the rest of the tell is learnt from."""
    bandit(desk)
    bandit(desk, "other")
    mine, foreign = desk.ask("shop")[0], desk.ask("other")[0]
    ids = ["00" * 16, foreign.id, "no id", "", mine.id]
    outcomes = desk.tell("shop", [Feedback(each, cost=0.5) for each in ids])
    assert [outcome.code for outcome in outcomes] == [
        Code.UNKNOWN,
        Code.FOREIGN,
        Code.UNKNOWN,
        Code.UNKNOWN,
        Code.ACCEPTED,
    ]
    assert rounds(desk) == 1
    assert told(desk, "other", [foreign], cost=0.5) == [Code.ACCEPTED]


@pytest.mark.parametrize(
    "feedback",
    [
        {},
        {"released": 2},
        {"released": 0.7},
        {"released": True},
        {"cost": 1, "released": 1},
        {"function": {}},
        {"cost": 1, "person": 7},
    ],
)
def test_feedback_of_the_wrong_kind_is_refused(desk: Desk, feedback: dict[str, Any]) -> None:
    """And the decision stays open."""
    bandit(desk)
    choice = desk.ask("shop")[0]
    assert told(desk, "shop", [choice], **feedback) == [Code.INVALID]
    assert told(desk, "shop", [choice], cost=None) == [Code.ACCEPTED]
    assert rounds(desk) == 1


def test_an_ask_that_is_retried_gives_the_same_decisions(desk: Desk) -> None:
    """Also after they were told about; with another count it is refused."""
    bandit(desk)
    first = desk.ask("shop", 3, request_id="basket-17")
    assert desk.ask("shop", 3, request_id="basket-17") == first
    told(desk, "shop", first, cost=0.5)
    assert desk.ask("shop", 3, request_id="basket-17") == first
    assert desk.ask("shop", 3, request_id="basket-18") != first
    with pytest.raises(InvalidArgument, match="answered before"):
        desk.ask("shop", 2, request_id="basket-17")
    assert desk.learner("shop").counts.asked == 6


def test_items_can_be_switched_off(desk: Desk) -> None:
    """Sets are drawn among those that are available."""
    bandit(desk)
    for choice in desk.ask("shop", 30, available=["tea"]):
        assert set(choice.subset) <= {"tea"}
    with pytest.raises(InvalidArgument):
        desk.ask("shop", available=["coffee"])


def test_a_person_counts_as_often_as_declared(desk: Desk) -> None:
    """More is answered alike and not learnt from; others are not displaced; retries use nothing up."""
    bandit(desk, rounds_per_person=2)
    choices = desk.ask("shop", 8)
    assert told(desk, "shop", choices[:1], cost=0.1, person="anna") == [Code.ACCEPTED]
    assert told(desk, "shop", choices[:1], cost=0.1, person="anna") == [Code.ACCEPTED]
    assert told(desk, "shop", choices[1:5], cost=0.1, person="anna") == [Code.ACCEPTED] * 4
    assert rounds(desk) == 2
    assert told(desk, "shop", choices[5:6], cost=0.1, person="anna") == [Code.ACCEPTED]
    assert told(desk, "shop", choices[6:], cost=0.1, person="bert") == [Code.ACCEPTED] * 2
    assert rounds(desk) == 4
    assert desk.learner("shop").counts.pending == 0


def test_people_are_counted_for_each_learner(desk: Desk) -> None:
    """What is kept of a person differs between learners, and is no plain hash."""
    bandit(desk)
    bandit(desk, "other")
    for name in ("shop", "other"):
        assert told(desk, name, desk.ask(name, 2), cost=0.1, person="anna") == [Code.ACCEPTED] * 2
        assert rounds(desk, name) == 1
    one, two = (desk._registry.named(name).person("anna") for name in ("shop", "other"))
    assert one != two


def test_a_retried_ask_gives_no_item_that_is_gone(desk: Desk) -> None:
    """A request is answered alike while its items can be had, and refused afterwards, or at the same time."""
    bandit(desk, items=["tea"])
    choices = desk.ask("shop", 20, request_id="r")
    assert any(choice.subset for choice in choices)
    assert desk.ask("shop", 20, request_id="r", available=["tea"]) == choices
    with pytest.raises(InvalidArgument, match="other items were available"):
        desk.ask("shop", 20, request_id="r", available=[])
    both = [desk.submit_ask("shop", 20, request_id="s", available=a) for a in (["tea"], [])]
    assert len(both[0].result(20)) == 20
    with pytest.raises(InvalidArgument, match="other items were available"):
        both[1].result(20)


def test_a_clock_that_is_put_back_leaves_no_decision_open(desk: Desk, clock: Clock) -> None:
    """Decisions asked for after it was put back have their deadline too."""
    bandit(desk, deadline_seconds=60)
    clock.now += 10 * DAY
    assert desk.housekeeping.expire() == 0
    clock.now -= 10 * DAY
    desk.ask("shop", 2)
    assert desk.housekeeping.expire() == 0
    clock.now += 61_000
    assert desk.housekeeping.expire() == 2


def test_deadlines_close_decisions(desk: Desk, clock: Clock) -> None:
    """A neutral value is learnt from; what comes later is answered 'expired', again and again."""
    bandit(desk, deadline_seconds=60)
    early = desk.ask("shop", 3)
    told(desk, "shop", early[:1], cost=0.3)
    clock.now += 59_000
    late = desk.ask("shop")
    assert desk.housekeeping.expire() == 0
    clock.now += 2_000
    assert desk.housekeeping.expire() == 2
    assert desk.housekeeping.expire() == 0
    assert rounds(desk) == 3
    for _ in range(2):
        assert told(desk, "shop", early, cost=0.3) == [Code.ACCEPTED, Code.EXPIRED, Code.EXPIRED]
    assert told(desk, "shop", late, cost=0.3) == [Code.ACCEPTED]
    assert rounds(desk) == 4
    counts = desk.learner("shop").counts
    assert (counts.expired, counts.pending, counts.released) == (2, 0, 4)


def test_silence_is_folded_in_as_fair_coins(desk: Desk, clock: Clock) -> None:
    """What is learnt from at the deadline has passed the randomizer of the told ones, at the midpoint.

    Seed 10, 4,000 decisions that nobody told about, alpha = 1e-6: the counted bits fit the exact chance of
    the midpoint, and not that of a value a tenth of the range above it. The states are a replay of them.
    """
    bandit(desk, deadline_seconds=60)
    learner = desk._registry.named("shop").shown
    assert isinstance(learner, DetachedBandit)
    randomizer = learner.randomizer
    randomizer._source = BitSource(10)
    choices = [choice for _ in range(4) for choice in desk.ask("shop", 1000)]
    clock.now += 61_000
    assert desk.housekeeping.expire() == 4_000
    with desk._store.writing() as writing:
        fold = writing.fold(desk._registry.named("shop").id)
        assert fold is not None
        waiting = fold.waiting
    assert {each.decision.hex() for each in waiting} == {choice.id for choice in choices}
    draws, bits = zip(*desk._registry.named("shop")._opened(waiting), strict=True)
    assert rounds(desk) == 4_000
    counts = desk.learner("shop").counts
    assert (counts.released, counts.ones) == (4_000, b"".join(bits).count(1))

    def fits(value: float) -> bool:
        chance = randomizer.probability_of_one(randomizer.grid.of(value))
        return bool(stats.binomtest(counts.ones, counts.released, float(chance)).pvalue > 1e-6)

    assert fits(0.5)
    assert not fits(0.6)
    replay = detached(desk._registry.named("shop").record.settings)
    replay.fold(draws, bits)
    assert desk._registry.named("shop").shown.state() == replay.state()


def test_closed_decisions_are_forgotten_after_the_documented_time(desk: Desk, clock: Clock) -> None:
    """Seven days after the deadline at the latest; then they are unknown."""
    bandit(desk, deadline_seconds=DAY / 1000)
    old = desk.ask("shop", 3, request_id="r")
    told(desk, "shop", old, cost=0.1)
    desk.housekeeping.fold()
    clock.now += 7 * DAY
    assert desk.housekeeping.compact() == 0
    assert told(desk, "shop", old, cost=0.1) == [Code.ACCEPTED] * 3
    clock.now += DAY + 1
    assert desk.housekeeping.compact() == 3
    assert told(desk, "shop", old, cost=0.1) == [Code.UNKNOWN] * 3
    assert desk.ask("shop", 3, request_id="r") != old
    assert desk.learner("shop").counts.told == 3


@pytest.mark.parametrize("end", ["archive", "restart"])
def test_people_of_what_has_ended_are_forgotten(desk: Desk, end: str) -> None:
    """Nobody is counted again by that: the epoch takes no tells, and the ledger still has its epsilon."""
    desk.set_population("town", 5.0)
    bandit(desk, population="town", rounds_per_person=2)
    bandit(desk, "other", rounds_per_person=2)
    choices = {name: desk.ask(name, 4) for name in ("shop", "other")}
    kept = {name: desk._registry.named(name) for name in choices}

    def attempts(name: str) -> int:
        with desk._store.reading() as reading:
            return reading.attempts(kept[name].id, kept[name].person("anna"))

    for name in choices:
        told(desk, name, choices[name][:2], cost=0.1, person="anna")
    desk.housekeeping.compact()
    assert (attempts("shop"), attempts("other")) == (2, 2)
    getattr(desk, end)("shop")
    spent = desk.population("town").spent
    desk.housekeeping.compact()
    assert (attempts("shop"), attempts("other")) == (0, 2)
    assert desk.population("town").spent == spent == (1.0 if end == "archive" else 2.0)
    if end == "archive":
        with pytest.raises(Archived):
            told(desk, "shop", choices["shop"][2:], cost=0.1, person="anna")
    else:
        assert told(desk, "shop", choices["shop"][2:], cost=0.1, person="anna") == [Code.FOREIGN] * 2
    assert kept["shop"].shown.summary().rounds == 2
    assert told(desk, "other", choices["other"][2:], cost=0.1, person="anna") == [Code.ACCEPTED] * 2
    assert rounds(desk, "other") == 2


def test_what_happened_is_merged_with_time_and_not_lost(desk: Desk, clock: Clock) -> None:
    """To hours after a week, to days after 90: a year of minutes is a row a day."""
    functions(desk, method="tree", horizon=1000)
    for _ in range(20):
        desk.ask("plan", 2)
        clock.now += 7 * 60_000
    desk.housekeeping.compact()
    assert len(desk.minutes("plan")) == 20
    clock.now += 8 * DAY
    desk.housekeeping.compact()
    assert len(desk.minutes("plan")) == 3
    clock.now += 83 * DAY
    desk.housekeeping.compact()
    days = desk.minutes("plan")  # on both sides of midnight
    assert [day.start % DAY for day in days] == [0, 0]
    assert sum(day.counts.asked for day in days) == 40
    with pytest.raises(HorizonReached, match="960 are left"):
        desk.ask("plan", 961)


def test_archived_learners_can_be_looked_at_only(desk: Desk) -> None:
    """What was told before is learnt from; the name stays taken."""
    bandit(desk)
    choices = desk.ask("shop", 3)
    told(desk, "shop", choices[:2], cost=0.1)
    view = desk.archive("shop")
    assert (view.status, view.summary.rounds) == ("archived", 2)
    with pytest.raises(Archived):
        desk.ask("shop")
    with pytest.raises(Archived):
        desk.tell("shop", [Feedback(choices[2].id, cost=0.1)])
    with pytest.raises(AlreadyExists):
        bandit(desk)


def test_a_restart_forgets_nothing_that_was_told(desk: Desk) -> None:
    """What waits is folded in before the epoch is closed, and the next starts from there."""
    functions(desk)
    told(desk, "plan", desk.ask("plan", 40), function=Modular([0.5, -0.2, 0.1]))
    before = desk._registry.named("plan")
    fresh = desk.restart("plan")
    last = before.shown.summary()
    assert (last.rounds, fresh.summary.rounds, fresh.epoch) == (40, 0, 2)
    assert last.releases > 0
    assert fresh.summary.point == last.point


def test_the_ledger_adds_up(desk: Desk) -> None:
    """Learners on the same people share a limit; archived ones and earlier epochs stay in it."""
    desk.set_population("people", 2.5)
    bandit(desk, population="people")
    bandit(desk, "second", population="people")
    with pytest.raises(BudgetExceeded, match="may lose"):
        bandit(desk, "third", population="people")
    desk.archive("second")
    with pytest.raises(BudgetExceeded):
        desk.restart("shop")
    assert desk.learner("shop").status == "active"
    assert told(desk, "shop", desk.ask("shop"), cost=0.1) == [Code.ACCEPTED]
    view = desk.population("people")
    assert (view.spent, view.limit) == (2.0, 2.5)
    assert view.learners == (("second", 1, 1.0), ("shop", 1, 1.0))
    desk.set_population("people", 3)
    assert desk.restart("shop").epoch == 2
    assert desk.population("people").spent == 3.0
    with pytest.raises(UnknownName):
        desk.population("nobody")
    with pytest.raises(UnknownName):
        bandit(desk, "fourth", population="nobody")


def test_a_new_epoch_starts_at_the_last_point(desk: Desk) -> None:
    """Decisions of the old one are foreign, and its open feedback is gone."""
    bandit(desk)
    old = desk.ask("shop", 20)
    told(desk, "shop", old[:19], cost=0.9)
    desk.housekeeping.fold()
    point = desk.learner("shop").summary.point
    view = desk.restart("shop")
    assert (view.summary.point, view.summary.rounds, view.epoch) == (point, 0, 2)
    assert told(desk, "shop", old[19:], cost=0.9) == [Code.FOREIGN]
    assert told(desk, "shop", desk.ask("shop"), cost=0.9) == [Code.ACCEPTED]


def test_functions_are_learnt_from(desk: Desk) -> None:
    """As set functions, as JSON, as Python functions; what cannot be used counts as constant, all alike."""
    functions(desk)
    told_as: list[Any] = [
        Modular([0.1, 0.2, 0.3]),
        Modular([0.1, 0.2, 0.3]).to_dict(),
        lambda subset: 0.5 * len(subset),
        {"kind": "Modular", "weights": ["?"]},
        17.0,
        lambda subset: 1 / 0,
    ]
    choices = desk.ask("plan", len(told_as))
    outcomes = desk.tell("plan", [Feedback(c.id, function=f) for c, f in zip(choices, told_as, strict=True)])
    assert all(outcome.accepted for outcome in outcomes)
    assert rounds(desk, "plan") == 6
    assert told(desk, "plan", desk.ask("plan"), cost=0.5) == [Code.INVALID]
    assert desk.learner("plan").summary.mean is None


def test_blocks_are_released_when_they_are_full_and_not_before(desk: Desk, address: str) -> None:
    """Closing and opening the desk releases nothing; the block goes on and is released once."""
    functions(desk)
    learner = desk._registry.named("plan").shown
    assert isinstance(learner, DetachedFunctions)
    length = learner._learner.block_length
    start = desk.learner("plan").summary.point
    told(desk, "plan", desk.ask("plan", length - 1), function=Modular([0.3, -0.3, 0.1]))
    assert rounds(desk, "plan") == length - 1
    desk.close()
    with opened(address) as again:
        assert again.learner("plan").summary.point == start
        told(again, "plan", again.ask("plan"), function=Modular([0.3, -0.3, 0.1]))
        assert rounds(again, "plan") == length
        assert again._registry.named("plan").shown.releases == 1
        assert again.learner("plan").summary.point != start


def test_calls_about_many_items_are_about_few_sets(desk: Desk) -> None:
    """Asks are refused beyond 4 MiB, tells of functions beyond a million numbers, and lists are cut off."""
    bandit(desk, items=range(5000))
    functions(desk, items=5000)
    for name in ("shop", "plan"):
        with pytest.raises(InvalidArgument, match="at most 175 for a learner of 5000 items"):
            desk.ask(name, 176)
        choices = [*desk.ask(name, 175), *desk.ask(name, 25)]
        assert len(choices) == 200
    with pytest.raises(InvalidArgument, match="at most 200 pieces"):
        told(desk, "plan", [*choices, choices[0]], function=None)
    assert set(told(desk, "plan", choices[:3], function=Modular([0.0] * 5000))) == {Code.ACCEPTED}
    desk.ask("plan", 5)
    assert len(desk.recent("plan", 1000)) == 175
    bandit(desk, "few", items=range(1000))
    assert len(desk.ask("few", 1000)) == 1000


def test_long_names_make_few_sets(desk: Desk) -> None:
    """What counts is how long an answer is as JSON, escaped letters and what is besides them included."""
    bandit(desk, items=[f"{place:03d}" + "\u20ac" * 64 for place in range(100)])
    with pytest.raises(InvalidArgument, match="at most 107 for a learner of 100 items"):
        desk.ask("shop", 108)
    assert len(desk.ask("shop", 107)) == 107
    desk.ask("shop", 1)
    assert len(desk.recent("shop", 1000)) == 107


def damage(desk: Desk, choices: list[Choice]) -> None:
    """What a failing disk or a clumsy hand does to rows of decisions."""
    ids = [bytes.fromhex(choice.id) for choice in choices]
    changed = sqlalchemy.update(decisions).where(decisions.c.id.in_(ids)).values(draw=b"?")
    with desk._store.writing() as writing:
        assert writing._connection.execute(changed).rowcount == len(ids)  # type: ignore[attr-defined] # SQL


@pytest.mark.parametrize("when", ["after it was told", "before its deadline"])
def test_a_decision_damaged_later_does_not_stop_its_learner(desk: Desk, clock: Clock, when: str) -> None:
    """Feedback that waits with a draw that makes no sense is left out, and the rest is learnt from."""
    functions(desk)
    choices = desk.ask("plan", 5)
    if when == "after it was told":
        told(desk, "plan", choices, function=Modular([0.1, 0.2, 0.3]))
    damage(desk, choices[1:3])
    clock.now += 8 * DAY
    desk.housekeeping.expire()
    assert rounds(desk, "plan") == 3
    assert told(desk, "plan", desk.ask("plan", 2), function=Modular([0.1, 0.2, 0.3])) == [Code.ACCEPTED] * 2
    assert rounds(desk, "plan") == 5


def test_a_damaged_decision_does_not_fail_others(desk: Desk) -> None:
    """Those told about in the same transaction are learnt from; the damaged one is refused."""
    bandit(desk)
    sound, damaged = desk.ask("shop"), desk.ask("shop")
    damage(desk, damaged)
    kept = desk._registry.named("shop")
    tells = [Tell(kept, [Told(bytes.fromhex(c.id), b"\1", None)]) for c in (*sound, *damaged, *sound)]
    if desk._store.one_process:
        with pytest.raises(InvalidArgument, match="damaged"):
            desk._committer._perform(tells)
        answers = desk._committer._answers(tells)
        assert [answers[0], answers[2]] == [[Code.ACCEPTED], [Code.ACCEPTED]]
        assert isinstance(answers[1], InvalidArgument)
    else:
        assert desk._committer._perform(tells) == [[Code.ACCEPTED]] * 3
    assert rounds(desk) == 1


def test_a_tree_makes_as_many_decisions_as_it_was_made_for(desk: Desk) -> None:
    """More are refused, also over several asks; a new epoch can begin."""
    functions(desk, method="tree", horizon=8)
    first = desk.ask("plan", 5)
    with pytest.raises(HorizonReached, match="3 are left"):
        desk.ask("plan", 4)
    second = desk.ask("plan", 3)
    with pytest.raises(HorizonReached):
        desk.ask("plan")
    told(desk, "plan", first + second, function=Modular([0.1, 0.1, 0.1]))
    assert rounds(desk, "plan") == 8
    assert desk.restart("plan").epoch == 2
    assert len(desk.ask("plan", 8)) == 8


def test_a_learner_that_can_count_no_further_is_not_asked(desk: Desk) -> None:
    """After 2^32 rounds a decision could not be learnt from, so none is made."""
    bandit(desk)
    shown = desk._registry.named("shop").shown
    shown._core.rounds[0] = shown.horizon
    with pytest.raises(HorizonReached):
        desk.ask("shop")
    assert desk.learner("shop").counts.asked == 0


def test_everything_survives_closing(desk: Desk, address: str) -> None:
    """Open decisions, closed ones, points and counts."""
    bandit(desk)
    choices = desk.ask("shop", 10)
    told(desk, "shop", choices[:5], cost=0.2)
    desk.housekeeping.fold()
    before = desk.learner("shop")
    desk.close()
    with pytest.raises(StoreError):
        desk.ask("shop")
    with opened(address) as again:
        assert again.learner("shop") == before
        assert told(again, "shop", choices, cost=0.9) == [Code.ACCEPTED] * 10
        assert rounds(again) == 10


def test_futures_are_answered(desk: Desk) -> None:
    """The forms that do not wait give the same answers; complaints about arguments come at once."""
    bandit(desk)
    functions(desk)
    small, large = desk.submit_ask("shop", 2), desk.submit_ask("shop", 100)
    assert (len(small.result(20)), len(large.result(20))) == (2, 100)
    answers = desk.submit_tell("shop", [Feedback(c.id, cost=0.5) for c in large.result()])
    assert all(outcome.accepted for outcome in answers.result(20))
    plan = desk.submit_ask("plan").result(20)
    answers = desk.submit_tell("plan", [Feedback(plan[0].id, function=Modular([0, 0, 0.5]))])
    assert answers.result(20)[0].accepted
    with pytest.raises(UnknownName):
        desk.submit_ask("nobody", 1000)
    with pytest.raises(UnknownName):
        desk.submit_tell("nobody", [])
    with pytest.raises(InvalidArgument):
        desk.submit_ask("shop", 0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("no name!", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1]}),
        ("x", "other", 3, {"epsilon": 1.0, "cost_range": [0, 1]}),
        ("x", "bandit", 3, {"epsilon": -1.0, "cost_range": [0, 1]}),
        ("x", "bandit", 3, {"epsilon": 1e-320, "cost_range": [0, 1]}),
        ("x", "full_information", 3, {"epsilon": 1e-320, "cost_range": [0, 1]}),
        ("x", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1], "seed": 7}),
        ("x", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1], "mode": "central"}),
        ("x", "bandit", [1.5], {"epsilon": 1.0, "cost_range": [0, 1]}),
    ],
)
def test_learners_that_cannot_be_are_refused(desk: Desk, arguments: tuple[Any, ...]) -> None:
    """And leave nothing."""
    with pytest.raises(InvalidArgument):
        desk.create(*arguments)
    with pytest.raises(InvalidArgument):
        desk.create("y", "bandit", 3, {"epsilon": 1.0, "cost_range": [0, 1]}, deadline_seconds=0)
    assert desk.learners() == []


def test_arguments_are_shown_as_json(desk: Desk) -> None:
    """They came as JSON, and can be shown as such."""
    bandit(desk)
    assert json.loads(json.dumps(desk.learner("shop").arguments))["cost_range"] == [0, 1]


def test_names_that_cannot_be_kept_are_refused_at_once(desk: Desk) -> None:
    """Before they can spoil the transaction of others; and a decision has one spelling."""
    bandit(desk)
    for bad in ("\ud800", "x\0y", "", "a b"):
        with pytest.raises(InvalidArgument, match="printable ASCII"):
            desk.ask("shop", request_id=bad)
    chosen = desk.ask("shop")[0].id
    odd = [chosen.upper(), f" {chosen}", f"{chosen[:4]} {chosen[4:]}"]
    codes = [each.code for each in desk.tell("shop", [Feedback(name, cost=0.3) for name in odd])]
    assert set(codes) == {Code.UNKNOWN}
