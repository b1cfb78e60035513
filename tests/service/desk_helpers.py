"""Desks for tests: with a clock that is set by hand, on either backend."""

import pathlib
from typing import Any

from discreet.service.desk import Desk
from discreet.service.records import Choice, Code, Feedback, Outcome

DAY = 86_400_000


class Clock:
    """Milliseconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


def opened(where: object, clock: Clock | None = None, **options: Any) -> Desk:
    """A desk whose housekeeping happens when it is called."""
    return Desk.open(str(where), clock=clock, **({"housekeeping": False} | options))


def bandit(desk: Desk, name: str = "shop", items: Any = ("tea", "milk", "rice"), **other: Any) -> None:
    options = {key: other.pop(key) for key in ("population", "deadline_seconds") if key in other}
    desk.create(name, "bandit", list(items), {"epsilon": 1.0, "cost_range": [0, 1], **other}, **options)


def functions(desk: Desk, name: str = "plan", items: int = 3, **other: Any) -> None:
    desk.create(name, "full_information", items, {"epsilon": 1.0, "cost_range": [0, 1], **other})


def told(desk: Desk, name: str, choices: list[Choice], **feedback: Any) -> list[Code]:
    outcomes: list[Outcome] = desk.tell(name, [Feedback(choice.id, **feedback) for choice in choices])
    assert [outcome.decision for outcome in outcomes] == [choice.id for choice in choices]
    return [outcome.code for outcome in outcomes]


def rounds(desk: Desk, name: str = "shop") -> int:
    """How much has been learnt from, once all that waits is folded in."""
    desk.housekeeping.fold()
    return desk.learner(name).summary.rounds


def every_byte(folder: pathlib.Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
