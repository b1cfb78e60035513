"""Audits of anything that is asked and told, by asking and telling, with all that can be seen outside."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.checks import FloatArray
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed
from discreet.set_functions import SetFunction


class Sessions:
    """A learner that is asked and told round by round, in Python.

    Besides sets and points its whole outward behaviour is kept: how many decisions are open, whether `tell`
    returned or raised, what was logged, warned about or printed. A learner that behaves
    differently for different costs is found out by that, however good its noise.

    Args:
        make: From a seed (or None) to a new learner with `ask`, `tell`, `items` and `guarantee`.
        neighbours: Two sequences of set functions, one for each round, that differ in one round.
        bandit: Whether it is told numbers rather than functions.
    """

    def __init__(
        self,
        make: Callable[[Seed | None], Any],
        neighbours: tuple[Sequence[SetFunction], Sequence[SetFunction]],
        *,
        bandit: bool = True,
    ) -> None:
        self._make, self._neighbours, self._bandit = make, neighbours, bandit
        self._promise: Guarantee = make(None).guarantee

    def claim(self) -> Guarantee:
        return self._promise

    def neighbours(self) -> tuple[Sequence[SetFunction], Sequence[SetFunction]]:
        return self._neighbours

    def observe(self, data: Sequence[SetFunction], runs: int, seed: Seed | None) -> FloatArray:
        seeds = [None] * runs if seed is None else _spawned(seed, runs)
        return np.array([self._one_run(self._make(one), data) for one in seeds])

    def _one_run(self, learner: Any, data: Sequence[SetFunction]) -> list[float]:
        seen: list[float] = []
        places = {item: i for i, item in enumerate(learner.items)}
        for function in data:
            with _watched() as behaviour:
                decision = learner.ask()
                chosen = [places[item] for item in decision.subset]
                outcome = 0.0
                try:
                    learner.tell(decision, function(chosen) if self._bandit else function)
                except Exception as error:  # whatever it raises is seen by the caller
                    outcome = 1.0 + len(type(error).__name__) + len(str(error)) / 1000
            mask = np.zeros(len(places))
            mask[chosen] = 1.0
            seen += [*mask.tolist(), *np.asarray(getattr(learner, "point", ()), dtype=float).tolist()]
            seen += [outcome, float(getattr(learner, "pending", 0)), float(len(repr(learner))), *behaviour()]
        return seen


class _Records(logging.Handler):
    """Counts what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.count, self.characters = 0, 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        self.characters += len(record.getMessage())


@contextlib.contextmanager
def _watched() -> Iterator[Callable[[], list[float]]]:
    """Notice everything that is logged, warned about and printed meanwhile; none of it gets out."""
    records, printed, root = _Records(), io.StringIO(), logging.getLogger()
    before, others = root.level, root.handlers[:]
    root.handlers[:] = [records]
    root.setLevel(logging.NOTSET)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("always")
            yield lambda: [
                float(records.count),
                float(records.characters),
                float(len(caught)),
                float(len(printed.getvalue())),
            ]
    finally:
        root.handlers[:] = others
        root.setLevel(before)


def _spawned(seed: Seed, count: int) -> list[Seed | None]:
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return list(sequence.spawn(count))
