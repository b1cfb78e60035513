"""Processes that share learners leave each to the one that applied its feedback last."""

import threading

import pytest
import sqlalchemy as sa
from service_helpers import Clock, bandit, opened, told

from discreet.service.learner_service import LearnerService
from discreet.service.turns import STANDSTILL, Turns
from discreet.storage.records import Moment


class Seconds:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def learned(service: LearnerService) -> int:
    service.maintenance.refresh()
    return service.learner("shop").rounds


@pytest.mark.parametrize("mode", ["local", "central"])
def test_a_process_that_is_gone_is_replaced(postgres: str, key: None, clock: Clock, mode: str) -> None:
    """Others apply what they were told, and close phases, once the process whose turn it was has stopped."""
    now = Seconds()
    arguments = {} if mode == "local" else {"mode": "central", "method": "model"}
    with opened(postgres, clock) as two:
        two.maintenance._turns = Turns(now)
        with opened(postgres, clock) as one:
            bandit(one, **arguments)
            told(one, "shop", one.ask("shop", 400), cost=0.5)
            assert one.maintenance.apply_queued(in_turn=True) == 400
            told(two, "shop", two.ask("shop", 400), cost=0.5)
            assert two.maintenance.apply_queued(in_turn=True) == 400  # nobody else is known to it
            told(one, "shop", one.ask("shop", 400), cost=0.5)
            assert one.maintenance.apply_queued(in_turn=True) == 0
            before = learned(two)
            clock.now += 3_601_000  # the deadline of phases
            assert two.maintenance.apply_queued(in_turn=True) == 400
            assert learned(one) > before
        with opened(postgres, clock) as one:
            one.maintenance._turns = Turns(now)
            told(two, "shop", two.ask("shop", 400), cost=0.5)
            before = learned(one)
            assert one.maintenance.apply_queued(in_turn=True) == 0
            now.now += STANDSTILL
            clock.now += 3_601_000
            assert one.maintenance.apply_queued(in_turn=True) == 400
            assert learned(one) > before


def test_histories_are_noted_in_one_order(postgres: str, key: None) -> None:
    """Two processes note those of the same learners at once, and neither waits for the other for ever."""
    with opened(postgres) as one, opened(postgres) as two:
        for name in ("first", "second"):
            bandit(one, name)
        for name in ("second", "first"):  # used in another order
            told(two, name, two.ask(name), cost=0.5)
        two.maintenance.apply_queued()
        first, second = (one.registry.named(name).id for name in ("first", "second"))
        moment = Moment(two._clock(), 1, 0.5, 0, 0.0, b"")
        thread = threading.Thread(target=two.maintenance.note_histories)
        with one._store.writing() as writing:
            writing.add_moment(first, moment)
            thread.start()
            waits = sa.text("SELECT exists(SELECT FROM pg_locks WHERE NOT granted)")
            while not writing.connection.scalar(waits):  # type: ignore[attr-defined] # an SQL store's
                assert thread.is_alive()
            writing.add_moment(second, moment)
        thread.join()
        assert all(two.history(name) for name in ("first", "second"))
