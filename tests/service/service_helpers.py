"""Services for tests: with a clock that is set by hand, on either backend."""

import pathlib
from typing import Any

from discreet.service.learner_service import LearnerService
from discreet.service.records import Choice, Code, Feedback, Outcome

DAY = 86_400_000
#: Bits that are learned from one by one.
LOCAL = {"mode": "local", "method": "worst-case"}


class Clock:
    """Milliseconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


def opened(where: object, clock: Clock | None = None, **options: Any) -> LearnerService:
    """A service whose maintenance happens when it is called."""
    return LearnerService.open(str(where), clock=clock, **({"maintenance": False} | options))


def bandit(
    service: LearnerService, name: str = "shop", items: Any = ("tea", "milk", "rice"), **other: Any
) -> None:
    """A learner that learns from every bit by itself, unless other arguments are given."""
    options = {key: other.pop(key) for key in ("population", "deadline_seconds") if key in other}
    arguments = {"epsilon": 1.0, "cost_range": [0, 1], **LOCAL, **other}
    service.create(name, "bandit", list(items), arguments, **options)


def functions(service: LearnerService, name: str = "plan", items: int = 3, **other: Any) -> None:
    """A learner of blocks, unless other arguments are given, whose decisions are open for seven days."""
    arguments = {"epsilon": 1.0, "cost_range": [0, 1], "method": "blocks", **other}
    service.create(name, "full_information", items, arguments, deadline_seconds=7 * DAY / 1000)


def told(service: LearnerService, name: str, choices: list[Choice], **feedback: Any) -> list[Code]:
    outcomes: list[Outcome] = service.tell(name, [Feedback(choice.id, **feedback) for choice in choices])
    assert [outcome.decision for outcome in outcomes] == [choice.id for choice in choices]
    return [outcome.code for outcome in outcomes]


def rounds(service: LearnerService, name: str = "shop") -> int:
    """How many reports were learned from or are in open sums, once all that waits is applied."""
    service.maintenance.apply_queued()
    with service._store.reading() as reading:
        waiting = reading.applied(service.registry.named(name).id)
    return service.learner(name).rounds + waiting


def every_byte(folder: pathlib.Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
