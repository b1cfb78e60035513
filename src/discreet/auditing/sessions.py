"""Audits of anything that is asked and told, by asking and telling, with all that can be seen outside."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.auditing.attack import seed_sequence
from discreet.checks import FloatArray
from discreet.privacy.guarantee import Guarantee
from discreet.randomness import Seed
from discreet.set_functions import SetFunction


class Sessions:
    """A learner that is asked and told round by round, in Python.

    Besides sets and points its whole outward behaviour is kept, word for word: how many decisions are open,
    what `tell` returned or raised, its printed form, what was logged, warned about or printed. A learner that
    behaves differently for different costs is found out by that, however good its noise.

    Args:
        make: From a seed (or None) to a new learner with `ask`, `tell`, `items` and `guarantee`.
        neighbours: Two sequences of set functions, one for each round, that differ in one round.
        bandit: Whether it is told numbers rather than functions.

    Examples:
        >>> from discreet import BanditLearner
        >>> from discreet.set_functions import Modular
        >>> sessions = Sessions(
        ...     lambda seed: BanditLearner(1, epsilon=1.0, cost_range=(0, 1), seed=seed),
        ...     neighbours=([Modular([1.0])], [Modular([0.0])]),
        ... )
        >>> rows = sessions.observe(sessions.neighbours()[0], runs=5, seed=1)
        >>> len(rows), sessions.claim().epsilon
        (5, 1.0)
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
        seeds = [None] * runs if seed is None else [*seed_sequence(seed).spawn(runs)]
        return np.array([self._one_run(self._make(one), data) for one in seeds])

    def _one_run(self, learner: Any, data: Sequence[SetFunction]) -> list[float]:
        seen: list[float] = []
        places = {item: i for i, item in enumerate(learner.items)}
        for function in data:
            with _watched() as behaviour:
                decision = learner.ask()
                chosen = [places[item] for item in decision.subset]
                outcome = _Text()
                try:
                    told = learner.tell(decision, self._feedback(learner, function, chosen))
                    outcome.add(repr(told))
                except Exception as error:  # whatever it raises is seen by the caller
                    outcome.add(type(error).__name__)
                    outcome.add(str(error))
            mask = np.zeros(len(places))
            mask[chosen] = 1.0
            seen += [*mask.tolist(), *np.asarray(getattr(learner, "point", ()), dtype=float).tolist()]
            shown = _Text()
            shown.add(repr(learner))
            seen += [*outcome.seen(), *shown.seen(), float(getattr(learner, "pending", 0)), *behaviour()]
        return seen

    def _feedback(self, learner: Any, function: SetFunction, chosen: list[int]) -> Any:
        """What is told; the data are costs, and a learner that maximises is told rewards."""
        sign = getattr(learner, "_sign", 1.0)
        if self._bandit:
            return sign * function(chosen)
        return function if sign > 0 else -function


class _Text:
    """Text that came out: how often, how much, and a digest by which different texts differ."""

    def __init__(self) -> None:
        self.count, self.characters, self.digest = 0, 0, 0

    def add(self, text: str) -> None:
        self.count += 1
        self.characters += len(text)
        self.digest = zlib.crc32(text.encode("utf-8", "replace"), self.digest)

    def seen(self) -> list[float]:
        return [float(self.count), float(self.characters), float(self.digest)]


@contextlib.contextmanager
def _watched() -> Iterator[Callable[[], list[float]]]:
    """Notice everything that is logged, warned about and printed meanwhile; none of it gets out."""
    logged, printed, root = _Text(), io.StringIO(), logging.getLogger()
    level, handle = root.level, logging.Logger.callHandlers
    # Every logger passes here, also those that do not hand on to others.
    setattr(logging.Logger, "callHandlers", lambda _, record: logged.add(record.getMessage()))  # noqa: B010
    root.setLevel(logging.NOTSET)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("always")

            def seen() -> list[float]:
                warned, said = _Text(), _Text()
                for each in caught:
                    warned.add(str(each.message))
                said.add(printed.getvalue())
                return [*logged.seen(), *warned.seen(), *said.seen()]

            yield seen
    finally:
        setattr(logging.Logger, "callHandlers", handle)  # noqa: B010 # mypy allows no plain assignment
        root.setLevel(level)
