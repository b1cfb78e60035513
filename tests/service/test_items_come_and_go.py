"""Items that come and go in a service: what was learned, budget and people stay; sums are released once."""

import json
import pathlib
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from service_helpers import DAY, Clock, opened, rounds, told
from sqlalchemy import text

from another_process import started
from discreet.client import Client
from discreet.errors import Archived, Busy, InvalidArgument, InvalidType, StaleState
from discreet.learners.bandit import MOST_MODELLED
from discreet.service.learner_service import LearnerService
from discreet.service.maintenance import REMEMBERED
from discreet.service.operations import Ask, Tell
from discreet.service.records import Choice, Code, Feedback
from discreet.set_functions import Modular
from running_service import RunningService

HOUR = 3_600_000
ITEMS = ["tea", "milk", "gin"]
WORTH = {"tea": 0.3, "milk": -0.2, "gin": 0.1, "soy": 0.4, "rum": -0.3}
#: Kind and arguments.
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "central": ("bandit", {}),
    "local": ("bandit", {"mode": "local"}),
    "constraints": ("bandit", {"at_most": 2, "groups": [["tea", "gin"]], "holdout": [["milk"], 0.2]}),
    "choose": ("full_information", {"method": "choose"}),
}
each = pytest.mark.parametrize("learner", LEARNERS)


def made(service: LearnerService, learner: str = "central", items: Any = ITEMS, **other: Any) -> None:
    kind, arguments = LEARNERS[learner]
    given = {"epsilon": 20.0, "cost_range": [-1, 1], "maximize": True} | arguments
    service.create("shop", kind, items, given, **other)


def feedback(service: LearnerService, choice: Choice, **other: Any) -> Feedback:
    if not service.registry.named("shop").host.whole:
        return Feedback(choice.id, cost=sum(WORTH[str(item)] for item in choice.subset), **other)
    items = service.registry.named("shop").host.items
    return Feedback(choice.id, function=Modular([WORTH[item] for item in items]), **other)


