"""Learners of a service that are told what each item brought, beside the cost of the set."""

import pathlib
from typing import Any

import numpy as np
import pytest
from http_helpers import service
from service_helpers import Clock, opened, rounds
from sqlalchemy import text

from discreet.errors import Busy
from discreet.service.learner_service import LearnerService
from discreet.service.operations import Tell
from discreet.service.records import Choice, Code, Feedback

HOUR = 3_600_000
ITEMS = ["tea", "milk", "rice", "jam", "gin", "rum"]
WORTH = {"tea": 0.2, "milk": -0.1, "rice": 0.15, "jam": -0.2, "gin": -0.15, "rum": 0.1, "soy": 0.3}
SETTINGS: dict[str, Any] = {
    "feedback": "bandit",
    "items": ITEMS,
    "epsilon": 30.0,
    "cost_range": [-1, 1],
    "maximize": True,
    "item_total": 1.0,
}


def made(learner_service: LearnerService, **arguments: Any) -> None:
    given = {name: SETTINGS[name] for name in ("epsilon", "cost_range", "maximize", "item_total")}
    learner_service.create("shop", "bandit", ITEMS, given | arguments)


def brought(choice: Choice) -> Feedback:
    """Each item its worth; rewards add up."""
    items = {item: WORTH[str(item)] for item in choice.subset}
    return Feedback(choice.id, cost=sum(items.values()), items=items)


