"""The guarded clock: what it believes, and that decisions stay open while it does not."""

import contextlib
import pathlib
import time
from collections.abc import Iterator

import pytest
from service_helpers import DAY, bandit, opened

from commands import run
from discreet.service.clock import GuardedClock, confirm_clock
from discreet.service.learner_service import LearnerService
from discreet.storage import open_store
from discreet.storage.store import Store

HOUR = 3_600_000
START = 1_700_000_000_000


class Machine:
    """A clock that can be set, and an uptime that cannot."""

    def __init__(self, name: str = "machine", wall: int = START) -> None:
        self.name, self.wall, self.up = name, wall, 5_000

    def pass_(self, milliseconds: int) -> None:
        self.wall += milliseconds
        self.up += milliseconds

    def clock(self, store: Store) -> GuardedClock:
        return GuardedClock(store, lambda: self.wall, lambda: self.up, self.name)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Store]:
    where = tmp_path / "store.db" if request.param == "sqlite" else request.getfixturevalue("postgres")
    with contextlib.closing(open_store(where)) as found:
        yield found


def test_small_corrections_are_followed(store: Store) -> None:
    """However many there are: the time is that of the machine."""
    machine = Machine()
    clock = machine.clock(store)
    for _ in range(10):
        machine.pass_(60_000)
        machine.wall += HOUR // 2
        assert (clock(), clock.refresh(), clock.suspicious) == (machine.wall, True, "")


@pytest.mark.parametrize("jump", [30 * DAY, -2 * HOUR])
def test_a_jump_is_not_followed(store: Store, jump: int, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged once; time goes on without it until the clock comes back."""
    machine = Machine()
    clock = machine.clock(store)
    assert clock.refresh()
    machine.wall += jump
    for minutes in range(5):
        assert clock() == START + 60_000 * minutes
        assert not clock.refresh()
        machine.pass_(60_000)
    assert ("ahead of" if jump > 0 else "behind") in clock.suspicious
    assert caplog.text.count("hours") == 1
    machine.wall -= jump
    assert (clock(), clock.refresh(), clock.suspicious) == (machine.wall, True, "")


def test_a_jump_while_the_service_was_stopped(store: Store) -> None:
    """On the same machine it is measured, however long; on another, or after a restart, a day is believed."""
    machine = Machine()
    machine.clock(store).refresh()
    machine.pass_(40 * DAY)
    assert machine.clock(store)() == machine.wall
    machine.wall += 2 * HOUR
    assert machine.clock(store).suspicious
    for name, wall, believed in (("other", START + 20 * HOUR, True), ("other", START + 2 * DAY, False)):
        clock = Machine(name, wall).clock(store)
        assert (clock(), clock.suspicious == "") == (wall if believed else START, believed)


def test_somebody_confirms_the_clock(store: Store) -> None:
    """A running service takes it over within a minute; no other process undoes that."""
    machine, other = Machine(wall=1000 * int(time.time()) - 30 * DAY), Machine("other")
    other.wall = machine.wall
    clocks = [machine.clock(store), other.clock(store)]
    assert [clock.refresh() for clock in clocks] == [True, True]
    for each in (machine, other):
        each.wall += 30 * DAY
        each.pass_(61_000)
    assert [clock.refresh() for clock in clocks] == [False, False]
    assert confirm_clock(store) > clocks[0]() + 29 * DAY
    for each in (machine, other):
        each.pass_(61_000)
    assert [clock.refresh() for clock in clocks] == [True, True]
    assert clocks[0]() == machine.wall


def test_one_wrong_clock_among_several(store: Store) -> None:
    """Its process goes by the time of the others, and does not spoil it for them."""
    right = Machine()
    clock = right.clock(store)
    clock.refresh()
    wrong = Machine("other", START + 3 * DAY)
    suspicious = wrong.clock(store)
    for _ in range(3):
        for each in (right, wrong):
            each.pass_(61_000)
        assert not suspicious.refresh()
        assert clock.refresh()
        assert abs(suspicious() - clock()) <= 61_000  # since the others wrote
    wrong.wall = START + 20 * HOUR  # no more than a day, but nothing that happens to a running machine
    assert not suspicious.refresh()


def test_open_decisions_survive_a_clock_that_jumps(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None expires, while the service runs or at its start; `store check` tells, and `set-clock` confirms."""
    monkeypatch.delenv("DISCREET_KEY", raising=False)
    path = tmp_path / "a.db"
    real = time.time_ns
    with opened(path) as service:
        bandit(service)
        service.ask("shop", 3)
        assert service.maintenance.expire() == 0
        monkeypatch.setattr(time, "time_ns", lambda: real() + 30 * DAY * 1_000_000)
        _expect(service, 0)
    with opened(path) as service:
        _expect(service, 0)
    code, out, _ = run(capsys, "store", "check", "--store", path)
    assert (code, "720 hours ahead" in out) == (1, True)
    code, out, _ = run(capsys, "store", "set-clock", "--store", path)
    assert (code, "goes by the clock of this machine" in out) == (0, True)
    assert run(capsys, "store", "check", "--store", path)[0] == 0
    with opened(path) as service:
        _expect(service, 3)


def _expect(service: LearnerService, expired: int) -> None:
    assert service.maintenance.expire() == expired
    assert service.learner("shop").counts.expired == expired