def play(service: LearnerService, clock: Clock, count: int) -> set[Any]:
    """Rounds with these worths, and whatever is due after them; the items that were shown."""
    shown: set[Any] = set()
    for _ in range(count // 50):
        choices = service.ask("shop", 50)
        shown |= {item for choice in choices for item in choice.subset}
        assert all(each.accepted for each in service.tell("shop", [feedback(service, c) for c in choices]))
        service.maintenance.apply_queued()
        clock.now += HOUR // 4
    clock.now += HOUR
    service.maintenance.expire()
    service.maintenance.apply_queued()
    return shown


@each
def test_a_good_new_item_is_found_and_a_retired_one_vanishes(
    tmp_path: pathlib.Path, clock: Clock, learner: str
) -> None:
    """From the next decision on; after a restart of the service as before, and what was learned stays."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service, learner)
        play(service, clock, 1000)
        before = service.learner("shop")
        assert "tea" in before.best
        after = service.change_items("shop", add=["soy", "rum"], retire=["tea"])
        assert (after.items, after.retired) == (("tea", "milk", "gin", "soy", "rum"), ("tea",))
        assert (after.epoch, after.rounds, after.releases) == (1, before.rounds, before.releases)
        assert "tea" not in after.best
        assert "tea" not in play(service, clock, 500)
    with opened(tmp_path / "service.db", clock) as service:
        assert "tea" not in play(service, clock, 1000)
        assert service.learner("shop").retired == ("tea",)
        assert "soy" in service.learner("shop").best
        back = service.change_items("shop", add=["tea"], retire=["rum"])
        assert back.retired == ("rum",)
        assert "rum" not in play(service, clock, 500)
        assert len(service.history("shop")[-1].point) == 5


@pytest.mark.parametrize("learner", ["central", "local"])
def test_open_decisions_of_a_bandit_count_once(address: str, clock: Clock, learner: str) -> None:
    """Those of phases that are cut short, too: in all sums is what was told, and nothing else."""
    with opened(address, clock) as service:
        made(service, learner)
        early = service.ask("shop", 30)
        assert set(told(service, "shop", early[:10], cost=0.5)) == {Code.ACCEPTED}
        service.maintenance.apply_queued()  # ten are in sums, five more are queued
        assert set(told(service, "shop", early[10:15], cost=0.5)) == {Code.ACCEPTED}
        service.change_items("shop", add=["soy"], retire=["gin"])
        late = service.ask("shop", 20)
        assert all("gin" not in choice.subset for choice in late)
        assert set(told(service, "shop", early[:20] + late, cost=0.5)) == {Code.ACCEPTED}
        assert rounds(service) == 40
        clock.now += HOUR + 1000
        service.maintenance.expire()
        service.maintenance.apply_queued()
        assert told(service, "shop", early[20:], cost=0.5) == [Code.EXPIRED] * 10
        view = service.learner("shop")
        assert (view.counts.asked, view.counts.told, view.counts.expired) == (50, 40, 10)
        assert rounds(service) == 50
        with service._store.reading() as reading:
            open_now = reading.open_phases(service.registry.named("shop").id)
        assert all(phase.dealt < phase.total for phase in open_now)


def test_the_exact_sums_of_a_phase_that_is_cut_short(tmp_path: pathlib.Path, clock: Clock) -> None:
    """With next to no noise: the mean of all rounds is that of what was told, whatever the slot."""
    with opened(tmp_path / "service.db", clock) as service:
        arguments = {"epsilon": 1000.0, "cost_range": [0, 1]}
        service.create("shop", "bandit", ITEMS, arguments)
        costs = np.random.default_rng(1).uniform(0, 1, 400)
        for start in range(0, 400, 40):
            choices = service.ask("shop", 40)
            change: dict[str, Any] = {"add": [f"new-{start}"]} if start % 80 else {"retire": ["gin"]}
            if start == 0 or start % 80:
                service.change_items("shop", **change)
            told_now = zip(choices, costs[start : start + 40], strict=True)
            service.tell("shop", [Feedback(choice.id, cost=float(cost)) for choice, cost in told_now])
            service.maintenance.apply_queued()
        service.change_items("shop", add=["gin"])  # the last phase is cut short as well
        clock.now += HOUR + 1000
        service.maintenance.apply_queued()
        view = service.learner("shop")
        assert view.rounds == 400
        assert view.mean == pytest.approx(costs.mean(), abs=1e-4)


def test_open_decisions_of_choose_are_closed(address: str, clock: Clock) -> None:
    """What was told of them is of other sets: it is never released. Sums of two offers are not mixed."""
    with opened(address, clock) as service:
        made(service, "choose")
        early = service.ask("shop", 10)
        assert all(each.accepted for each in service.tell("shop", [feedback(service, c) for c in early[:6]]))
        service.maintenance.apply_queued()
        service.tell("shop", [feedback(service, early[6])])
        released = service.learner("shop").rounds
        service.change_items("shop", add=["soy"], retire=["tea"])
        outcomes = service.tell("shop", [feedback(service, each) for each in early])
        assert [each.code for each in outcomes] == [Code.ACCEPTED] * 7 + [Code.EXPIRED] * 3
        view = service.learner("shop")
        assert (view.counts.told, view.counts.expired, view.counts.pending) == (7, 3, 0)
        assert rounds(service) == released
        for _ in range(10):
            play(service, clock, 50)
        assert service.learner("shop").best == ("gin", "soy")
        assert rounds(service) == released + 500


@each
def test_budget_and_people_are_carried_on(address: str, clock: Clock, learner: str) -> None:
    """The ledger counts one learner, and who has told before the change has used up rounds of theirs."""
    with opened(address, clock) as service:
        service.set_population("town", 20.0)
        made(service, learner, population="town")
        assert service.population("town").spent == pytest.approx(20.0)
        choices = service.ask("shop", 2)
        service.tell("shop", [feedback(service, each, person="ann") for each in choices])
        hosted = service.registry.named("shop")
        service.change_items("shop", add=["soy"], retire=["tea"])
        service.tell("shop", [feedback(service, each, person="ann") for each in service.ask("shop", 2)])
        town = service.population("town")
        assert town.spent == pytest.approx(20.0)
        assert [(each.name, each.epoch) for each in town.learners] == [("shop", 1)]
        latest = service.registry.named("shop")
        ann = latest.id, latest.seals.person("ann")
        with service._store.writing() as writing:
            assert writing.count_attempts({ann: 0}) == {ann: 4}
        assert latest.host.guarantee == hosted.host.guarantee
        assert latest.drawn is hosted.drawn  # a tell that is repeated gets the same bit


def test_the_next_epoch_has_the_same_offer(tmp_path: pathlib.Path, clock: Clock) -> None:
    with opened(tmp_path / "service.db", clock) as service:
        made(service)
        service.change_items("shop", add=["soy"], retire=["tea"])
        view = service.restart("shop")
        assert (view.epoch, view.items, view.retired) == (2, ("tea", "milk", "gin", "soy"), ("tea",))
        assert "tea" not in play(service, clock, 100)
        assert service.change_items("shop", add=["tea"]).retired == ()


def test_what_cannot_be_changed_is_refused(tmp_path: pathlib.Path, clock: Clock) -> None:
    """With the reason; nothing is changed."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service)
        before = service.learner("shop")
        refused: list[tuple[dict[str, Any], str]] = [
            ({"add": ["tea"]}, "does not offer"),
            ({"retire": ["soy"]}, "items that it offers"),
            ({"retire": ITEMS}, "needs an item"),
            ({"add": ["soy", "soy"]}, "all different"),
            ({"add": "soy"}, "iterable of items"),
            ({"add": [1.5]}, "strings or integers"),
        ]
        for change, problem in refused:
            with pytest.raises((InvalidArgument, InvalidType), match=problem):
                service.change_items("shop", **change)
        assert service.learner("shop") == before
        for method in ("worst-case", "blocks", "leader"):
            kind = "bandit" if method == "worst-case" else "full_information"
            given = {"epsilon": 1.0, "cost_range": [0, 1], "method": method}
            service.create(method, kind, ITEMS, given)
            with pytest.raises(InvalidArgument, match="cannot change its items"):
                service.change_items(method, add=["soy"])
        service.archive("shop")
        with pytest.raises(Archived):
            service.change_items("shop", add=["soy"])


def test_a_place_is_left_once_no_decision_with_it_is_remembered(tmp_path: pathlib.Path, clock: Clock) -> None:
    """What was shown keeps its names until it is forgotten."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service, items=[f"item-{k}" for k in range(MOST_MODELLED)])
        shown = [choice for choice in service.ask("shop", 20) if choice.subset]
        item = shown[0].subset[0]
        told(service, "shop", shown, cost=0.1)
        service.change_items("shop", retire=[item])
        with pytest.raises(InvalidArgument, match="no place"):
            service.change_items("shop", add=["soy"])
        for _ in range(3):
            clock.now += HOUR + 1000
            service.maintenance.expire()
            service.maintenance.apply_queued()
        clock.now += round(1000 * REMEMBERED) + DAY
        service.maintenance.compact()
        view = service.change_items("shop", add=["soy"])
        assert len(view.items) == MOST_MODELLED
        assert item not in view.items
        assert view.items[int(item.removeprefix("item-"))] == "soy"  # type: ignore[union-attr]


def test_two_processes_have_the_same_offer(postgres: str, tmp_path: pathlib.Path) -> None:
    """What one has changed the other knows at its next ask, whether it names items or not."""
    key, clock = tmp_path / "key", Clock()
    with opened(postgres, clock, key_file=key) as one, opened(postgres, clock, key_file=key) as two:
        made(one, "central")
        choices = two.ask("shop", 5) + one.ask("shop", 5)
        one.change_items("shop", add=["soy"], retire=["tea"])
        assert all("tea" not in choice.subset for choice in two.ask("shop", 50))
        two.change_items("shop", add=["rum"], retire=["gin"])
        assert {
            item for choice in one.ask("shop", 20, available=["rum", "soy"]) for item in choice.subset
        } <= {
            "rum",
            "soy",
        }
        one.change_items("shop", add=["gin"], retire=["rum"])
        two.maintenance.apply_queued()
        assert set(told(two, "shop", choices, cost=0.5)) == {Code.ACCEPTED}
        assert all("rum" not in choice.subset for choice in two.ask("shop", 5))
        assert rounds(two) == rounds(one) == 10
        for each_of in (one, two):
            each_of.maintenance.refresh()
            assert each_of.learner("shop").retired == ("tea", "rum")
        one.change_items("shop", retire=["soy"])
        assert two.change_items("shop", add=["soy"]).retired == ("tea", "rum")
        one.change_items("shop", retire=["soy"])
        assert two.archive("shop").retired == ("tea", "rum", "soy")


def test_functions_that_are_told_while_items_change_are_not_mixed(
    postgres: str, tmp_path: pathlib.Path
) -> None:
    """The costs of sets were computed by a process that did not know of the change: it tries again."""
    key, clock = tmp_path / "key", Clock()
    with opened(postgres, clock, key_file=key) as one, opened(postgres, clock, key_file=key) as two:
        made(one, "choose")
        two.ask("shop", 1)
        one.change_items("shop", add=["soy"], retire=["tea"])
        late = one.ask("shop", 4)
        outcomes = two.tell("shop", [Feedback(late[0].id, function=Modular([0.0, 0.25, 0.0, -0.25]))])
        assert outcomes[0].accepted
        # And where the other process commits a change while the costs are on their way:
        hosted = two.registry.named("shop")
        told_late = Tell.of(hosted, [feedback(two, late[1])], two._store)
        one.change_items("shop", add=["tea"], retire=["soy"])
        with pytest.raises(Busy, match="changed just now"):
            two._committer.submit(told_late).result()
        assert [each.code for each in two.tell("shop", [feedback(two, late[1])])] == [Code.EXPIRED]
        assert rounds(one) <= 1


def test_operations_of_one_transaction_have_the_same_items(
    tmp_path: pathlib.Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if they change between one of them and the next: rounds are dealt once."""
    with opened(tmp_path / "service.db", clock) as service:
        made(service, "central")
        choices = service.ask("shop", 3)
        before = service.registry.named("shop")
        service.change_items("shop", add=["soy"], retire=["tea"])
        after = service.registry.named("shop")
        assert after is not before
        known = iter([before, after, before])
        monkeypatch.setattr(service.registry, "latest", lambda _: next(known))
        operations: list[Any] = [Ask(each_of, 2, None, None) for each_of in (before, after, before)]
        for answer in service._committer._perform(operations):
            assert all("tea" not in choice.subset for choice in answer)
            choices += answer
        monkeypatch.undo()
        assert len({choice.id for choice in choices}) == 9
        assert set(told(service, "shop", choices, cost=0.5)) == {Code.ACCEPTED}
        assert rounds(service) == 9


@each
def test_a_database_restored_to_other_items_is_not_continued(address: str, learner: str) -> None:
    """A server that had it open notices with the next ask or tell, and changes nothing any more."""
    with opened(address) as service:
        made(service, learner)
        choice = service.ask("shop")[0]
        with service._store.reading() as reading:
            hosted = service.registry.named("shop")
            (old,), (generation, state) = reading.learners([hosted.id]), reading.state(hosted.id)
        service.change_items("shop", add=["soy"])
        latest = service.registry.named("shop")
        with service._store.writing() as writing:
            writing.put_settings(hosted.id, old.settings)
            restored = "UPDATE learners SET generation = :generation, state = :state, revision = 0"
            writing.connection.execute(text(restored), {"generation": generation, "state": state})
        told_late = Feedback(choice.id, function=Modular([0] * 4)) if latest.host.whole else None
        with pytest.raises(StaleState):
            service.tell("shop", [told_late or Feedback(choice.id, cost=0.5)])
        for refused in (service.ask, service.change_items):
            with pytest.raises(StaleState):
                refused("shop")
        assert service.learner("shop").status == "stale"
        with service._store.reading() as reading:
            assert reading.state(hosted.id) == (generation, state)


def test_threads_ask_and_tell_while_items_change(address: str) -> None:
    """Every decision is learned from once; a retired item is not shown to an ask that begins later."""
    failures: list[BaseException] = []
    gone = threading.Event()
    asked = [0]
    lock = threading.Lock()
    with LearnerService.open(address) as service:
        made(service, "central")

        def work() -> None:
            try:
                while not gone.is_set():
                    before = service.learner("shop").retired if not asked[0] % 7 else ()
                    choices = service.ask("shop", 3)
                    if before == service.learner("shop").retired != ():
                        assert all(set(before).isdisjoint(choice.subset) for choice in choices)
                    assert set(told(service, "shop", choices, cost=0.25)) == {Code.ACCEPTED}
                    with lock:
                        asked[0] += 3
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for k in range(12):
            change: dict[str, Any] = {"add": ["rum"]} if k == 0 else {"retire": ["rum"]}
            service.change_items("shop", **(change if k < 2 else {"add": ["rum"]} if k % 2 == 0 else change))
            while asked[0] < 30 * (k + 1) and not failures:
                gone.wait(0.01)
        gone.set()
        for thread in threads:
            thread.join()
    assert not failures, failures
    with LearnerService.open(address, maintenance=False) as service:
        assert service.learner("shop").counts.told == asked[0]
        assert rounds(service) == asked[0]


#: Changes the items of a learner again and again between asks and tells; prints what was acknowledged.
WORKER = """
import json, sys
from discreet.service.learner_service import LearnerService
from discreet.service.records import Feedback
service = LearnerService.open(sys.argv[1])
print("ready", flush=True)
while True:
    choices = service.ask("shop", 5)
    view = service.learner("shop")
    name = f"new-{len(view.items)}" if len(view.items) < 40 else None
    change = {"add": [view.retired[0]]} if view.retired and not name else {"retire": [view.items[-1]]}
    if name and not len(view.items) % 2 and view.items[-1] not in view.retired:
        change = {"retire": [view.items[-1]]}
    elif name:
        change = {"add": [name]}
    changed = service.change_items("shop", **change)
    print(json.dumps(["changed", changed.items, changed.retired]), flush=True)
    outcomes = service.tell("shop", [Feedback(c.id, cost=0.25) for c in choices])
    assert all(outcome.accepted for outcome in outcomes)
    print(json.dumps(["told", [c.id for c in choices]]), flush=True)
"""


def killed_after(process: "subprocess.Popen[str]", lines: int) -> list[Any]:
    """What a worker had printed when it was killed, shortly after so many lines."""
    assert process.stdout is not None
    printed = []
    for _ in range(lines):
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        printed.append(line)
    process.kill()
    printed += process.stdout.readlines()  # `communicate` would leave out what was read ahead
    process.communicate()
    return [json.loads(line) for line in printed if line.startswith("[") and line.rstrip().endswith("]")]


@pytest.mark.process
def test_a_change_is_whole_or_not_there(address: str) -> None:
    """A process that changes items is killed at work, again and again: offer, state and phases fit."""
    with LearnerService.open(address, maintenance=False) as service:
        made(service, "central")
    acknowledged = 0
    for lines in (2, 3, 4, 7, 10, 12):
        printed = killed_after(started(WORKER, address), lines)
        acknowledged += sum(5 for line in printed if line[0] == "told")
        offers = [line[1:] for line in printed if line[0] == "changed"]
        with LearnerService.open(address, maintenance=False) as service:
            view = service.learner("shop")
            assert view.status == "active"
            assert len(view.items) == len(view.point)
            if offers:  # one more may have been committed
                items, retired = offers[-1]
                assert list(view.items[: len(items)]) == items
                assert len(view.items) + len(view.retired) - len(items) - len(retired) in (0, 1)
            assert all(set(choice.subset).isdisjoint(view.retired) for choice in service.ask("shop", 5))
            service.change_items("shop", add=["again"] if "again" not in view.items else [f"x{lines}"])
            service.maintenance.apply_queued()
            assert service.learner("shop").counts.told >= acknowledged
            told_then = service.learner("shop").counts.told
            assert rounds(service) == told_then


def served_and_counted(service: RunningService, stop: threading.Event, failures: list[BaseException]) -> int:
    """Ask and tell until the end; how many tells were acknowledged."""
    told_ids = 0
    try:
        with Client(service.url, service.key, deadline=90, timeout=5) as client:
            while not stop.is_set():
                decisions = client.ask("shop", 3)
                assert set(client.tell_many("shop", [(each, 0.25) for each in decisions])) == {"accepted"}
                told_ids += 3
    except BaseException as error:
        failures.append(error)
    return told_ids


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("workers", [1, 2])
def test_servers_are_killed_while_items_change(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, workers: int
) -> None:
    """An acknowledged change stays; every process knows it; each acknowledged tell is counted once."""
    store = request.getfixturevalue("postgres") if workers > 1 else str(tmp_path / "service.db")
    stop, failures = threading.Event(), list[BaseException]()
    with RunningService(tmp_path, store, workers) as service, Client(service.url, service.key) as admin:
        admin.create_learner("shop", "bandit", ITEMS, epsilon=1.0, cost_range=(0, 1))
        with ThreadPoolExecutor(3) as pool:
            counted = [pool.submit(served_and_counted, service, stop, failures) for _ in range(3)]
            for k in range(12):
                name = ITEMS[k % 3]
                assert name in admin.change_items("shop", retire=[name]).retired
                shown = [decision.subset for _ in range(2 * workers) for decision in admin.ask("shop", 5)]
                assert all(name not in subset for subset in shown)
                if k % 4 == 1:
                    service.kill()
                    service.start()
                changed = admin.change_items("shop", add=[name, f"new-{k}"])
                assert changed.retired == ()
                assert changed.items == (*ITEMS, *(f"new-{j}" for j in range(k + 1)))
            stop.set()
            total = sum(each.result() for each in counted)
    assert not failures, failures
    with LearnerService.open(store, key_file=tmp_path / "service.key", maintenance=False) as reopened:
        view = reopened.learner("shop")
        assert (view.counts.told, view.epoch, view.status) == (total, 1, "active")
        assert rounds(reopened) == total
