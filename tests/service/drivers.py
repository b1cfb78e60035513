"""Clients that ask and tell until they are stopped, and remember what was acknowledged."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import Self

from discreet.client import Client, Decision, Feedback, Unreachable
from discreet.learners.host import Host
from discreet.randomizers import OneBit
from discreet.service.learner_service import LearnerService
from discreet.storage.records import How
from running_service import RunningService

EPSILON, RANGE = 1.0, (0.0, 1.0)
FUNCTION = {"kind": "Modular", "weights": [0.1, -0.2, 0.1]}


class Drivers:
    """Threads that drive the learners "shop" (own bits), "plan" (functions), "till" (costs of 1 and items).

    Args:
        service: Where.
        threads: How many.
        seed: For their costs, and for which of them are impatient when.

    Attributes:
        received: Ids of decisions of "shop" that an ask returned.
        sent: Bits that were sent, by decision.
        acknowledged: Decisions of "shop" whose tell was acknowledged.
        plans: Decisions of "plan", likewise.
        tills: Decisions of "till", likewise.
        given_up: Tells that nobody waited for to the end.
        failures: What else happened.
    """

    def __init__(self, service: RunningService, threads: int = 4, seed: int = 0) -> None:
        self._service = service
        self._randomizer = OneBit(EPSILON, RANGE)
        self.received: set[str] = set()
        self.sent: dict[str, int] = {}
        self.acknowledged: set[str] = set()
        self.plans: set[str] = set()
        self.tills: set[str] = set()
        self.given_up = 0
        self.failures: list[BaseException] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._guarded, args=(random.Random(f"{seed} {k}"),))
            for k in range(threads)
        ]

    def __enter__(self) -> Self:
        with Client(self._service.url, self._service.key) as admin:
            settings = {"epsilon": EPSILON, "cost_range": RANGE}
            items = ["tea", "milk", "rice", "salt"]
            admin.create_learner("shop", "bandit", items, mode="local", method="worst-case", **settings)
            admin.create_learner("till", "bandit", items, item_total=1.0, deadline_seconds=30, **settings)
            admin.create_learner(
                "plan", "full_information", 3, method="blocks", deadline_seconds=30, **settings
            )
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive()

    def wait(self, count: int, seconds: float = 90) -> None:
        """Until so many more tells were acknowledged."""
        goal, end = len(self.acknowledged) + count, time.monotonic() + seconds
        while len(self.acknowledged) < goal:
            assert not self.failures, self.failures
            assert time.monotonic() < end
            time.sleep(0.01)

    def _guarded(self, chance: random.Random) -> None:
        try:
            with (
                Client(self._service.url, self._service.key, deadline=90, timeout=5) as patient,
                Client(self._service.url, self._service.key, deadline=0.002, timeout=5) as impatient,
            ):
                while not self._stopping.is_set():
                    self._round(chance, patient, impatient)
        except BaseException as error:
            self.failures.append(error)

    def _round(self, chance: random.Random, patient: Client, impatient: Client) -> None:
        decisions = patient.ask("shop", 3)
        told = [Feedback(each, released=self._bit(each, chance)) for each in decisions]
        if chance.random() < 0.3:
            self._given_up(impatient, told[0])
        else:
            patient.tell("shop", told[0].decision, released=told[0].released)
            self._noted(told[:1])
        assert patient.tell_many("shop", told[1:]) == ["accepted", "accepted"]
        self._noted(told[1:])
        again = Feedback(decisions[1], released=1 - self.sent[decisions[1].id])
        assert patient.tell_many("shop", [again]) == ["accepted"]  # and changes nothing
        plan = patient.ask("plan")
        patient.tell("plan", plan, function=FUNCTION)
        tills = patient.ask("till", 4)
        told_now = [(each, 1.0, {"tea": 1.0}) for each in tills]
        assert set(patient.tell_many("till", told_now)) == {"accepted"}
        assert patient.tell_many("till", [(tills[0], 0.0)]) == ["accepted"]  # and changes nothing
        with self._lock:
            self.plans.add(plan.id)
            self.tills.update(each.id for each in tills)

    def _bit(self, decision: Decision, chance: random.Random) -> int:
        bit = self._randomizer.release(chance.random())
        with self._lock:
            self.received.add(decision.id)
            self.sent[decision.id] = bit
        return bit

    def _given_up(self, impatient: Client, told: Feedback) -> None:
        with contextlib.suppress(Unreachable):
            impatient.tell("shop", told.decision, released=told.released)
            self._noted([told])
            return
        self.given_up += 1

    def _noted(self, told: list[Feedback]) -> None:
        with self._lock:
            self.acknowledged.update(each.id for each in told)


def check_books(learner_service: LearnerService, drivers: Drivers) -> int:
    """Compare what a service holds with what drivers remember; how many tells were counted."""
    assert not drivers.failures, drivers.failures
    while learner_service.maintenance.apply_queued():
        pass
    learner_service.maintenance.refresh()
    with learner_service._store.reading() as reading:
        kept = reading.decisions(bytes.fromhex(each) for each in drivers.received)
        plans = reading.decisions(bytes.fromhex(each) for each in drivers.plans)
    told = {key for key, record in kept.items() if record.how is How.TOLD}
    shop, plan = learner_service.learner("shop"), learner_service.learner("plan")
    # Nothing that was acknowledged is missing, and nothing is there that nobody sent.
    assert {bytes.fromhex(each) for each in drivers.acknowledged} <= told
    assert len(told) == shop.counts.told == shop.counts.released == shop.rounds
    # Each ask was answered with the decisions that were made for it: none was made for nobody.
    assert shop.counts.asked == len(drivers.received)
    # The state is what these draws and these bits give, and nothing else.
    settings = learner_service.registry.named("shop").record.settings
    host = Host(settings)
    replay, _ = host.apply(
        host.start(), [kept[key].draw for key in told], [bytes([drivers.sent[key.hex()]]) for key in told]
    )
    assert learner_service.registry.named("shop").host.encode(
        learner_service.registry.named("shop").state
    ) == host.encode(replay)
    assert shop.counts.ones == sum(drivers.sent[key.hex()] for key in told)
    # The learner with secrets has counted the same, and continues.
    assert plan.status == "active"
    assert all(record.how is How.TOLD for record in plans.values())
    with learner_service._store.reading() as reading:
        waiting = reading.applied(learner_service.registry.named("plan").id)
    assert len(plans) == len(drivers.plans) == plan.counts.told == plan.rounds + waiting
    _check_till(learner_service, drivers)
    return len(told)


def _check_till(service: LearnerService, drivers: Drivers) -> None:
    """Each acknowledged cost of 1 is in one sum; those that are still open hold nothing else."""
    hosted, view = service.registry.named("till"), service.learner("till")
    with service._store.reading() as reading:
        kept = reading.decisions(bytes.fromhex(each) for each in drivers.tills)
        found = reading.sums(hosted.id)
        plans = {number: hosted.plan_of(each) for number, each in reading.phases(hosted.id, found).items()}
    assert all(record.how is How.TOLD for record in kept.values())
    sums = [hosted.seals.open_sums(hosted.host, number, plans[number], *found[number]) for number in found]
    applied, half = sum(each.applied for each in sums), hosted.host.learner.query.units
    assert sum(int(each.sums[:, 0].sum()) for each in sums) == applied * half
    assert view.status == "active"
    assert view.counts.told == view.rounds + applied >= len(kept) == len(drivers.tills)
    # A phase is released once: each of them has its place in the count.
    assert view.generation == view.releases == hosted.host.releases(hosted.state)