def play(learner_service: LearnerService, clock: Clock, count: int) -> set[Any]:
    """Rounds with these worths, and what is due after them; the items that were shown."""
    shown: set[Any] = set()
    for _ in range(count // 20):
        choices = learner_service.ask("shop", 20)
        shown |= {item for choice in choices for item in choice.subset}
        assert all(each.accepted for each in learner_service.tell("shop", map(brought, choices)))
        learner_service.maintenance.apply_queued()
        clock.now += HOUR // 4
    clock.now += HOUR
    learner_service.maintenance.apply_queued()
    return shown


@pytest.mark.parametrize("items", [ITEMS, 6], ids=["names", "numbers"])
def test_it_learns_what_items_bring(tmp_path: pathlib.Path, clock: Clock, items: Any) -> None:
    """By their names as JSON has them, in lists and alone, with some sold out, and with a token."""
    worth = list(WORTH.values())[:6]
    names = ITEMS if items == ITEMS else list(range(6))
    with service(tmp_path / "shop.db", clock=clock) as served:
        answer = served.admin.post("/v1/learners", json=SETTINGS | {"name": "till", "items": items})
        assert answer.status_code == 201, answer.text
        for turn in range(20):
            wanted = {"available": names[:4]} if turn % 4 == 3 else {}
            decisions = served.ask("till", count=3 if wanted else 100, tokens=True, **wanted)
            told = []
            for decision in decisions:
                values = {str(item): worth[names.index(item)] for item in decision["subset"]}
                told.append({"decision": decision["id"], "cost": sum(values.values()), "items": values})
            answer = served.worker.post("/v1/learners/till/tell", json=told[1:])
            assert answer.json() == {"codes": ["accepted"] * (len(told) - 1)}
            token = {"authorization": f"Bearer {decisions[0]['token']}"}
            answer = served.nobody.post("/v1/learners/till/tell", json=told[0], headers=token)
            assert answer.json() == {"code": "accepted"}
            clock.now += HOUR + 1000
            served.learner_service.maintenance.apply_queued()
        shown = served.reader.get("/v1/learners/till").json()
    assert shown["rounds"] > 1000
    assert set(shown["best"]) == {names[0], names[2], names[5]}


def test_local_learners_are_refused_with_the_reason(tmp_path: pathlib.Path) -> None:
    with service(tmp_path / "shop.db") as served:
        answer = served.admin.post("/v1/learners", json=SETTINGS | {"name": "door", "mode": "local"})
        assert answer.status_code == 400
        assert "needs mode='central'" in answer.text
        for wrong in (0, -1, "much", [1]):
            answer = served.admin.post("/v1/learners", json=SETTINGS | {"name": "door", "item_total": wrong})
            assert answer.status_code == 400


def test_rows_are_as_long_whatever_is_told(tmp_path: pathlib.Path, clock: Clock) -> None:
    """All items, none, others, or nothing at all."""
    given: list[dict[str, Any]] = [
        {"cost": 0.5},
        {"cost": 0.5, "items": {}},
        {"cost": None, "items": None},
        {"cost": 0.5, "items": dict.fromkeys(ITEMS, 0.25)},
        {"cost": 0.5, "items": {f"unknown-{k}": "x" * 1000 for k in range(100)}},
        {"cost": 0.5, "items": [0.25] * 50},
    ]
    with opened(tmp_path / "shop.db", clock) as learner_service:
        made(learner_service)
        choices = learner_service.ask("shop", len(given) + 1)
        pieces = [Feedback(each.id, **told) for each, told in zip(choices, given, strict=False)]
        assert all(each.accepted for each in learner_service.tell("shop", pieces))
        clock.now += HOUR + 1000
        assert learner_service.maintenance.expire() == 1
        with learner_service._store.reading() as reading:
            lengths = reading.connection.execute(text("SELECT length(payload) FROM feedback")).scalars().all()
        assert len(lengths) == len(choices)
        assert len(set(lengths)) == 1


def sums_of(learner_service: LearnerService) -> np.ndarray[Any, Any]:
    """What is in open sums, all slots together."""
    hosted = learner_service.registry.named("shop")
    with learner_service._store.reading() as reading:
        found = reading.sums(hosted.id)
        phases = reading.phases(hosted.id, found)
    opened_sums = [
        hosted.seals.open_sums(hosted.host, number, hosted.plan_of(phases[number]), *found[number]).sums
        for number in found
    ]
    return np.sum([each.sum(axis=0) for each in opened_sums], axis=0)


def test_what_is_missing_or_late_counts_as_nothing(tmp_path: pathlib.Path, clock: Clock) -> None:
    """In sums is what was told in time, of items that were shown: exactly."""
    with opened(tmp_path / "shop.db", clock) as learner_service:
        made(learner_service)
        choices = learner_service.ask("shop", 8)
        everything = dict.fromkeys([*ITEMS, "soy"], 0.1)
        pieces = [Feedback(each.id, cost=0.5, items=everything) for each in choices]
        learner_service.tell("shop", pieces[:4])
        clock.now += HOUR + 1000
        assert learner_service.maintenance.expire() == 4
        codes = [each.code for each in learner_service.tell("shop", pieces)]
        assert codes == [Code.ACCEPTED] * 4 + [Code.EXPIRED] * 4
        assert rounds(learner_service) == 8
        query = learner_service.registry.named("shop").host.learner.query
        sums = -sums_of(learner_service)  # rewards
    unit = query.total / query.most  # type: ignore[union-attr]
    times = [sum(item in choice.subset for choice in choices[:4]) for item in ITEMS]
    np.testing.assert_allclose(sums[1:] * unit, 0.1 * np.array(times), atol=8 * unit)
    np.testing.assert_allclose(sums[0] * query.bound.step, 4 * 0.5, atol=8 * query.bound.step)


def test_other_items_close_what_is_open(tmp_path: pathlib.Path, clock: Clock) -> None:
    """Reports have a number for each item: open ones are of others, and what is not released is dropped."""
    path = tmp_path / "shop.db"
    with opened(path, clock) as learner_service:
        made(learner_service)
        play(learner_service, clock, 800)
        early = learner_service.ask("shop", 10)
        learner_service.tell("shop", map(brought, early[:5]))
        learner_service.maintenance.apply_queued()
        learner_service.tell("shop", [brought(early[5])])
        released = learner_service.learner("shop").rounds
        view = learner_service.change_items("shop", add=["soy"], retire=["tea"])
        assert (view.rounds, view.counts.pending) == (released, 0)
        assert set(view.best) - {"soy"} == {"rice", "rum"}
        codes = [each.code for each in learner_service.tell("shop", map(brought, early))]
        assert codes == [Code.ACCEPTED] * 6 + [Code.EXPIRED] * 4
        assert rounds(learner_service) == released
        assert "tea" not in play(learner_service, clock, 400)
    with opened(path, clock) as learner_service:
        assert "tea" not in play(learner_service, clock, 400)
        assert set(learner_service.learner("shop").best) == {"rice", "rum", "soy"}
        open_now = learner_service.ask("shop", 1)
        learner_service.change_items("shop", retire=["rum"])  # as many numbers as before
        assert learner_service.tell("shop", map(brought, open_now))[0].code is Code.ACCEPTED
        assert rounds(learner_service) == released + 801


def test_items_that_are_told_while_they_change_are_not_mixed(postgres: str, tmp_path: pathlib.Path) -> None:
    """A process that did not know of the change has put the numbers in their order: it tries again."""
    key, clock = tmp_path / "key", Clock()
    with opened(postgres, clock, key_file=key) as one, opened(postgres, clock, key_file=key) as two:
        made(one)
        two.ask("shop", 1)
        hosted = two.registry.named("shop")
        one.change_items("shop", add=["soy"])
        choices = one.ask("shop", 2)
        with pytest.raises(Busy, match="changed just now"):
            two._committer.submit(Tell.of(hosted, [brought(choices[0])], two._store)).result()
        assert [each.code for each in two.tell("shop", map(brought, choices))] == [Code.ACCEPTED] * 2
        assert rounds(one) == 2
